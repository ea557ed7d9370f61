import { isAscii, isUtf8 } from 'node:buffer';
import { isRecord, isTooDeep } from '../../util/records.js';

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
  // The usual case, which is faster to read.
  if (isAscii(line)) return JSON.parse(line.toString('latin1')) as unknown;
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

/** Whether a message is nested so deeply that it could not be written again. */
export function isTooDeepLine(message: unknown, { length }: Buffer): boolean {
  // Each level has two brackets.
  return length > 2 * MAX_DEPTH && isTooDeep(message, MAX_DEPTH);
}

export function errorAnswer(id: Id | null, code: number, message: string): Message {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** What is under a key that holds an object, and else an empty object. */
export function recordIn(value: unknown, ...keys: readonly string[]): Message {
  let found = value;
  for (const key of keys) {
    found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isRecord(found) ? found : {};
}
