import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';

/** Bytes of a first line that Linux reads. */
const MAX_SHEBANG = 255;

/**
 * The first line of a program, as the words that Linux starts it with: all that follows the interpreter is one word,
 * which `env -S` splits.
 *
 * @returns `undefined` for a program without `#!`, and no words for a line that is too long
 * @throws the system's error, where it cannot be read
 */
export function readShebang(file: string): readonly string[] | undefined {
  const buffer = Buffer.alloc(MAX_SHEBANG + 1);
  const descriptor = openSync(file, 'r');
  try {
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    const head = buffer.toString('latin1', 0, length);
    if (!head.startsWith('#!')) return undefined;
    const end = head.indexOf('\n');
    if (end < 0 && length > MAX_SHEBANG) return [];
    return splitShebang(head.slice(2, end < 0 ? undefined : end));
  } finally {
    closeSync(descriptor);
  }
}

function splitShebang(line: string): string[] {
  const [, program = '', rest = ''] = /^[ \t]*([^ \t]*)[ \t]*([^]*?)[ \t]*$/u.exec(line) ?? [];
  const split = /^-S[ \t]*([\w./= \t-]+)$/u.exec(rest);
  if (basename(program) === 'env' && split) {
    return [program, ...(split[1] ?? '').trim().split(/[ \t]+/u)];
  }
  return rest === '' ? [program] : [program, rest];
}
