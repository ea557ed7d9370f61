/**
 * What of a text in JSON does not mean the same once it was parsed and written again: numbers that a double cannot
 * hold, and keys of which only the last one counts. The same value in other words is the same, such as `1e2` for `100`.
 *
 * @returns `undefined` where all of it survives; else a part of a sentence, such as `the number 1e999 cannot be written
 *   exactly`
 */
export function findInexact(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return 'it is no JSON';
  }
  return findInValid(text);
}

/** The keys so far of an object, or `undefined` for an array. */
type Level = Set<string> | undefined;

/** Without recursion, as a text may nest as deep as it is long. */
function findInValid(text: string): string | undefined {
  const outer: Level[] = [];
  let keys: Level;
  let isKey = false;
  for (let at = 0; at < text.length;) {
    const start = at;
    const char = text.charAt(at);
    at = endOfToken(text, at);
    if (char === '{' || char === '[') outer.push(keys);
    if (char === '{') keys = new Set();
    else if (char === '[') keys = undefined;
    else if (char === '}' || char === ']') keys = outer.pop();
    if (char === '"' && isKey) {
      const key = JSON.parse(text.slice(start, at)) as string;
      if (keys?.has(key)) return `the key ${shorten(JSON.stringify(key))} is there twice`;
      keys?.add(key);
    } else if (NUMBER_START.test(char) && !isExactNumber(text.slice(start, at))) {
      return `the number ${shorten(text.slice(start, at))} cannot be written exactly`;
    }
    if (!isSpace(char)) isKey = keys !== undefined && (char === '{' || char === ',');
  }
  return undefined;
}

const NUMBER_START = /[-\d]/;
const NUMBER = /[-+.\deE]+/y;

/** Of a text that is known to be JSON. A letter of a literal counts as a token. */
function endOfToken(text: string, start: number): number {
  const char = text.charAt(start);
  if (char === '"') return endOfString(text, start);
  if (!NUMBER_START.test(char)) return start + 1;
  NUMBER.lastIndex = start;
  NUMBER.test(text);
  return NUMBER.lastIndex;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\r' || char === '\t';
}

/** A double holds any fifteen digits. */
const SAFE_LENGTH = 15;

function isExactNumber(written: string): boolean {
  if (written.length <= SAFE_LENGTH && !/e/i.test(written)) return true;
  const value = Number(written);
  return Number.isFinite(value) && decimalOf(written) === decimalOf(String(value));
}

/** The one way to write a number's value: its digits without zeros at either end, and what power of ten they count. */
function decimalOf(written: string): string {
  const [mantissa = '', power = '0'] = written.replace(/^-/, '').split(/e/i);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = withoutZerosBehind(digits);
  if (significant === '') return '0';
  return `${significant}e${Number(power) - fraction.length + digits.length - significant.length}`;
}

/** By hand: an expression for it would try each of many zeros inside. */
function withoutZerosBehind(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

const MAX_QUOTED = 40;

function shorten(text: string): string {
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}
