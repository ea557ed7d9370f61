/** A text as one word of a shell command that the user is shown: a directory may be called `$(rm -rf ~)`. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same, without quotes where none are needed. */
export function asWord(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : quoteWord(text);
}
