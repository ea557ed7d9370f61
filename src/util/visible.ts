/** Characters without a shape, among them some letters and marks: code can be hidden in them. U+2800 is the blank of Braille. */
export const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u{2800}]/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
};

/** The whole text on one line, with escapes: whoever judges a command must see all that the shell will run. */
export function toVisible(text: string): string {
  return text.replaceAll(INVISIBLE, escapeCharacter);
}

/** As `toVisible`, with something else in place of each escape. */
export function markInvisible(
  text: string,
  mark: (escape: string, character: string) => string,
): string {
  return text.replaceAll(INVISIBLE, (character) => mark(escapeCharacter(character), character));
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code > 0xffff) return `\\u{${hex}}`;
  const long = code > 0xff ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`;
  return SHORT_ESCAPES[character] ?? long;
}
