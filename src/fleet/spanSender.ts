import type { HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import { toSpanRecord, type SpanRecord } from '../trace/record.js';
import { listenToSpans, newSpanId, type Span } from '../trace/span.js';
import { errorMessage } from '../util/errorMessage.js';
import { orUndefined } from '../util/paths.js';
import { RecordLink, type LinkOptions } from './recordLink.js';
import { Spool, spoolOf, type Segment } from './spool.js';

export interface SenderOptions extends Omit<LinkOptions, 'onChange'> {
  /** Whose values are masked; see {@link toSpanRecord}. */
  readonly environment?: HookEnvironmentPolicy;
  /** Called when spans cannot be sent, or are lost: once until they can be again. */
  readonly onProblem: (message: string) => void;
  /** Where spans wait that cannot be sent. Default: in the home directory. */
  readonly spool?: Spool;
  /** Ms that `close` may take. Default 2000. */
  readonly flushMs?: number;
}

/** Spans that are on their way at a time. */
const MAX_IN_FLIGHT = 256;
/** Of spans that wait in memory, in characters; more of them go to disk. */
const MAX_WAITING = 4 * 1024 * 1024;

interface Line {
  readonly id: string;
  readonly text: string;
}

/**
 * Sends the spans of this process to the record of a fleet, as they end. What cannot be sent goes to disk, and is sent
 * later, by this process or the next. The work of the host neither waits for it nor fails with it.
 */
export class SpanSender {
  readonly #spool: Spool;
  readonly #link: RecordLink;
  readonly #ignore = listenToSpans((span) => this.#note(span));
  readonly #leave = () => this.#toDisk();
  readonly #inFlight = new Map<string, Line>();
  readonly #told = new Set<string>();
  #waiting: Line[] = [];
  #waitingSize = 0;
  #timer: NodeJS.Immediate | undefined;
  #lost = 0;
  #segment: Segment | undefined;
  /** Whether something may wait on disk. */
  #mayHoldSpool = true;
  #settled: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: SenderOptions) {
    const { team, agent } = options.address;
    this.#spool = options.spool ?? new Spool(spoolOf(team, agent));
    this.#link = new RecordLink({ ...options, onChange: (problem) => this.#change(problem) });
    process.on('exit', this.#leave);
  }

  /** Sends what is left, for a while; the rest goes to disk. Idempotent. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#ignore();
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#settled = resolve;
      timer = setTimeout(resolve, this.options.flushMs ?? 2000);
      this.#dispatch();
    });
    clearTimeout(timer);
    this.#toDisk();
    process.off('exit', this.#leave);
    try {
      this.#spool.release();
    } catch (error) {
      this.#tell(
        'spool',
        `what waits on disk waits until this process ends (${errorMessage(error)})`,
      );
    }
    await this.#link.close();
  }

  /** A listener that throws would end the process. */
  #note(span: Span): void {
    try {
      this.#add(toSpanRecord(span, this.options.environment));
    } catch (error) {
      this.#lose(1, `a span could not be written down (${errorMessage(error)})`);
    }
    this.#timer ??= setImmediate(() => this.#dispatch());
  }

  #add(record: SpanRecord): void {
    const text = JSON.stringify(record);
    this.#waiting.push({ id: record.id, text });
    this.#waitingSize += text.length;
  }

  /** Sends what waits, or puts it on disk. */
  #dispatch(): void {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    const { state } = this.#link;
    if (state === 'up') {
      this.#addLoss();
      const count = MAX_IN_FLIGHT - this.#inFlight.size;
      for (const line of this.#waiting.splice(0, Math.max(0, count))) {
        this.#waitingSize -= line.text.length;
        void this.#send(line);
      }
      void this.#sendSpool();
    }
    if (state === 'down' || this.#waitingSize > MAX_WAITING) this.#keep(this.#takeWaiting());
    const isBusy = this.#waiting.length + this.#inFlight.size > 0 || this.#segment !== undefined;
    if (this.#link.state === 'down' || (this.#link.state === 'up' && !isBusy)) this.#settled?.();
  }

  async #send(line: Line): Promise<void> {
    if (this.#isTooLarge(line.text)) return;
    this.#inFlight.set(line.id, line);
    try {
      await this.#link.publish(line.id, line.text);
      this.#inFlight.delete(line.id);
      this.#told.clear();
    } catch {
      // It may have been put on disk already, as the connection was lost.
      if (this.#inFlight.delete(line.id)) this.#keep([line]);
    }
    this.#timer ??= setImmediate(() => this.#dispatch());
  }

  /** Sends what waits on disk, the oldest first, one file at a time. */
  async #sendSpool(): Promise<void> {
    if (this.#segment !== undefined || !this.#mayHoldSpool) return;
    try {
      while (this.#link.state === 'up' && (this.#segment = this.#spool.take())) {
        const segment = this.#segment;
        const hasArrived = await this.#sendSegment(segment.lines);
        // The process may have put it back as it ended.
        if (this.#segment !== segment) return;
        if (hasArrived) segment.done();
        else segment.putBack();
      }
      this.#mayHoldSpool = this.#link.state !== 'up';
    } catch (error) {
      this.#mayHoldSpool = false;
      this.#tell('spool', `what waits on disk cannot be read (${errorMessage(error)})`);
    }
    this.#segment = undefined;
    if (this.#settled) this.#timer ??= setImmediate(() => this.#dispatch());
  }

  async #sendSegment(texts: readonly string[]): Promise<boolean> {
    for (let at = 0; at < texts.length; at += MAX_IN_FLIGHT) {
      const sent = texts.slice(at, at + MAX_IN_FLIGHT).map(async (text) => {
        const id = idOf(text);
        if (id === undefined) return this.#lose(1, 'a line on disk was damaged');
        if (!this.#isTooLarge(text)) await this.#link.publish(id, text);
      });
      const results = await Promise.allSettled(sent);
      if (results.some(({ status }) => status === 'rejected')) return false;
    }
    return true;
  }

  /** It would be refused for ever. */
  #isTooLarge(text: string): boolean {
    const isTooLarge = Buffer.byteLength(text) > this.#link.maxBytes;
    if (isTooLarge) this.#lose(1, 'a span is larger than its max_payload');
    return isTooLarge;
  }

  #change(problem: string | undefined): void {
    this.#mayHoldSpool = true;
    if (problem !== undefined) {
      this.#tell('link', `${problem}; what happens is kept on disk, and sent later`);
      this.#keep(this.#takeInFlight());
    }
    this.#dispatch();
  }

  #takeWaiting(): Line[] {
    const lines = this.#waiting;
    [this.#waiting, this.#waitingSize] = [[], 0];
    return lines;
  }

  #takeInFlight(): Line[] {
    const lines = [...this.#inFlight.values()];
    this.#inFlight.clear();
    return lines;
  }

  #keep(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    this.#mayHoldSpool = true;
    const { lost, problem } = this.#spool.append(lines.map(({ text }) => text));
    if (problem !== undefined) {
      this.#lose(lost, `they cannot be kept on disk either (${errorMessage(problem)})`);
    } else if (lost > 0) {
      this.#lose(lost, 'no more of them may wait on disk, so the oldest had to go');
    }
  }

  /** Nothing is waited for any more. */
  #toDisk(): void {
    this.#addLoss();
    this.#keep([...this.#takeInFlight(), ...this.#takeWaiting()]);
    const segment = this.#segment;
    this.#segment = undefined;
    try {
      segment?.putBack();
    } catch {
      // It counts as left by a process that has ended.
    }
  }

  #lose(count: number, why: string): void {
    this.#lost += count;
    this.#tell('lost', `spans are lost, and counted: ${why}`);
  }

  /** The record itself says how many are missing. */
  #addLoss(): void {
    if (this.#lost === 0) return;
    const { team, agent } = this.options.address;
    const missing = this.#lost;
    this.#lost = 0;
    this.#add({
      id: newSpanId(),
      parent: null,
      kind: 'session',
      name: 'missing spans',
      start: Date.now(),
      durationMs: 0,
      verdict: 'fail',
      error: `${missing} spans of ${team}/${agent} are missing here: they could be neither sent nor kept`,
      sizes: { missing },
    });
  }

  #tell(kind: string, what: string): void {
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    const { server } = this.options.address;
    this.options.onProblem(`The record of the fleet at ${server}: ${what}`);
  }
}

function idOf(text: string): string | undefined {
  const { id } = orUndefined(() => JSON.parse(text) as { id?: unknown }) ?? {};
  return typeof id === 'string' ? id : undefined;
}
