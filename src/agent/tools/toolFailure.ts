import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { runWithLimit } from '../../util/limitedRegExp.js';
import { printable } from './printable.js';

/** Thrown by tools; `result` becomes the result of the call. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';

  /** @param nextStep what the model can do about it */
  constructor(
    readonly type: ToolErrorType,
    message: string,
    readonly nextStep: string,
  ) {
    super(message);
  }

  get result() {
    const { type, message, nextStep } = this;
    return {
      llmContent: `Error: ${message} ${nextStep}`,
      returnDisplay: printable(message),
      error: { message, type },
    } satisfies ToolResult;
  }
}

export function cancelled(toolName: string): ToolFailure {
  return new ToolFailure(
    ToolErrorType.Cancelled,
    `${toolName} was cancelled.`,
    'It may have done a part of its work: check before you call it again.',
  );
}

/** The model asked for what makes no sense, or is not allowed. */
export function invalid(message: string, nextStep: string): ToolFailure {
  return new ToolFailure(ToolErrorType.InvalidParams, message, nextStep);
}

/** The work itself cannot be done. */
export function failed(message: string, nextStep: string): ToolFailure {
  return new ToolFailure(ToolErrorType.Failed, message, nextStep);
}

/** Limits the time of a search. `nextStep` tells the model what to do when it takes too long. */
export function limitedSteps(what: string, nextStep: string): <T>(step: () => T) => T {
  const limit = new StepLimit();
  return (step) => {
    try {
      return limit.run(step);
    } catch (error) {
      // After a timeout, an Error of another realm.
      const { message } = error as Error;
      throw invalid(`${what} could not be matched: ${message}.`, nextStep);
    }
  };
}

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
