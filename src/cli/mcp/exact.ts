import { isRecord } from '../../util/records.js';
import type { Message } from './rpc.js';

/*
 * What of a message somebody else could read as another one: keys and names that differ in what some readers do not see,
 * keys of which only one counts, and numbers that a double cannot hold.
 */

/** Keys of a message, and of what is asked for with a call of a tool, that somebody reads. */
const ENVELOPE_KEYS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
const CALL_KEYS = ['name', 'arguments', '_meta', 'requestState', 'inputResponses'];
const EXACT = new Set([...ENVELOPE_KEYS, ...CALL_KEYS]);
// It knows the letters that are capitals of others beyond ASCII.
const ENVELOPE = new RegExp(`^(?:${ENVELOPE_KEYS.join('|')})$`, 'iu');
const CALL = new RegExp(`^(?:${CALL_KEYS.join('|')})$`, 'iu');

/**
 * What is wrong with a message that has a key which differs from one that is read in nothing but upper and lower case.
 * Some readers, such as that of Go, take the one for the other, and so could read another message than was looked at.
 */
export function lookalikeIn(message: Message): string | undefined {
  return findLookalike(message, ENVELOPE);
}

/** Why a call of a tool cannot be passed on, as its `params` are. */
export function problemOfCall(params: Message): string | undefined {
  const lookalike = findLookalike(params, CALL);
  if (lookalike !== undefined) return `params has ${lookalike}`;
  const { name, arguments: given } = params;
  if (typeof name !== 'string') return 'tools/call needs params.name, a text';
  const zero = zeroIn(name);
  if (zero !== undefined) return `params has ${zero}`;
  const isObjectOrNull = typeof given === 'object' && !Array.isArray(given);
  if (given !== undefined && !isObjectOrNull) return 'params.arguments must be an object';
  return undefined;
}

function findLookalike(record: Message, known: RegExp): string | undefined {
  for (const key in record) {
    if (!EXACT.has(key) && known.test(untilZero(key))) {
      return `the key ${JSON.stringify(key)}, which some readers take for another: write it as the protocol does, or leave it out`;
    }
  }
  return undefined;
}

/** What programs in C read of a text. */
function untilZero(text: string): string {
  const [read = ''] = text.split('\0', 1);
  return read;
}

/** What is wrong with the name of a method, or of a tool, that some readers could take for another one. */
export function zeroIn(name: string): string | undefined {
  return name.includes('\0') ? 'a name with U+0000, where some readers end it' : undefined;
}

/** Why an answer cannot be told from others. A reader could take the part of it that hooks have not looked at. */
export function problemOfAnswer({ error = null, result }: Message): string | undefined {
  if (error === null) return isRecord(result) ? undefined : 'neither a result nor an error';
  return result === undefined ? undefined : 'a result and an error at once';
}

/**
 * Whether an object of a JSON text has a key twice. Readers differ in which one counts, so that somebody else could
 * read another message than was looked at.
 *
 * @param value what was read of it
 */
export function hasRepeatedKey(text: Buffer, value: unknown): boolean {
  return countKeys(value) !== countKeysOf(text);
}

function countKeys(value: unknown): number {
  let count = 0;
  const waiting: object[] = isObject(value) ? [value] : [];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const inner: unknown[] = Object.values(next);
    if (!Array.isArray(next)) count += inner.length;
    for (const each of inner) if (isObject(each)) waiting.push(each);
  }
  return count;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Every text with a colon behind it is a key. */
function countKeysOf(text: Buffer): number {
  let count = 0;
  betweenTexts(text, (json, start) => {
    let at = start;
    while (json.charCodeAt(at) <= SPACE) at += 1;
    if (json[at] === ':') count += 1;
  });
  return count;
}

const SPACE = 0x20;

/**
 * Which number of a JSON text does not mean the same once it was parsed and written again. The same value in other words
 * is the same, such as `1e2` for `100`.
 *
 * @returns a part of a sentence, such as `the number 1e999 cannot be written exactly`
 */
export function findInexact(text: Buffer): string | undefined {
  let found: string | undefined;
  betweenTexts(text, (json, start, end) => {
    for (const [number] of json.slice(start, end).matchAll(NUMBER)) {
      if (!isExactNumber(number)) found ??= number;
    }
  });
  return found === undefined ? undefined : `the number ${shorten(found)} cannot be written exactly`;
}

/** Of a text that is known to be JSON. */
const NUMBER = /[-\d][-+.\deE]*/gu;

/** Goes through what stands before, between and behind the texts of a JSON text, which are not looked into. */
function betweenTexts(
  text: Buffer,
  take: (json: string, start: number, end: number) => void,
): void {
  // Faster than bytes to look through. What is no ASCII does not count.
  const json = text.toString('latin1');
  let start = 0;
  for (let open = json.indexOf('"'); open >= 0; open = json.indexOf('"', start)) {
    take(json, start, open);
    let close = json.indexOf('"', open + 1);
    while (close >= 0 && isEscaped(json, close)) close = json.indexOf('"', close + 1);
    if (close < 0) return;
    start = close + 1;
  }
  take(json, start, json.length);
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

/** A double holds any fifteen digits. */
const SAFE_LENGTH = 15;

function isExactNumber(written: string): boolean {
  if (written.length <= SAFE_LENGTH && !/e/iu.test(written)) return true;
  const value = Number(written);
  return Number.isFinite(value) && decimalOf(written) === decimalOf(String(value));
}

/** The one way to write a number's value: its digits without zeros at either end, and what power of ten they count. */
function decimalOf(written: string): string {
  const [mantissa = '', power = '0'] = written.replace(/^-/u, '').split(/e/iu);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/u, '');
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
