import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { RECORD_STREAM, readFleetSpan, SERVERS_TEAM } from '../../fleet/recordSubject.js';
import { loadJetStream, COLLECT_CONSUMER } from '../collect/stream.js';
import type { RecordDatabase, Related } from './database.js';
import { dayFiles, removeFromDay, scanDay } from './days.js';
import { keyOf } from './row.js';

/** A place where the record is kept. */
export interface Place {
  /** Calls `see` with each span, once or several times. */
  scan(see: (span: Related) => void): Promise<void>;
  /** @returns how many were removed */
  remove(isOf: (span: Related) => boolean): Promise<number>;
}

/**
 * Removes all of a session from some places: its spans, those within them, such as of its sub-agents, and what policy
 * servers did for them.
 *
 * @returns how many spans of each place
 * @throws the error of the first place that fails
 */
export async function forgetSession(session: string, places: readonly Place[]): Promise<number[]> {
  const found = new SessionSpans(session);
  let before: number;
  do {
    before = found.size;
    for (const place of places) await place.scan((span) => found.see(span));
    // A span is written before the one around it.
  } while (found.size > before);
  const removed: number[] = [];
  for (const place of places) removed.push(await place.remove((span) => found.see(span)));
  return removed;
}

class SessionSpans {
  readonly #keys = new Set<string>();
  readonly #ids = new Set<string>();

  constructor(private readonly session: string) {}

  get size(): number {
    return this.#keys.size;
  }

  /** Whether it is of the session, as far as that is known. */
  see(span: Related): boolean {
    const key = keyOf({ id: span.id, from: span.from ?? '' });
    if (this.#keys.has(key)) return true;
    if (span.session !== this.session && !this.#isWithin(span)) return false;
    this.#keys.add(key);
    this.#ids.add(span.id);
    return true;
  }

  /** An agent could name a span of another one as the one around its own; servers name that of who asks. */
  #isWithin({ parent, from = '' }: Related): boolean {
    if (parent === null) return false;
    if (from.startsWith(`${SERVERS_TEAM}/`)) return this.#ids.has(parent);
    return this.#keys.has(keyOf({ id: parent, from }));
  }
}

/** The files of a directory. */
export function filesIn(directory: string): Place {
  return {
    scan: async (see) => {
      for (const file of await dayFiles(directory)) await scanDay(file, see);
    },
    remove: async (isOf) => {
      let removed = 0;
      for (const file of await dayFiles(directory)) {
        let isThere = false;
        await scanDay(file, (span) => (isThere ||= isOf(span)));
        if (isThere) removed += await removeFromDay(file, isOf);
      }
      return removed;
    },
  };
}

export function rowsOf(database: RecordDatabase): Place {
  return {
    scan: async (see) => {
      for (const span of database.related()) see(span);
    },
    remove: async (isOf) => {
      const removed: Related[] = [];
      for (const span of database.related()) if (isOf(span)) removed.push(span);
      return database.remove(removed);
    },
  };
}

/** Ms that collectors may take to write what they have taken out of the stream. */
const WRITE_MS = 5000;

/** What JetStream keeps of the record. */
export async function messagesOf(nats: NatsConnection): Promise<Place> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  const messages = () => messagesIn(nats, manager);
  return {
    scan: async (see) => {
      for await (const { span } of messages()) see(span);
    },
    remove: async (isOf) => {
      let removed = 0;
      for await (const { seq, span } of messages()) {
        // With its bytes overwritten.
        if (isOf(span)) removed += Number(await manager.streams.deleteMessage(RECORD_STREAM, seq));
      }
      await untilWritten(manager);
      return removed;
    },
  };
}

async function* messagesIn(nats: NatsConnection, { streams }: JetStreamManager) {
  const { jetstream } = await loadJetStream();
  const { state } = await streams.info(RECORD_STREAM);
  if (state.messages === 0) return;
  const consumer = await jetstream(nats).consumers.get(RECORD_STREAM);
  const messages = await consumer.consume();
  for await (const { seq, subject, data, info } of messages) {
    const span = readFleetSpan(subject, data);
    if (typeof span !== 'string') yield { seq, span };
    if (seq >= state.last_seq || info.pending === 0) break;
  }
}

async function untilWritten({ consumers }: JetStreamManager): Promise<void> {
  const deadline = performance.now() + WRITE_MS;
  while (performance.now() < deadline) {
    const info = await consumers.info(RECORD_STREAM, COLLECT_CONSUMER).catch(() => undefined);
    if (!info || info.num_ack_pending === 0) return;
    await sleep(100);
  }
}
