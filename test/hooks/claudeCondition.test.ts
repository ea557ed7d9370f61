import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { readClaudeCondition } from '../../src/hooks/claudeCondition.js';
import { compileWhen } from '../../src/rules/conditions.js';
import { runs } from '../properties/arbitraries.js';

const OTHER_TOOLS = ['!Bash', '!Grep', '!Glob', '!LS', '!mcp__*'];

// There, a `*` in the rule of a command is any text, also over several words.
it.each<[string, readonly string[]]>([
  ['Bash(git push *)', ['Bash(git push *)']],
  ['Bash(git:*)', ['Bash(git *)']],
  ['Bash(npm run test:*)', ['Bash(npm run test *)']],
  ['Bash(*)', ['Bash(*)']],
  ['Bash(git commit*)', ['Bash(git commit* *)']],
  ['Bash(*hygiene.py*)', ['Bash(* *hygiene.py* *)']],
  ['Bash(*--force)', ['Bash(* *--force)']],
  ['Bash(git -C*push)', ['Bash(git -C*push)', 'Bash(git -C* * *push)']],
  [
    'Bash(a*b c*d)',
    ['Bash(a*b c*d)', 'Bash(a*b c* * *d)', 'Bash(a* * *b c*d)', 'Bash(a* * *b c* * *d)'],
  ],
  ['Bash(git  push\torigin)', ['Bash(git push origin)']],
  [' Bash(ls *) ', ['Bash(ls *)']],
  ['PowerShell(rm *)', ['Bash(rm *)']],
  ['Bash', ['Bash']],
  ['Edit', ['Edit']],
  ['Edit(*.ts)', ['Edit(*.ts)', ...OTHER_TOOLS]],
  ['Read(src/**/*.env*)', ['Read(src/**/*.env*)', ...OTHER_TOOLS]],
  ['WebFetch(domain:example.com)', ['WebFetch(domain:example.com)', ...OTHER_TOOLS]],
  ['mcp__github__*', ['mcp__github__*']],
])('%s is read as %j', (rule, patterns) => {
  expect(readClaudeCondition(rule)).toEqual(patterns);
});

it('a rule that would become too many patterns is not read', () => {
  expect(readClaudeCondition('Bash(a*b*c*d*e)')).toHaveLength(16);
  expect(readClaudeCondition('Bash(a*b*c*d*e*f)')).toBeUndefined();
});

/** Whether a rule for commands matches one there: as a text, in which `*` is any text, and ` *` at the end may be nothing. */
function matchesThere(rule: string, command: string): boolean {
  const text = rule.replace(/:\*$/u, ' *');
  const expression = text
    .replaceAll(/[.+?^${}()|[\]\\]/gu, String.raw`\$&`)
    .replace(/ \*$/u, '(?: .*)?')
    .replaceAll(/(?<!\.)\*/gu, '.*');
  return new RegExp(`^${expression}$`, 'u').test(command);
}

it('finds all that is found there', () => {
  const place = { cwd: '/', project: '/' };
  const word = fc.stringMatching(/^[ab*-]{1,3}$/u);
  const given = fc.stringMatching(/^[ab-]{1,3}$/u);
  const lists = fc.tuple(
    fc.array(word, { minLength: 1, maxLength: 3 }),
    fc.array(given, { minLength: 1, maxLength: 4 }),
  );
  let found = 0;
  fc.assert(
    fc.property(lists, fc.boolean(), ([pattern, words], isOlder) => {
      const rule = `${pattern.join(' ')}${isOlder ? ':*' : ''}`;
      const command = words.join(' ');
      if (!matchesThere(rule, command)) return;
      const when = readClaudeCondition(`Bash(${rule})`);
      if (!when) return;
      found += 1;
      const call = { tool: 'run_shell_command', input: { command }, ...place };
      expect(compileWhen(when).find(call, true)).toBeDefined();
    }),
    runs(2000),
  );
  expect(found).toBeGreaterThan(0);
});
