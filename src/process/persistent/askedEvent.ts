import { setMaxListeners } from 'node:events';
import {
  NOT_RUN,
  type CommandOptions,
  type CommandOutcome,
  type Interruption,
} from '../command/runCommand.js';

/** What a process is kept for. */
export interface KeptHook {
  /** Side by side. */
  readonly processes: number;
  /** MB of resident memory after which a process is started anew. */
  readonly maxMemory: number;
  /** Whether the spawner may run it, where it is to be started for each event. Default false. */
  readonly spawner?: boolean;
  /** Tells the user something about the hook, once. */
  readonly warn: (message: string) => void;
  /** Why it must not be started or asked now, as the end of "The hook …". */
  readonly findObjection?: () => string | undefined | Promise<string | undefined>;
}

/** One event on its way to a process and back. Its time counts from when it is taken, an abort at once. */
export class AskedEvent {
  /** Whether time has passed since it came, in which its hook may have changed. */
  hasWaited = false;
  readonly #resolve: (outcome: CommandOutcome) => void;
  #takenAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #interruption: Interruption | undefined;
  #onInterruption: ((how: Interruption) => void) | undefined;
  readonly #abort = () => this.#interrupt('aborted');

  constructor(
    readonly hook: KeptHook,
    readonly options: CommandOptions,
    resolve: (outcome: CommandOutcome) => void,
  ) {
    this.#resolve = resolve;
    const { signal } = options;
    if (!signal) return;
    setMaxListeners(0, signal);
    signal.addEventListener('abort', this.#abort, { once: true });
    if (signal.aborted) this.#abort();
  }

  get interruption(): Interruption | undefined {
    return this.#interruption;
  }

  /** Starts its clock, once. */
  take(): void {
    if (this.#takenAt !== undefined) return;
    this.#takenAt = performance.now();
    this.#timer = setTimeout(() => this.#interrupt('timeout'), this.options.timeoutMs);
  }

  /** When its time is over, on the clock of `performance.now()`. */
  get deadline(): number {
    return (this.#takenAt ?? performance.now()) + this.options.timeoutMs;
  }

  /** Calls back at its deadline or abort, at once where that has come. Only the last one is called. */
  whenInterrupted(callback: ((how: Interruption) => void) | undefined): void {
    this.#onInterruption = callback;
    if (this.#interruption) callback?.(this.#interruption);
  }

  /** Waits for something, but not longer than for its deadline or abort: then it is `undefined`. */
  within<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.whenInterrupted(() => resolve(undefined));
      work.then(resolve, reject);
    });
  }

  /** @param kept the process that it was put to */
  settle(outcome: CommandOutcome, kept?: CommandOutcome['kept']): void {
    this.release();
    const now = performance.now();
    const durationMs = Math.round(now - (this.#takenAt ?? now));
    this.#resolve(kept ? { ...outcome, durationMs, kept } : { ...outcome, durationMs });
  }

  /** For what has not come to an answer of a process. */
  fail(ending: 'broken' | 'spawn-failed' | Interruption, error?: Error): void {
    this.settle({ ...NOT_RUN, ending, ...(error && { error }) });
  }

  /** Lets go of its clock and its signal, as somebody else looks after them. */
  release(): void {
    clearTimeout(this.#timer);
    this.#onInterruption = undefined;
    this.options.signal?.removeEventListener('abort', this.#abort);
  }

  #interrupt(how: Interruption): void {
    this.#interruption ??= how;
    this.#onInterruption?.(this.#interruption);
  }
}
