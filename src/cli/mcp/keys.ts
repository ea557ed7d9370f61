import { isObject, type Message } from './rpc.js';

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

/** The same for the `params` of a call of a tool. */
export function lookalikeInCall(params: Message): string | undefined {
  return findLookalike(params, CALL);
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

/**
 * Whether an object of a JSON text has a key twice. Readers differ in which one counts, so that somebody else could
 * read another message than was looked at.
 *
 * @param value what was read of it
 */
export function hasRepeatedKey(line: Buffer, value: unknown): boolean {
  return countKeys(value) !== countKeysOf(line);
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

/** Every text with a colon behind it is a key. */
function countKeysOf(line: Buffer): number {
  // Faster than bytes to look through. What is no ASCII does not count.
  const json = line.toString('latin1');
  let count = 0;
  for (let open = json.indexOf('"'); open >= 0;) {
    let close = json.indexOf('"', open + 1);
    while (close >= 0 && isEscaped(json, close)) close = json.indexOf('"', close + 1);
    if (close < 0) return count;
    let behind = close + 1;
    while (json.charCodeAt(behind) <= SPACE) behind += 1;
    if (json[behind] === ':') count += 1;
    open = json.indexOf('"', behind);
  }
  return count;
}

const SPACE = 0x20;

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
