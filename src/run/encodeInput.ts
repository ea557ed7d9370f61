import { randomUUID } from 'node:crypto';
import { isRecord } from '../util/records.js';

const COMMA = Buffer.from(',');
const kept = new WeakMap<object, Buffer>();

/**
 * Writes an input as JSON. A message of a model request that cannot change any more (see `toMessage`) is written
 * once and kept, because every call of a long conversation sends all of it again.
 *
 * @returns the bytes that `JSON.stringify` would give
 * @throws TypeError or RangeError when the input is no JSON: cyclic, holding a BigInt, nested too deeply
 */
export function encodeInput(input: object): Buffer {
  const messages = frozenMessagesOf(input);
  if (!messages) return Buffer.from(JSON.stringify(input));
  // Stands for the messages while the rest is written; nobody else can know it.
  const placeholder = randomUUID();
  const outline = JSON.stringify(input, (_key, value: unknown) =>
    value === messages ? placeholder : value,
  );
  const written = JSON.stringify(placeholder);
  const at = outline.indexOf(written);
  return Buffer.concat([
    Buffer.from(`${outline.slice(0, at)}[`),
    ...messages.flatMap((message, index) => [
      ...(index > 0 ? [COMMA] : []),
      encodeMessage(message),
    ]),
    Buffer.from(`]${outline.slice(at + written.length)}`),
  ]);
}

function frozenMessagesOf(input: object): readonly object[] | undefined {
  const request: unknown = 'llm_request' in input ? input.llm_request : undefined;
  const messages: unknown = isRecord(request) ? request['messages'] : undefined;
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const isFinal = messages.every((message) => isRecord(message) && Object.isFrozen(message));
  return isFinal ? (messages as object[]) : undefined;
}

function encodeMessage(message: object): Buffer {
  let bytes = kept.get(message);
  if (!bytes) {
    bytes = Buffer.from(JSON.stringify(message));
    kept.set(message, bytes);
  }
  return bytes;
}
