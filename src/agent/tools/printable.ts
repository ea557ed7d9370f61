import { inspect } from 'node:util';

/** Escapes control characters: a name must neither forge lines of a result nor drive a terminal. */
export function printable(text: string): string {
  return /\p{Cc}/u.test(text) ? quote(text) : text;
}

/** On one line, with control characters escaped. */
export function quote(text: string): string {
  return inspect(text, { breakLength: Infinity });
}

export function capLines(lines: readonly string[], max: number): readonly string[] {
  if (lines.length <= max) return lines;
  return [...lines.slice(0, max), `[${lines.length - max} more not shown; narrow the request]`];
}
