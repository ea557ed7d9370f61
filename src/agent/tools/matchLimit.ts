import vm from 'node:vm';

/** Ms for which one step may block the thread. */
const MAX_STEP_MS = 1000;
/** Ms for all steps of one call of a tool. */
const MAX_TOTAL_MS = 10_000;

/** Time for matching what a model asks for: some expressions and globs would never come to an end. */
export class MatchLimit {
  readonly #sandbox = vm.createContext({ step: undefined });
  #leftMs: number;

  /** @param totalMs for all steps together */
  constructor(private readonly totalMs = MAX_TOTAL_MS) {
    this.#leftMs = totalMs;
  }

  /**
   * Does a part of the work.
   *
   * @throws Error when it takes longer than 1 s, or all steps together too long; and what the step throws
   */
  run<T>(step: () => T): T {
    if (this.#leftMs <= 0) throw new Error(`it takes longer than ${this.totalMs} ms`);
    const startedAt = performance.now();
    this.#sandbox['step'] = step;
    try {
      // Only a script of vm can be interrupted while a regular expression is backtracking.
      return runStep.runInContext(this.#sandbox, { timeout: MAX_STEP_MS }) as T;
    } finally {
      this.#leftMs -= performance.now() - startedAt;
    }
  }
}

const runStep = new vm.Script('step()');
