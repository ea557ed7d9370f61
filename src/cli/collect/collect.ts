import { mkdir, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isAbsence, lastWords, natsAdvice } from '../../fleet/natsConnection.js';
import { readFleetSpan } from '../../fleet/recordSubject.js';
import { every, retry } from '../../util/retry.js';
import { errorCode, errorMessage } from '../../util/errorMessage.js';
import { watchInterruption } from '../shared/interruption.js';
import { connectNatsServer, type NatsServerOptions } from '../shared/natsServer.js';
import {
  logAs,
  plural,
  printNotice,
  report,
  toVisible,
  type LogFormat,
} from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { openSpans } from '../shared/withOtlp.js';
import type { OtlpExport } from '../shared/otlp.js';
import { Stores, type Received, type StoreOptions } from './stores.js';
import { openRecord } from '../record/stream.js';

interface CollectOptions extends NatsServerOptions, StoreOptions {
  readonly forget?: string;
  /** Of which agent. */
  readonly of?: string;
  readonly once?: boolean;
  readonly otlp?: string;
  readonly log?: LogFormat;
}

/** @returns the exit code: 0 all that was there is written; 1 a file or the server fails */
export async function collect(options: CollectOptions): Promise<number> {
  const { out, sqlite, keep, forget: session, log, ...others } = options;
  logAs(log);
  if (session === undefined && options.of !== undefined) {
    throw new UsageError(
      '--of says of which agent a session is removed; add --forget SESSION, or leave it out',
    );
  }
  if (others.nats === undefined && keep === undefined && session === undefined) {
    throw new UsageError('Say where the fleet is: --nats URL');
  }
  if (out === undefined && sqlite === undefined && session === undefined) {
    throw new UsageError('Say where the record is: --out DIR, --sqlite FILE, or both');
  }
  if (session !== undefined) await requireThere(out, sqlite);
  else if (out !== undefined) await makeDirectory(out);
  const stores = await Stores.open(options);
  try {
    if (session !== undefined) {
      const { forget } = await import('./forget.js');
      return await forget(session, stores, options);
    }
    await stores.prune();
    return others.nats === undefined ? 0 : await collectInto(stores, others);
  } finally {
    stores.close();
  }
}

type Collecting = NatsServerOptions & Pick<CollectOptions, 'once' | 'otlp'>;

async function collectInto(
  stores: Stores,
  { once = false, otlp, ...server }: Collecting,
): Promise<number> {
  const { signal, dispose } = watchInterruption();
  try {
    const nats = once ? await connectNatsServer(server, NAME) : await waitForServer(server, signal);
    return nats ? await collectFrom(nats, stores, { once, otlp }, signal) : 0;
  } finally {
    dispose();
  }
}

const tellMissing = (detail: string) =>
  `The session cannot be removed (${detail}); name what collect has written`;

/** @throws UsageError where one is missing: a name that is misspelt has nothing to be removed */
async function requireThere(...names: readonly (string | undefined)[]): Promise<void> {
  for (const name of names) {
    if (name !== undefined) await orUsageError(stat(name), tellMissing);
  }
}

