/** Length to which a text of a hook is cut, in characters. */
export const MAX_HOOK_TEXT = 10_000;

/** Control characters other than newline and tab, and those that change the direction of the text around them. */
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const ESCAPE_SEQUENCE =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/gu;

/** How the hook system marks what it says itself to the model, see `asSystemNote` and `asHookContext`. */
const BLANK = String.raw`(?:(?![\n\r\u2028\u2029])[\s\p{Cf}])*`;
// One class without the ends of lines: alternatives that overlap, or blanks that begin lines, would take for ever.
const FORGED_MARK = new RegExp(
  String.raw`^${BLANK}(?:\[system\]${BLANK})+|<\/?hook_context\b[^>\n]*>?`,
  'gimu',
);

/**
 * Makes text of a hook fit to be read by a model or shown on a terminal: control characters other than newline
 * and tab are removed, those of the direction of text too, terminal escape sequences as a whole, and the marks by
 * which a model knows the hook system's own notes; what is longer than 10,000 characters is cut with a visible mark.
 */
export function sanitizeText(text: string): string {
  // What is left of a text may be a mark again.
  const clean = quoteMarks(replaceMarks(removeControls(text), ''));
  if (clean.length <= MAX_HOOK_TEXT) return clean;
  // A cut must not leave half of a character.
  const kept = clean.slice(0, MAX_HOOK_TEXT).replace(/[\ud800-\udbff]$/, '');
  return `${kept}\n[… ${clean.length - MAX_HOOK_TEXT} more characters cut]`;
}

// Outside of the function, which every result of a tool passes: a tagged template takes longer than all the rest.
const BEHIND_BACKSLASH = String.raw`\$&`;

/** Text that is no hook's, such as a file's that a tool has read: forged marks stay readable, behind a backslash. */
export function quoteMarks(text: string): string {
  return replaceMarks(text, BEHIND_BACKSLASH);
}

/** The characters are looked for first: most texts have none of them, and the expression is slow to get going. */
function replaceMarks(text: string, replacement: string): string {
  const mayHaveMarks = text.includes('[') || text.includes('<');
  return mayHaveMarks ? text.replace(FORGED_MARK, replacement) : text;
}

/** The first character that {@link removeControls} would remove, if any. The end of a line may be `\r\n`. */
export function findControl(text: string): string | undefined {
  return text.replaceAll('\r\n', '\n').match(CONTROL)?.[0];
}

/**
 * Removes control characters other than newline and tab, those of the direction of text too, and terminal escape
 * sequences as a whole.
 */
export function removeControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(ESCAPE_SEQUENCE, '').replace(CONTROL, '');
}
