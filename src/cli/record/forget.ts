import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOCAL } from '../../fleet/address.js';
import { RECORD_STREAM, readFleetSpan } from '../../fleet/recordSubject.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import { loadJetStream, COLLECT_CONSUMER } from './stream.js';
import { UsageError } from '../shared/usageError.js';
import type { RecordDatabase } from './database.js';
import { dayFiles, removeDrafts, removeFromDay, scanDay, scanDirectory } from './days.js';
import { isOfServer, type Related } from './row.js';

/** A place where the record is kept. */
export interface Place {
  /** Such as `of the stream`. */
  readonly name: string;
  /** Calls `see` with each span, once or several times. */
  scan(see: (span: Related) => void): Promise<void>;
  /** @returns how many were removed */
  remove(isOf: (span: Related) => boolean): Promise<number>;
}

/**
 * Removes all of a session from some places: its spans, those within them, such as of its sub-agents, and what policy
 * servers did for them.
 *
 * @param of only what this agent has named so; without it, one agent alone may have
 * @returns how many spans of each place
 * @throws the error of the first place that fails, once the others are done, and a UsageError where several agents have
 *   named it so
 */
export async function forgetSession(
  session: string,
  of: string | undefined,
  places: readonly Place[],
): Promise<number[]> {
  const found = new SessionSpans(removeControls(session), of);
  for (const place of places) await place.scan((span) => found.note(span));
  found.requireOneAgent();
  for (const place of places) await place.scan((span) => found.relate(span));
  found.addWithin();
  const removed: number[] = [];
  let failure: unknown;
  for (const place of places) {
    const removing = place.remove((span) => found.has(span));
    removed.push(await removing.catch((error: unknown) => ((failure ??= error), 0)));
  }
  if (failure !== undefined) throw failure;
  return removed;
}

/** Agents say of which session a span is, and what is around it, as they like. That holds for their own, and no others. */
class SessionSpans {
  readonly #keys = new Set<string>();
  readonly #agents = new Set<string>();
  readonly #traces = new Set<string>();
  /** By what is around them. */
  readonly #within = new Map<string, string[]>();

  constructor(
    private readonly session: string,
    private readonly of: string | undefined,
  ) {}

  /** Notes what says that it is of the session. */
  note(span: Related): void {
    if (!this.#isNamed(span)) return;
    this.#addKey(keyOf(span.id, span));
    this.#traces.add(traceOf(span));
    this.#agents.add(agentOf(span) ?? ANY);
  }

  requireOneAgent(): void {
    const agents = [...this.#agents].filter((agent) => agent !== ANY);
    if (agents.length <= 1) return;
    const names = agents.slice(0, MAX_NAMED).join(', ');
    throw new UsageError(
      `Nothing is removed: ${agents.length} agents have named a session so (${names}); say which one: --of TEAM/AGENT`,
    );
  }

  /** Notes what is around a span of the same traces. */
  relate(span: Related): void {
    if (span.parent === null || !this.#traces.has(traceOf(span)) || this.#isNamed(span)) return;
    const around = keyOf(span.parent, span);
    const within = this.#within.get(around);
    if (within) within.push(keyOf(span.id, span));
    else this.#within.set(around, [keyOf(span.id, span)]);
  }

  /** A set goes on with what is added to it meanwhile. */
  addWithin(): void {
    for (const key of this.#keys) {
      for (const within of this.#within.get(key) ?? []) this.#addKey(within);
    }
  }

  has(span: Related): boolean {
    const { id, parent } = span;
    const isWithin = parent !== null && this.#keys.has(keyOf(parent, span));
    return this.#keys.has(keyOf(id, span)) || isWithin || this.#isNamed(span);
  }

  #isNamed(span: Related): boolean {
    if (span.session !== this.session) return false;
    const agent = agentOf(span);
    return this.of === undefined || agent === undefined || agent === this.of;
  }

  /** Where a server does not know for whom it did something, that is within what any agent says. */
  #addKey(key: string): void {
    this.#keys.add(key);
    this.#keys.add(`${key.slice(0, key.indexOf(' '))} ${ANY}`);
  }
}

const MAX_NAMED = 10;
/** No agent's name. */
const ANY = '';
/** What a server says of one whom it knows. */
const AGENT = new RegExp(`^(?!${LOCAL}/)[^/]+/[^/]+`, 'u');

/** Who has said so: `team/agent`. A server says whom it has answered; `undefined` where it knows nobody. */
function agentOf({ from, agent }: Related): string | undefined {
  if (!isOfServer(from ?? '')) return from ?? '';
  return AGENT.exec(agent ?? '')?.[0];
}

function keyOf(id: string, span: Related): string {
  return `${id} ${agentOf(span) ?? ANY}`;
}

function traceOf(span: Related): string {
  return span.trace ?? agentOf(span) ?? ANY;
}

/** The files of a directory. */
export function filesIn(directory: string): Place {
  return {
    name: `of the files in ${directory}`,
    scan: (see) => scanDirectory(directory, see),
    remove: async (isOf) => {
      await removeDrafts(directory);
      let removed = 0;
      for (const file of await dayFiles(directory)) {
        let isThere = false;
        const isWhole = await scanDay(file, (span) => (isThere ||= isOf(span)));
        if (isThere || !isWhole) removed += await removeFromDay(file, isOf);
      }
      return removed;
    },
  };
}

/** The rows of a database, and its file, to tell where they were. */
export function rowsOf(database: RecordDatabase, file: string): Place {
  return {
    name: `of ${file}`,
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

/** That are read at a time, and ms that may pass until the first of them comes. */
const MAX_MESSAGES = 500;
const FETCH_MS = 1000;
/** Ms that collectors may take to write what they have taken out of the stream. */
const WRITE_MS = 5000;

/** What JetStream keeps of the record. */
export async function messagesOf(nats: NatsConnection): Promise<Place> {
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  const messages = () => messagesIn(nats, manager);
  return {
    name: 'of the stream',
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

/** What is there now. Others may remove it meanwhile. */
async function* messagesIn(nats: NatsConnection, { streams }: JetStreamManager) {
  const { jetstream } = await loadJetStream();
  const { state } = await streams.info(RECORD_STREAM);
  const consumer = await jetstream(nats).consumers.get(RECORD_STREAM);
  for (let last = 0, next = 0; last < state.last_seq; last = next) {
    const messages = await consumer.fetch({ max_messages: MAX_MESSAGES, expires: FETCH_MS });
    for await (const { seq, subject, data, info } of messages) {
      next = seq;
      const span = readFleetSpan(subject, data);
      if (typeof span !== 'string') yield { seq, span };
      if (info.pending === 0) return;
    }
    if (next === last) return;
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
