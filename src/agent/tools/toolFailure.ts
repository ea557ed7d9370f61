import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { printable } from './printable.js';
import { StepLimit } from './stepLimit.js';

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
