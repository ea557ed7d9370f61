import { isRecord } from '../../util/records.js';
import { lookalikeInCall, zeroIn } from './keys.js';
import { recordIn, type Message } from './rpc.js';

/** Why a call cannot be passed on. */
export function problemOf(message: Message): string | undefined {
  const params = recordIn(message, 'params');
  const lookalike = lookalikeInCall(params);
  if (lookalike !== undefined) return `params has ${lookalike}`;
  const { name, arguments: given } = params;
  if (typeof name !== 'string') return 'tools/call needs params.name, a text';
  const zero = zeroIn(name);
  if (zero !== undefined) return `params has ${zero}`;
  const isObject = typeof given === 'object' && !Array.isArray(given);
  if (given !== undefined && !isObject) return 'params.arguments must be an object';
  return undefined;
}

/** Why an answer cannot be told from others. A reader could take the part of it that hooks have not looked at. */
export function problemOfAnswer({ error = null, result }: Message): string | undefined {
  if (error === null) return isRecord(result) ? undefined : 'neither a result nor an error';
  return result === undefined ? undefined : 'a result and an error at once';
}

/** Whether it is an error about what could not be read, and no answer to any request. */
export function isForNobody({ id = null, error, result }: Message): boolean {
  return id === null && isRecord(error) && result === undefined;
}

const TASK = [
  'taskId',
  'status',
  'statusMessage',
  'createdAt',
  'lastUpdatedAt',
  'ttl',
  'ttlMs',
  'pollInterval',
  'pollIntervalMs',
];

/**
 * Whether a server needs more, or works on. Such an answer holds nothing else: a client could show what stands beside it,
 * and hooks would not have seen it.
 */
export function isUnfinished(answer: Message): boolean {
  const result = recordIn(answer, 'result');
  const { resultType = 'complete', task } = result;
  if (resultType === 'input_required') return hasOnly(result, ['inputRequests', 'requestState']);
  if (task !== undefined) return hasOnly(result, ['task']) && isRecord(task) && hasOnly(task, TASK);
  return resultType === 'task' && hasOnly(result, TASK);
}

function hasOnly(record: Message, keys: readonly string[]): boolean {
  const known = new Set(['resultType', '_meta', ...keys]);
  return Object.keys(record).every((key) => known.has(key));
}
