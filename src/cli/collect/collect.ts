import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isAbsence, LAST_WORDS_MS, natsAdvice, withinMs } from '../../fleet/natsConnection.js';
import { readFleetSpan, type FleetSpan } from '../../fleet/recordSubject.js';
import { every, retry } from '../../fleet/retry.js';
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
import { UsageError } from '../shared/usageError.js';
import { openSpans } from '../shared/withOtlp.js';
import type { OtlpExport } from '../shared/otlp.js';
import { DayFile } from './dayFile.js';
import { openRecord } from './stream.js';

interface CollectOptions extends NatsServerOptions {
  readonly out?: string;
  readonly once?: boolean;
  readonly otlp?: string;
  readonly log?: LogFormat;
}

/** @returns the exit code: 0 all that was there is written; 1 a file or the server fails */
export async function collect({
  out,
  once,
  otlp,
  log,
  ...server
}: CollectOptions): Promise<number> {
  logAs(log);
  if (server.nats === undefined) throw new UsageError('Say where the fleet is: --nats URL');
  if (out === undefined) throw new UsageError('Say where the files go: --out DIR');
  await makeDirectory(out);
  const { signal, dispose } = watchInterruption();
  try {
    const nats = once ? await connectNatsServer(server, NAME) : await waitForServer(server, signal);
    return nats ? await collectFrom(nats, { out, otlp, once: once === true }, signal) : 0;
  } finally {
    dispose();
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
  { out, otlp, once }: Pick<CollectOptions, 'otlp'> & { out: string; once: boolean },
  signal: AbortSignal,
): Promise<number> {
  const spans = otlp === undefined ? undefined : await openSpans(otlp);
  const collector = new Collector(out, spans);
  try {
    const consumer = await openRecord(nats);
    if (!once) printNotice('note', `spans of the fleet are written to ${toVisible(out)}; ^C ends`);
    await collectAll({ nats, consumer, collector, signal, once });
    return 0;
  } catch (error) {
    printNotice(
      'error',
      `The record could not be collected (${errorMessage(error)}); ${natsAdvice(error) ?? 'run it again'}`,
    );
    return 1;
  } finally {
    await withinMs(nats.drain(), LAST_WORDS_MS).catch(() => undefined);
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
    await withinMs(nats.flush(), LAST_WORDS_MS).catch(() => undefined);
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

/** Days of which the ids are in memory. */
const MAX_DAYS = 3;
/** A span that says that it is older or younger belongs to the day on which it came, in ms. */
const MAX_LAG_MS = 30 * 24 * 3_600_000;

class Collector {
  readonly #days = new Map<string, DayFile>();
  #written = 0;
  #again = 0;
  #refused = 0;

  constructor(
    private readonly directory: string,
    private readonly spans?: OtlpExport,
  ) {}

  report(): string {
    const again = this.#again > 0 ? `, ${this.#again} were there already` : '';
    const refused = this.#refused > 0 ? `, ${plural(this.#refused, 'message')} left out` : '';
    return `Wrote ${plural(this.#written, 'span')}${again}${refused}`;
  }

  /** @throws the file system's error */
  async write(batch: readonly JsMsg[]): Promise<void> {
    const days = new Map<string, FleetSpan[]>();
    for (const message of batch) {
      const span = readFleetSpan(message.subject, message.data);
      if (typeof span === 'string') {
        this.#refuse(message.subject, span);
        continue;
      }
      const day = dayOf(span, message.time.getTime());
      days.set(day, [...(days.get(day) ?? []), span]);
    }
    for (const [day, spans] of days) {
      const written = await this.#open(day).add(spans);
      for (const span of written) this.spans?.add(span);
      this.#written += written.length;
      this.#again += spans.length - written.length;
    }
  }

  /** The ids of a day that is opened again are read from its file. */
  #open(day: string): DayFile {
    const file = this.#days.get(day) ?? new DayFile(this.directory, day);
    this.#days.delete(day);
    this.#days.set(day, file);
    for (const oldest of this.#days.keys()) {
      if (this.#days.size > MAX_DAYS) this.#days.delete(oldest);
    }
    return file;
  }

  /** Told once, and counted: an agent can send any number. */
  #refuse(subject: string, why: string): void {
    if (this.#refused === 0) {
      printNotice('warning', `a message of ${toVisible(subject)} is left out: ${why}`);
    }
    this.#refused += 1;
  }
}

/** @param received ms since 1970 */
function dayOf({ start }: FleetSpan, received: number): string {
  const time = Math.abs(start - received) > MAX_LAG_MS ? received : start;
  return new Date(time).toISOString().slice(0, 10);
}
