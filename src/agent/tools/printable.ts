import { inspect } from 'node:util';

/**
 * Text as it is, or quoted and escaped where it holds control characters, so that a name can neither forge
 * lines of a result nor drive a terminal.
 */
export function printable(text: string): string {
  return /\p{Cc}/u.test(text) ? quote(text) : text;
}

/** Text in quotes, on one line, with control characters escaped. */
export function quote(text: string): string {
  return inspect(text, { breakLength: Infinity });
}

/** The first `max` lines, and where there are more a last line that says how many were left out. */
export function capLines(lines: readonly string[], max: number): readonly string[] {
  if (lines.length <= max) return lines;
  return [...lines.slice(0, max), `[${lines.length - max} more not shown; narrow the request]`];
}
