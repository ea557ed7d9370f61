import { isDeepStrictEqual } from 'node:util';
import type { ApprovalRequest } from '../../protocol/approval.js';
import { diffValues } from '../../trace/diff.js';
import { paint, toVisible } from '../shared/terminal.js';

/** More lines, or longer ones, are cut, and it is said how much. */
const MAX_LINES = 60;
const MAX_WIDTH = 2000;

/** A question as a person reads it. What hooks and the model have written stands behind `| `, and nothing else does. */
export function formatQuestion(request: ApprovalRequest): string {
  const { event, hooks, toolName, input, originalInput, workingDir } = request;
  const isChanged = !isDeepStrictEqual(input, originalInput);
  return [
    paint('bold', `Hooks ask you before ${toolName === undefined ? event : 'this tool runs'}.`),
    ...hooks.flatMap(({ name, source, reason }) => [
      `hook (${toVisible(source)}):`,
      ...quote(name),
      ...(reason === undefined ? [] : ['which says:', ...quote(reason)]),
    ]),
    ...(toolName === undefined ? [] : ['tool:', ...quote(toolName)]),
    'input:',
    ...quote(JSON.stringify(input, null, 2)),
    ...(isChanged
      ? ['changed by hooks:', ...quote(diffValues('input', originalInput, input).join('\n'))]
      : []),
    'in:',
    ...quote(workingDir),
  ].join('\n');
}

function quote(text: string): string[] {
  const lines = text.split('\n');
  const shown = lines.slice(0, MAX_LINES).map((line) => `  | ${cut(markLookalikes(line))}`);
  const left = lines.length - shown.length;
  return left === 0 ? shown : [...shown, paint('yellow', `  (${left} more lines are not shown)`)];
}

function cut(line: string): string {
  const visible = toVisible(line);
  if (visible.length <= MAX_WIDTH) return visible;
  const left = visible.length - MAX_WIDTH;
  return `${visible.slice(0, MAX_WIDTH)}… ${paint('yellow', `(${left} more characters are not shown)`)}`;
}

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const LATIN = /[\p{Script=Latin}]/u;
/** Letters of other alphabets, of which many look like Latin ones. */
const OTHER = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/gu;

/** A word of two alphabets is there to be taken for another one: its foreign letters become escapes. */
export function markLookalikes(text: string): string {
  return text.replaceAll(WORD, (word) =>
    LATIN.test(word) ? word.replaceAll(OTHER, escapeLetter) : word,
  );
}

function escapeLetter(letter: string): string {
  return `\\u{${letter.codePointAt(0)?.toString(16) ?? ''}}`;
}
