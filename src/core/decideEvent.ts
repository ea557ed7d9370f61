import { isAsking, refusalOf } from '../approvals/question.js';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { fireHook } from '../hooks/fireHook.js';
import { events } from '../protocol/events.js';
import { notesOf } from '../protocol/llmContent.js';
import type { HookEventName, HookPayload } from '../protocol/types.js';
import { readVerdict, type EventVerdict } from './eventVerdict.js';

/**
 * Fires an event that is about no single call, and asks a person where hooks want that, and the event may wait for it.
 *
 * @returns what hooks and person decided
 * @throws the reason of `options.signal`
 */
export async function decideEvent<E extends HookEventName>(
  config: Config,
  event: E,
  payload: HookPayload<E>,
  options: CallOptions,
): Promise<EventVerdict> {
  const { signal } = options;
  const fired = await fireHook(config, event, payload, options);
  signal?.throwIfAborted();
  const verdict = readVerdict(event, fired);
  if (!fired || !events[event].canAsk || !isAsking(fired.aggregated)) return verdict;
  const input = { ...payload };
  const subject = { input, originalInput: input };
  const answer = await config.askPerson(event, fired.aggregated, subject, options);
  signal?.throwIfAborted();
  if (answer.decision === 'allow') return verdict;
  const { decidedBy: hooks } = fired.aggregated;
  return { ...verdict, objection: { event, reason: refusalOf(answer), ...(hooks && { hooks }) } };
}

/**
 * Waits for async hooks that may send an agent back to work that has finished.
 *
 * @returns what its model is to read then; nothing where it may end
 * @throws the reason of `options.signal`
 */
export async function untilWoken(
  config: Config,
  { signal, session }: CallOptions,
): Promise<readonly string[]> {
  const woken = (await config.getHookSystem()?.untilWoken(signal, session)) ?? [];
  signal?.throwIfAborted();
  return woken.flatMap(notesOf);
}
