/** Length to which a text of a hook is cut, in characters. */
export const MAX_HOOK_TEXT = 10_000;

/** How long a text of a hook may be, and what becomes of a longer one. */
export interface TextBound {
  /** Characters. */
  readonly max: number;
  /** Gives what takes the place of a longer text. Without it, and where it gives nothing, the text is cut. */
  readonly shorten?: (text: string) => string | undefined;
}

/** Control characters other than newline and tab, and those that change the direction of the text around them. */
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
// Without the flag `u`: with it, a repeated class overflows the stack of expressions on a long text.
const ESCAPE_SEQUENCE =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])|\u009b[0-?]+[ -/]*[@-~]/g;

/** Unicode has two more of its own, which hide what is behind them from whoever looks for lines. */
const END_OF_LINE = /\r\n|[\u2028\u2029]/g;

/** Most texts have none, which takes a tenth of the time to see. */
const ANY_OF_THEM =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/** How the hook system marks what it says itself to the model, see `asSystemNote` and `asHookContext`. */
const MARK = /\[system\]|<\/?hook_context/iu;
const NOTE = /\[system\]/iuy;
// As `k` is matched with `i` and `u`: the second one is the sign of kelvins.
const TAG = /<\/?hoo[k\u212a]_context\b[^>\n]*>?/gi;
const LINE = /[^\n\r\u2028\u2029]+/g;
const NOT_BLANK = /[^\s\p{Cf}]/gu;

/**
 * Makes text of a hook fit to be read by a model or shown on a terminal: control characters other than newline
 * and tab are removed, those of the direction of text too, terminal escape sequences as a whole, and the marks by
 * which a model knows the hook system's own notes; what is longer than 10,000 characters is cut with a visible mark.
 *
 * @param bound another length, for a text that is more than a note; or another bound, as settings have it
 */
export function sanitizeText(text: string, bound: number | TextBound = MAX_HOOK_TEXT): string {
  const unmarked = replaceMarks(removeControls(text), () => '');
  // What is left of a text may be a mark again.
  const clean = replaceMarks(unmarked, (mark) => `\\${mark}`);
  if (typeof bound === 'number') return cutText(clean, bound);
  const isLong = clean.length > bound.max;
  return (isLong && bound.shorten?.(clean)) || cutText(clean, bound.max);
}

/** A text that is at most so long, or else has a visible mark in place of the rest. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // A cut must not leave half of a character.
  const kept = text.slice(0, limit).replace(/[\ud800-\udbff]$/, '');
  return `${kept}\n[… ${text.length - kept.length} more characters cut]`;
}

function replaceMarks(text: string, replace: (mark: string) => string): string {
  // Most texts have none. The characters are looked for first, which is much faster.
  const mayHaveMarks = text.includes('[') || text.includes('<');
  if (!mayHaveMarks || !MARK.test(text)) return text;
  const withoutNotes = text.replace(LINE, (line) => {
    const end = endOfNotes(line);
    return end === 0 ? line : replace(line.slice(0, end)) + line.slice(end);
  });
  return withoutNotes.replace(TAG, replace);
}

/** Where the notes end that a line begins with, with the blanks around them; 0 where there is none. */
function endOfNotes(line: string): number {
  let end = 0;
  for (;;) {
    NOT_BLANK.lastIndex = end;
    const start = NOT_BLANK.exec(line)?.index ?? line.length;
    NOTE.lastIndex = start;
    if (!NOTE.test(line)) return end === 0 ? 0 : start;
    end = NOTE.lastIndex;
  }
}

/** The first character that {@link removeControls} would remove, if any. The end of a line may be `\r\n`. */
export function findControl(text: string): string | undefined {
  return text.replaceAll('\r\n', '\n').match(CONTROL)?.[0];
}

/**
 * Removes control characters other than newline and tab, those of the direction of text too, and terminal escape
 * sequences as a whole. All ends of lines become newlines.
 */
export function removeControls(text: string): string {
  if (!ANY_OF_THEM.test(text)) return text;
  return text.replace(END_OF_LINE, '\n').replace(ESCAPE_SEQUENCE, '').replace(CONTROL, '');
}
