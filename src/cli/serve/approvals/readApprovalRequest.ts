import type { TakeBack } from '../../../fleet/approvalEnvelope.js';
import type { ApprovalRequest, AskingHook } from '../../../protocol/approval.js';
import { events } from '../../../protocol/events.js';
import { HookEventName } from '../../../protocol/types.js';
import {
  anyObject,
  expecting,
  objectOf,
  positiveCount,
  text,
  type Check,
} from '../../../util/checks.js';
import { copyData, isRecord } from '../../../util/records.js';

/** A question as servers keep it: how long it may take stands beside it. */
export type KeptRequest = Omit<ApprovalRequest, 'expiresAt'>;

/** A question as it came. The lengths are those of `AskedPerson`. */
export type ReadRequest = KeptRequest & { readonly expiresInMs?: number; readonly waitMs?: number };

const MAX_HOOKS = 64;
const ID = /^[A-Za-z0-9_-]{1,64}$/u;

const id = expecting<string>(
  'an id of letters, digits, "-" and "_"',
  (value) => typeof value === 'string' && ID.test(value),
);
const askingEvents = Object.values(HookEventName).filter((each) => events[each].canAsk);
const event = expecting<HookEventName>(askingEvents.join(' or '), (value) =>
  askingEvents.some((each) => each === value),
);
const hook = objectOf<AskingHook>('a hook', { name: text, source: text, reason: text });
const hooks = expecting<readonly AskingHook[]>(
  `a list of up to ${MAX_HOOKS} hooks, each with "name" and "source"`,
  (value) =>
    Array.isArray(value) &&
    value.length <= MAX_HOOKS &&
    value.every(
      (each: unknown) => isRecord(each) && 'name' in each && 'source' in each && hook.is(each),
    ),
);

const FIELDS: readonly (readonly [keyof ReadRequest, Check<unknown>, 'optional'?])[] = [
  ['id', id as Check<unknown>],
  ['event', event as Check<unknown>],
  ['hooks', hooks as Check<unknown>],
  ['reason', text as Check<unknown>],
  ['toolName', text as Check<unknown>, 'optional'],
  ['callId', text as Check<unknown>, 'optional'],
  ['input', anyObject as Check<unknown>],
  ['originalInput', anyObject as Check<unknown>],
  ['sessionId', text as Check<unknown>],
  ['workingDir', text as Check<unknown>],
  ['agent', text as Check<unknown>, 'optional'],
  ['expiresInMs', positiveCount as Check<unknown>, 'optional'],
  ['waitMs', positiveCount as Check<unknown>, 'optional'],
];

/**
 * Reads what an agent asks a person, or takes back. Other keys than those that are shown are not kept.
 *
 * @returns or else what is wrong with it
 */
export function readApprovalRequest(body: string): ReadRequest | TakeBack | string {
  let said: unknown;
  try {
    said = JSON.parse(body);
  } catch {
    return 'the question is no JSON: send an ApprovalRequest';
  }
  if (!isRecord(said)) return 'the question is no object: send an ApprovalRequest';
  if (said['takeBack'] !== undefined) {
    return id.is(said['takeBack'])
      ? { takeBack: said['takeBack'] }
      : '"takeBack" names no question';
  }
  const kept: Record<string, unknown> = {};
  for (const [name, check, isOptional] of FIELDS) {
    const value = said[name];
    if (value === undefined && isOptional) continue;
    const [failure] = check.validate(value);
    if (failure) return `"${name}" of the question: ${failure.message}`;
    kept[name] = value;
  }
  try {
    return copyData(kept) as unknown as ReadRequest;
  } catch {
    return 'the question is nested too deep to be read';
  }
}
