import { hash } from 'node:crypto';
import { errorMessage } from '../util/errorMessage.js';
import type { FleetAddress } from './address.js';
import { connectNats, loadPackage, whyNotConnected } from './natsConnection.js';
import {
  ended,
  HEADERS,
  headersOf,
  QuestionFailed,
  QuestionLate,
  type Asking,
  type FleetAnswer,
  type TlsFiles,
} from './question.js';
import { QuestionLink } from './questionLink.js';
import { withoutSecret } from './secret.js';

type NatsAddress = FleetAddress & { readonly kind: 'nats' };

export interface AskOptions extends TlsFiles, Pick<Asking, 'question' | 'secret'> {
  /** The JSON of the event. */
  readonly text: Uint8Array;
  /** Whose JSON it is. Default that of this library. */
  readonly format?: 'own' | 'claude';
  /** Default `ask`: to the hooks of a policy server. `approve`: to a person. */
  readonly to?: 'ask' | 'approve';
  readonly signal?: AbortSignal | undefined;
  /** Ms after which a connection without questions is closed, as it keeps this process alive. Default 10,000. */
  readonly idleMs?: number | undefined;
}

/**
 * Asks a policy server over NATS, on one connection for all questions with the same credentials. A question goes out
 * once or not at all: while there is no connection it waits for at most two seconds after the loss.
 *
 * @returns what a server said first
 * @throws QuestionFailed where there is none until `question.timeoutMs` is over, or there can be none
 */
export async function askOverNats(address: NatsAddress, options: AskOptions): Promise<FleetAnswer> {
  const { question, signal, secret } = options;
  const over = new AbortController();
  let sentOver: QuestionLink | undefined;
  const end = (Reason: typeof QuestionFailed, why: string) =>
    over.abort(new Reason(why, !sentOver, { advice: sentOver?.advice }));
  const late = `got no answer within ${Math.round(question.timeoutMs)} ms`;
  const timer = setTimeout(() => end(QuestionLate, late), question.timeoutMs);
  const cancel = () => end(QuestionFailed, 'was cancelled before it had an answer');
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted) cancel();
  try {
    const asking = ask(address, options, over.signal, (link) => (sentOver = link));
    return await Promise.race([asking, ended(over.signal)]);
  } catch (error) {
    if (error instanceof QuestionFailed) throw error;
    const why = withoutSecret(errorMessage(error), secret);
    throw new QuestionFailed(`could not ask: ${why}`, !sentOver, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
    over.abort();
  }
}

/** Closes connections on which nobody waits for an answer. Later questions make new ones. */
export async function closeIdleLinks(): Promise<void> {
  const idle = [...open].filter((link) => link.isIdle);
  await Promise.allSettled(idle.map((link) => link.close()));
}

/** By whom they ask, and with what. */
const links = new Map<string, Promise<QuestionLink>>();
const open = new Set<QuestionLink>();

async function ask(
  address: NatsAddress,
  options: AskOptions,
  over: AbortSignal,
  onSent: (over: QuestionLink) => void,
): Promise<FleetAnswer> {
  over.throwIfAborted();
  const startedAt = performance.now();
  const { question, text, format = 'own', to = 'ask' } = options;
  const link = await linkTo(address, options);
  const release = link.hold();
  try {
    const { headers: newHeaders } = await loadPackage('@nats-io/transport-node');
    over.throwIfAborted();
    const headers = newHeaders();
    const timeoutMs = question.timeoutMs - (performance.now() - startedAt);
    const entries = Object.entries(headersOf({ ...question, timeoutMs }));
    for (const [name, value] of entries) headers.set(name, value);
    if (format !== 'own') headers.set(HEADERS.format, format);
    const outgoing = { to, question: { ...question, timeoutMs }, headers, text };
    const answer = link.ask(outgoing, over, () => onSent(link));
    return await Promise.race([answer, ended(over)]);
  } finally {
    release();
  }
}

function linkTo(address: NatsAddress, options: AskOptions): Promise<QuestionLink> {
  const key = keyOf(address, options);
  const known = links.get(key);
  if (known) return known;
  const forget = () => {
    if (links.get(key) === opening) links.delete(key);
  };
  const opening = openLink(address, options, forget);
  links.set(key, opening);
  opening.catch(forget);
  return opening;
}

function keyOf({ server, tls, team, agent }: NatsAddress, options: AskOptions): string {
  const { secret = '', caFile, certFile, keyFile } = options;
  const digest = hash('sha256', secret);
  return JSON.stringify([server, tls, team, agent, caFile, certFile, keyFile, digest]);
}

async function openLink(
  address: NatsAddress,
  { secret, caFile, certFile, keyFile, idleMs = 10_000 }: AskOptions,
  onEnd: () => void,
): Promise<QuestionLink> {
  const who = `${address.team}.${address.agent}`;
  const inboxPrefix = `_INBOX.${who}`;
  const name = `hookstack ${address.team}/${address.agent}`;
  const tls = { caFile, certFile, keyFile };
  try {
    const connection = await connectNats({ address, secret, name, inboxPrefix, ...tls });
    const { createInbox } = await loadPackage('@nats-io/transport-node');
    const link = new QuestionLink(connection, who, createInbox(inboxPrefix), idleMs, () => {
      open.delete(link);
      onEnd();
    });
    open.add(link);
    return link;
  } catch (error) {
    const why = withoutSecret(whyNotConnected(error, address.server), secret);
    throw new QuestionFailed(`could not ask: ${why}`, true, { cause: error });
  }
}
