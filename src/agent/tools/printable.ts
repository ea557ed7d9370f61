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
