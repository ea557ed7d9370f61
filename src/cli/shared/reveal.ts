import { markInvisible } from '../../util/visible.js';

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const LETTER = /\p{L}/gu;
const LATIN = /\p{Script=Latin}/u;
/** Letters of other alphabets and of phonetic script, of which many look like Latin ones. */
const OTHER =
  /[\u{250}-\u{2af}\u{1d00}-\u{1dbf}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu;
/** Letters that look like Latin ones, and at least two signs. A single one is a word of its own in some languages. */
const ONLY_TWINS =
  /^(?=.*\p{L})(?=.{2})[АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαινορυօոսհ\p{N}_]+$/u;
/** Letters and digits that may be variants of others, such as wide or bold ones. */
const MAYBE_VARIANT = /(?![\0-\x7f])[\p{L}\p{Nd}\p{Nl}]/gu;
/** Slashes, dots, colons, hyphens and blanks that are none; but the blank of Chinese and Japanese. */
const OTHER_SIGN = /[\u2044\u2215\u29f8\u2024\u2236\ua789\u2010\u2011\u2212]|(?![ \u3000])\p{Zs}/gu;
/** More marks on one letter would cover the lines around it. */
const PILED = /(?<=\p{M}{3})\p{M}/gu;

/** Around each escape of {@link revealMarked}. They stand nowhere else in what it gives. */
export const MARK = { open: '\u{E000}', close: '\u{E001}' } as const;
const MARKS = /[\u{E000}\u{E001}]/gu;
const ONLY_VISIBLE = /^[\x20-\x7e]*$/u;

/**
 * A text as a person is shown it who is to judge it, on one line: what looks like something else becomes an escape, and
 * so does what nobody would see, and what a terminal or a browser would obey. The one way in which questions are shown.
 */
export function reveal(text: string): string {
  return revealMarked(text).replaceAll(MARKS, '');
}

/** The same, with {@link MARK} around each escape, so that it can be told from what was written like one. */
export function revealMarked(text: string): string {
  // The usual case, which is faster to read.
  if (ONLY_VISIBLE.test(text)) return text;
  const marked = text
    .replaceAll(MARKS, escapeLetter)
    .replaceAll(WORD, (word) => {
      if (ONLY_TWINS.test(word)) return word.replaceAll(LETTER, escapeLetter);
      return LATIN.test(word) ? word.replaceAll(OTHER, escapeLetter) : word;
    })
    .replaceAll(MAYBE_VARIANT, (letter) => (isVariant(letter) ? escapeLetter(letter) : letter))
    .replaceAll(OTHER_SIGN, escapeLetter)
    .replaceAll(PILED, escapeLetter);
  return markInvisible(marked, (escape, character) =>
    character === MARK.open || character === MARK.close ? character : inMarks(escape),
  );
}

function isVariant(letter: string): boolean {
  const plain = letter.normalize('NFKC');
  return plain !== letter && /^\w+$/u.test(plain);
}

function escapeLetter(letter: string): string {
  return inMarks(`\\u{${letter.codePointAt(0)?.toString(16) ?? ''}}`);
}

function inMarks(escape: string): string {
  return `${MARK.open}${escape}${MARK.close}`;
}
