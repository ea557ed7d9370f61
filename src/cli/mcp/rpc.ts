import { isRecord } from '../../util/records.js';

/** A message as it was read; nothing of it has been checked but that it is an object. */
export type Message = Readonly<Record<string, unknown>>;

export type Id = string | number;

/** Codes of JSON-RPC, and that of the SDKs for a connection that is gone. */
export const RpcError = {
  Parse: -32_700,
  InvalidRequest: -32_600,
  InvalidParams: -32_602,
  Internal: -32_603,
  ConnectionClosed: -32_000,
} as const;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws Error where the line is no JSON in UTF-8 */
export function parseLine(line: Buffer): unknown {
  return JSON.parse(utf8.decode(line)) as unknown;
}

/** Whether an id comes back as it was sent. Larger numbers lose digits, and `null` is nobody's. */
export function isId(id: unknown): id is Id {
  if (typeof id === 'string') return true;
  return typeof id === 'number' && (!Number.isInteger(id) || Number.isSafeInteger(id));
}

/** The number 1 and the text "1" are two ids. */
export function keyOf(id: Id): string {
  return JSON.stringify(id);
}

export function errorAnswer(id: Id | null, code: number, message: string): Message {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** What is under a key that holds an object, and else an empty object. */
export function recordIn(value: unknown, ...keys: readonly string[]): Message {
  const found = keys.reduce<unknown>(
    (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
  return isRecord(found) ? found : {};
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

/** Every text with a colon behind it is a key. */
function countKeysOf(json: Buffer): number {
  let count = 0;
  for (let open = json.indexOf(QUOTE); open >= 0;) {
    let close = json.indexOf(QUOTE, open + 1);
    while (close >= 0 && isEscaped(json, close)) close = json.indexOf(QUOTE, close + 1);
    if (close < 0) return count;
    let behind = close + 1;
    while ((json[behind] ?? COLON) <= SPACE) behind += 1;
    if (json[behind] === COLON) count += 1;
    open = json.indexOf(QUOTE, behind);
  }
  return count;
}

function isEscaped(json: Buffer, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
