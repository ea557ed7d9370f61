/** A character that a message cannot show as it is, such as `U+202E`. */
export function unicodeName(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
}
