import { setTimeout as wait } from 'node:timers/promises';
import { NOT_OVER_NATS, isReadOverNats, type FleetAddress } from './address.js';
import { readAnswer, type ReadAnswer } from './answerMark.js';
import { closeIdleAgents, postQuestion, type HttpAnswer } from './postQuestion.js';
import type * as NatsQuestions from './natsQuestions.js';
import type { Asking } from './question.js';

/** Loaded with the first question that goes over NATS. */
let overNats: Promise<typeof NatsQuestions> | undefined;

/** Ms before each further try. More would have an agent wait at each of its calls. */
const PAUSES_MS = [100, 300, 900];

/**
 * Asks a server. Only a question that cannot have been answered is put again: one that a full server has refused, which
 * over NATS another one may take, and over HTTP one that reached nobody.
 *
 * @param to `approve` puts it to a person, whose answer takes longer
 * @throws Error, which completes "The hook …", where there is no answer that is marked as one
 */
export async function ask(
  address: FleetAddress,
  asking: Asking,
  to: 'ask' | 'approve' = 'ask',
): Promise<ReadAnswer> {
  const startedAt = performance.now();
  for (let tries = 0; ; tries++) {
    const left = asking.question.timeoutMs - (performance.now() - startedAt);
    const again = { ...asking, question: { ...asking.question, timeoutMs: left } };
    const answer = await askOnce(address, again, to);
    const pause = pauseAfter(answer, tries);
    if (pause === undefined || pause >= left) {
      if ('error' in answer) throw answer.error;
      return readAnswer(answer, asking);
    }
    await wait(pause, undefined, { signal: asking.signal });
  }
}

async function askOnce(
  address: FleetAddress,
  asking: Asking,
  to: 'ask' | 'approve',
): Promise<HttpAnswer> {
  if (address.kind === 'http') return postQuestion(address.url, asking);
  const { body, tls, format: dialect, ...others } = asking;
  if (!isReadOverNats(dialect)) throw new Error(`was not asked: ${NOT_OVER_NATS}`);
  const format = dialect ?? 'own';
  const { askOverNats } = await (overNats ??= import('./natsQuestions.js'));
  return askOverNats(address, { ...tls, ...others, format, to, text: body });
}

function pauseAfter(answer: HttpAnswer, tries: number): number | undefined {
  const isUnasked = 'error' in answer ? answer.isUnasked : answer.status === 503;
  const pause = PAUSES_MS[tries];
  if (!isUnasked || pause === undefined) return undefined;
  const asked = 'error' in answer ? undefined : answer.retryAfterMs;
  // Who says that it takes longer is believed.
  return asked !== undefined && asked > MAX_PAUSE_MS ? undefined : Math.max(pause, asked ?? 0);
}

const MAX_PAUSE_MS = 2000;

/** Closes connections on which nobody waits. */
export async function closeIdle(): Promise<void> {
  closeIdleAgents();
  const nats = await overNats?.catch(() => undefined);
  await nats?.closeIdleLinks();
}
