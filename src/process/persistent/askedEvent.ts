import { setMaxListeners } from 'node:events';
import { NOT_RUN, type CommandOptions, type CommandOutcome } from '../command/outcome.js';
import type { Interruption } from '../command/runCommand.js';

/** What a process is kept for. */
export interface KeptHook {
  /** Side by side. */
  readonly processes: number;
  /** MB of resident memory after which a process is started anew. */
  readonly maxMemory: number;
  /** Tells the user something about the hook, once. */
  readonly warn: (message: string) => void;
  /** Why it must not be started or asked now, as the end of "The hook …". */
  readonly findObjection?: () => string | undefined | Promise<string | undefined>;
}

/** One event on its way to a process and back. Its time counts from when it is taken, an abort at once. */
export class AskedEvent {
  /** Whether time has passed since it came, in which its hook may have changed. */
  hasWaited = false;
  /** On the clock of `performance.now()`. */
  readonly cameAt = performance.now();
  #takenAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #interruption: Interruption | undefined;
  #onInterruption: ((how: Interruption) => void) | undefined;
  readonly #abort = () => this.#interrupt('aborted');

  constructor(
    readonly hook: KeptHook,
    readonly options: CommandOptions,
    private readonly resolve: (outcome: CommandOutcome) => void,
  ) {
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
  whenInterrupted(callback: (how: Interruption) => void): void {
    this.#onInterruption = callback;
    if (this.#interruption) callback(this.#interruption);
  }

  settle(outcome: CommandOutcome): void {
    clearTimeout(this.#timer);
    this.#onInterruption = undefined;
    this.options.signal?.removeEventListener('abort', this.#abort);
    const now = performance.now();
    const durationMs = Math.round(now - (this.#takenAt ?? now));
    this.resolve(Object.assign(outcome, { durationMs }));
  }

  /** For what was not put to a process. */
  fail(ending: 'broken' | 'spawn-failed' | Interruption, error?: Error): void {
    this.settle({ ...NOT_RUN, ending, ...(error && { error }) });
  }

  #interrupt(how: Interruption): void {
    this.#interruption ??= how;
    this.#onInterruption?.(this.#interruption);
  }
}
