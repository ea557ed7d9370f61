import type { PersistentLimits } from '../command/limits.js';

/** Counts what went wrong with the processes of a hook: the more it was, the longer the next start waits. */
export class Faults {
  #count = 0;
  #good = 0;
  #last = '';
  #pauseUntil = 0;

  constructor(
    private readonly limits: Pick<PersistentLimits, 'pauseMs' | 'maxFaults' | 'goodAnswers'>,
  ) {}

  get count(): number {
    return this.#count;
  }

  /** Ms until the next start. What is not started any more says so at once. */
  get pauseMs(): number {
    const isPaused = this.#count > 0 && this.end === undefined;
    return isPaused ? Math.max(0, this.#pauseUntil - performance.now()) : 0;
  }

  /** Why it is not started any more, as the end of "The hook …". */
  get end(): string | undefined {
    return this.#count < this.limits.maxFaults
      ? undefined
      : `failed ${this.#count} times as a persistent hook and is not started any more (it last ${this.#last}): fix it, or remove "persistent"`;
  }

  /** @param fault as the end of "The hook …" */
  note(fault: string): void {
    this.#count += 1;
    this.#good = 0;
    this.#last = fault;
    this.#pauseUntil = performance.now() + this.limits.pauseMs * 2 ** (this.#count - 1);
  }

  noteGoodAnswer(): void {
    if (this.#count === 0) return;
    this.#good += 1;
    if (this.#good >= this.limits.goodAnswers) this.forget();
  }

  forget(): void {
    this.#count = 0;
    this.#good = 0;
  }
}
