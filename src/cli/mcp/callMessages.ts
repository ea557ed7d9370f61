import { isRecord } from '../../util/records.js';
import { recordIn, type Message } from './rpc.js';

/** Why a call cannot be passed on. */
export function problemOf(message: Message): string | undefined {
  const { name, arguments: given } = recordIn(message, 'params');
  if (typeof name !== 'string') return 'tools/call needs params.name, a text';
  const isObject = typeof given === 'object' && !Array.isArray(given);
  if (given !== undefined && !isObject) return 'params.arguments must be an object';
  return undefined;
}

/** Why an answer cannot be told from others. A reader could take the part of it that hooks have not looked at. */
export function problemOfAnswer({ error = null, result }: Message): string | undefined {
  if (error === null) return isRecord(result) ? undefined : 'neither a result nor an error';
  return result === undefined ? undefined : 'a result and an error at once';
}

/** The same call with other arguments. */
export function withArguments(message: Message, input: Record<string, unknown>): Message {
  return { ...message, params: { ...recordIn(message, 'params'), arguments: input } };
}

/** A server that needs more, or works on, gives no content; where there is some, a client would show it. */
export function isUnfinished(answer: Message): boolean {
  const { resultType = 'complete', task, content, structuredContent } = recordIn(answer, 'result');
  if (content !== undefined || structuredContent !== undefined) return false;
  return resultType !== 'complete' || task !== undefined;
}
