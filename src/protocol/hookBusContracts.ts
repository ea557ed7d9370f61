import type { AggregatedHookResult } from './hookOutput.js';
import type { HookEventName } from './types.js';

/** The kinds of message that a bus carries. */
export enum MessageBusType {
  /** Asks for an event to be fired. */
  HOOK_EXECUTION_REQUEST = 'hook-execution-request',
  /** Answers a request, with the same correlation id. */
  HOOK_EXECUTION_RESPONSE = 'hook-execution-response',
}

/** Asks for an event to be fired. */
export interface HookExecutionRequest {
  type: MessageBusType.HOOK_EXECUTION_REQUEST;
  eventName: HookEventName;
  /**
   * The event's own fields, named as scripts read them: `tool_name`, `tool_input`, …. Requests and responses of the
   * model are those of the SDK. The common fields (`session_id`, `cwd`, …) come from the `Config` of the answerer.
   */
  input: Record<string, unknown>;
  /** Names the request; the response carries the same. One is made up where it is missing. */
  correlationId: string;
}

/** What became of a requested event. */
export interface HookExecutionResponse {
  type: MessageBusType.HOOK_EXECUTION_RESPONSE;
  correlationId: string;
  /** Whether the hooks were healthy. Not whether they allow the operation: ask `output.finalOutput`. */
  success: boolean;
  /**
   * What a direct call returns, with errors as `{ name, message }`. Where the event could not be processed, a failure
   * envelope: its `finalOutput` denies if a guard (`onFailure: "deny"`) could not be asked, and is absent otherwise.
   */
  output?: AggregatedHookResult;
  /**
   * Present when the event could not be processed, as opposed to a hook that failed. `details` is a list of
   * `{ path, message }` for fields of the request that are wrong, otherwise `{ stage, event }`.
   */
  error?: {
    code?: string;
    message: string;
    details?: unknown;
  };
}
