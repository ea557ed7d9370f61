import { isUtf8 } from 'node:buffer';
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

/** @throws Error where the line is no JSON in UTF-8 */
export function parseLine(line: Buffer): unknown {
  if (!isUtf8(line)) throw new TypeError('not UTF-8');
  return JSON.parse(line.toString()) as unknown;
}

/** So many digits every number keeps. */
const SAFE_DIGITS = 15;

/** Whether an id comes back as it was sent. Numbers of more digits lose some, and `null` is nobody's. */
export function isId(id: unknown): id is Id {
  if (typeof id === 'string') return true;
  if (typeof id !== 'number' || !Number.isFinite(id)) return false;
  return Number.isSafeInteger(id) || Number(id.toPrecision(SAFE_DIGITS)) === id;
}

/** More than anybody writes, and less than ends a program that follows it by calling itself. */
const MAX_DEPTH = 1000;

/**
 * Whether a message is nested so deeply that it could not be written again.
 *
 * @param size of its line in bytes
 */
export function isTooDeep(message: unknown, size: number): boolean {
  // Each level has two brackets.
  if (size <= 2 * MAX_DEPTH) return false;
  let level: object[] = isObject(message) ? [message] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) => Object.values(each).filter(isObject));
  }
  return false;
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
