import { runWithLimit } from '../../util/limitedRegExp.js';

/** For which one step may block the thread. */
const MAX_STEP_MS = 1000;
const MAX_TOTAL_MS = 10_000;

/** Limits a search with expressions that somebody else wrote, which is done in steps. */
export class StepLimit {
  #leftMs: number;

  /** @param totalMs for all steps together */
  constructor(private readonly totalMs = MAX_TOTAL_MS) {
    this.#leftMs = totalMs;
  }

  /** @throws Error when the step takes longer than 1 s, or all steps too long together; and what the step throws */
  run<T>(step: () => T): T {
    if (this.#leftMs <= 0) throw new Error(`it takes longer than ${this.totalMs} ms`);
    const startedAt = performance.now();
    try {
      return runWithLimit(step, MAX_STEP_MS);
    } finally {
      this.#leftMs -= performance.now() - startedAt;
    }
  }
}
