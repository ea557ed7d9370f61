import { printable } from './printable.js';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';

/** What a step of a tool came to: its value, or the result that ends the call. */
export type Outcome<T> =
  | { readonly value: T; readonly failure?: undefined }
  | { readonly value?: undefined; readonly failure: ToolResult };

/** A result with an error, in plain text. */
export interface FailedResult extends ToolResult {
  llmContent: string;
  error: { message: string; type: ToolErrorType };
}

/**
 * The result of a call that did not do what it was asked to.
 *
 * @param message what happened, and to what
 * @param nextStep what the model can do about it
 */
export function fail(type: ToolErrorType, message: string, nextStep: string): FailedResult {
  return {
    llmContent: `Error: ${message} ${nextStep}`,
    returnDisplay: printable(message),
    error: { message, type },
  };
}

/** The result of a call that was ended by `ToolContext.signal`. */
export function cancelled(toolName: string): FailedResult {
  return fail(
    ToolErrorType.Cancelled,
    `${toolName} was cancelled.`,
    'It may have done a part of its work: check before you call it again.',
  );
}