/** @throws UsageError where there can be none */
async function makeDirectory(out: string): Promise<void> {
  try {
    await mkdir(out, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const isFile = errorCode(cause) === 'EEXIST';
    const why = isFile ? 'is a file' : `cannot be used (${errorMessage(cause)})`;
    throw new UsageError(`--out ${toVisible(out)} ${why}; name a directory`, { cause });
  }
}

const NAME = 'hookstack collect';
/** Ms between attempts to connect. */
const RETRY_MS = 500;

/**
 * Connects as soon as somebody is there, as parts of a fleet are started in any order.
 *
 * @returns `undefined` where it was interrupted before
 * @throws UsageError for what would be the same at the next attempt
 */
async function waitForServer(
  server: NatsServerOptions,
  signal: AbortSignal,
): Promise<NatsConnection | undefined> {
  let isTold = false;
  const onFailure = (error: unknown) => {
    if (!(error instanceof UsageError) || !isAbsence(error.cause)) throw error;
    if (!isTold) printNotice('warning', `${error.message}; it is tried again and again`);
    isTold = true;
  };
  try {
    const options = { pauses: every(RETRY_MS), signal, onFailure };
    return await retry(() => connectNatsServer(server, NAME), options);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function collectFrom(
  nats: NatsConnection,
  stores: Stores,
  { once, otlp }: { readonly once: boolean; readonly otlp: string | undefined },
  signal: AbortSignal,
): Promise<number> {
  const spans = otlp === undefined ? undefined : await openSpans(otlp);
  const collector = new Collector(stores, spans);
  try {
    const consumer = await openRecord(nats);
    if (!once) printNotice('note', `spans of the fleet are written to ${stores.names}; ^C ends`);
    await collectAll({ nats, consumer, collector, signal, once });
    return 0;
  } catch (error) {
    printNotice(
      'error',
      `The record could not be collected (${errorMessage(error)}); ${natsAdvice(error) ?? 'run it again'}`,
    );
    return 1;
  } finally {
    await lastWords(nats.drain());
    await nats.close();
    await spans?.close();
    report('collected', collector.report());
  }
}

interface Work {
  readonly nats: NatsConnection;
  readonly consumer: Consumer;
  readonly collector: Collector;
  readonly signal: AbortSignal;
  readonly once: boolean;
}

/** Of messages that are written at a time. */
const MAX_BATCH = 500;
/** Ms that a batch may take to fill; no less is possible. */
const BATCH_MS = 1000;

async function collectAll({ nats, consumer, collector, signal, once }: Work): Promise<void> {
  while (!signal.aborted) {
    const batch = await takeBatch(nats, consumer, once, signal);
    if (batch === 'end') return;
    await collector.write(batch);
    for (const message of batch) message.ack();
    // It counts once the server knows it; what it does not know comes again.
    await lastWords(nats.flush());
  }
}

/** While the server is gone, nothing comes. */
async function takeBatch(
  nats: NatsConnection,
  consumer: Consumer,
  once: boolean,
  signal: AbortSignal,
): Promise<JsMsg[] | 'end'> {
  const batch: JsMsg[] = [];
  try {
    let expected = MAX_BATCH;
    if (once) {
      const { num_pending: pending, num_ack_pending: taken } = await consumer.info();
      if (pending + taken === 0) return 'end';
      expected = Math.min(MAX_BATCH, Math.max(1, pending));
    }
    const messages = await consumer.fetch({ max_messages: expected, expires: BATCH_MS });
    const stop = () => void messages.close();
    signal.addEventListener('abort', stop, { once: true });
    for await (const message of messages) batch.push(message);
    signal.removeEventListener('abort', stop);
  } catch (error) {
    if (once || nats.isClosed()) throw error;
    await sleep(BATCH_MS);
  }
  return batch;
}

class Collector {
  #written = 0;
  #again = 0;
  #refused = 0;

  constructor(
    private readonly stores: Stores,
    private readonly spans?: OtlpExport,
  ) {}

  report(): string {
    const again = this.#again > 0 ? `, ${this.#again} were there already` : '';
    const refused = this.#refused > 0 ? `, ${plural(this.#refused, 'message')} left out` : '';
    return `Wrote ${plural(this.#written, 'span')}${again}${refused}`;
  }

  /** @throws the error of the file system or of the database */
  async write(batch: readonly JsMsg[]): Promise<void> {
    const spans: Received[] = [];
    for (const { subject, data, time } of batch) {
      const span = readFleetSpan(subject, data);
      if (typeof span === 'string') this.#refuse(subject, span);
      else spans.push({ span, received: time.getTime() });
    }
    const written = await this.stores.add(spans);
    for (const span of written) this.spans?.add(span);
    this.#written += written.length;
    this.#again += spans.length - written.length;
    await this.stores.prune();
  }

  /** Told once, and counted: an agent can send any number. */
  #refuse(subject: string, why: string): void {
    if (this.#refused === 0) {
      printNotice('warning', `a message of ${toVisible(subject)} is left out: ${why}`);
    }
    this.#refused += 1;
  }
}
