import { expect, it } from 'vitest';
import { expandCommand } from '../../src/shell/expandCommand.js';
import { whyUnclear } from '../../src/trust/unclearCommand.js';

const why = (command: string) => whyUnclear(expandCommand(command), 'project');

it.each([
  ['a.sh | b', 'has a pipe: put the line into a script in .llxprt/hooks, and start that'],
  ['cd x && ./a.sh', 'has "&&": put the line into'],
  ['a.sh; b', 'has ";": '],
  ['a.sh &', 'has "&": '],
  ['a.sh || true', 'has "||": '],
  ['a.sh\nb.sh', 'has several lines: '],
  ['a.sh 2>/dev/null', 'has a redirection (2>/dev/null): '],
  ['a.sh 2>&1 | b', 'has a redirection (2>&1): '],
  ['bash .llxprt/hooks/a.sh # guards', 'has a comment: '],
  ['bash .llxprt/hooks/a.sh "$1"', 'expands "$1": '],
  ['bash "$HOME"/a.sh', 'expands "$HOME": '],
  ['bash ${X}/a.sh', 'expands "${X}": '],
  ['bash "$(pwd)/a.sh"', 'expands "$(": '],
  ['bash .llxprt/hooks/*.sh', 'expands "*": '],
  ['bash .llxprt/hooks/{a,b}.sh', 'expands "{a,b}.sh": '],
  ['X=1 a.sh', 'sets the variable X: put it into "env" and call it HOOK_X, or put the line into'],
  ['eval "a b"', 'begins with eval, which is a part of the shell: '],
  ["jq '.a | .b' '*' x > y", 'has a redirection (> y): '],
  ['bash "$CLAUDE_PROJECT_DIR"/x "a | b" && c', 'has "&&": '],
  ['\\a', 'is a line of which only the shell knows what it starts: '],
])('%s: %s', (command, reason) => {
  expect(why(command)).toContain(reason);
});

it.each(['"\\', ' ', '1', '$', '[', "'"])('is told soon of many of %j', (part) => {
  const startedAt = performance.now();
  why(part.repeat(65_536 / part.length));
  expect(performance.now() - startedAt).toBeLessThan(500);
});
