/** Length to which a text of a hook is cut, in characters. */
export const MAX_HOOK_TEXT = 10_000;

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu;
const ESCAPE_SEQUENCE =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/gu;

/** How the hook system marks its own notes for the model, see `asSystemNote`. */
const FORGED_MARK = /^[ \t]*(?:\[system\][ \t]*)+/gimu;

/**
 * Makes text of a hook fit to be read by a model or shown on a terminal: control characters other than newline
 * and tab are removed, terminal escape sequences as a whole, a line does not begin with the mark of the hook
 * system's own notes, and what is longer than 10,000 characters is cut with a visible mark.
 */
export function sanitizeText(text: string): string {
  const clean = removeControls(text).replace(FORGED_MARK, '');
  if (clean.length <= MAX_HOOK_TEXT) return clean;
  // A cut must not leave half of a character.
  const kept = clean.slice(0, MAX_HOOK_TEXT).replace(/[\ud800-\udbff]$/, '');
  return `${kept}\n[… ${clean.length - MAX_HOOK_TEXT} more characters cut]`;
}

/** Removes control characters other than newline and tab, and terminal escape sequences as a whole. */
export function removeControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(ESCAPE_SEQUENCE, '').replace(CONTROL, '');
}
