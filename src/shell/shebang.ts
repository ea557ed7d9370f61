import { basename } from 'node:path';
import { readStart } from '../util/guardedRead.js';

/** Bytes of a first line that Linux reads. */
const MAX_SHEBANG = 255;

/**
 * The first line of a program, as the words with which Linux starts it: all that follows the interpreter is one word,
 * which `env -S` splits.
 *
 * @returns `undefined` for a program without `#!`, and no words for a line that is too long
 * @throws the system's error, where it cannot be read
 */
export function readShebang(file: string): readonly string[] | undefined {
  const start = readStart(file, MAX_SHEBANG + 1);
  if (start.toString('latin1', 0, 2) !== '#!') return undefined;
  const end = start.indexOf('\n');
  if (end < 0 && start.length > MAX_SHEBANG) return [];
  return splitShebang(start.toString('utf8', 2, end < 0 ? undefined : end));
}

function splitShebang(line: string): string[] {
  const [, program = '', rest = ''] = /^[ \t]*([^ \t]*)[ \t]*([^]*?)[ \t]*$/u.exec(line) ?? [];
  const split = /^-S[ \t]*([\w./= \t-]+)$/u.exec(rest);
  if (basename(program) === 'env' && split) {
    return [program, ...(split[1] ?? '').trim().split(/[ \t]+/u)];
  }
  return rest === '' ? [program] : [program, rest];
}
