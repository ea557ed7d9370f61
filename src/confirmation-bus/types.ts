import type { Approval, ApprovalRequest } from '../protocol/approval.js';
import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import type { HookEventName } from '../protocol/types.js';

/** The kinds of message that a bus carries. */
export enum MessageBusType {
  /** Asks for an event to be fired. */
  HOOK_EXECUTION_REQUEST = 'hook-execution-request',
  /** Answers a request, with the same correlation id. */
  HOOK_EXECUTION_RESPONSE = 'hook-execution-response',
  /** Puts a question to whoever may answer it. */
  TOOL_CONFIRMATION_REQUEST = 'tool-confirmation-request',
  /** Answers a question, with the same correlation id. */
  TOOL_CONFIRMATION_RESPONSE = 'tool-confirmation-response',
  /** Says whether an answer counts. */
  TOOL_CONFIRMATION_RESULT = 'tool-confirmation-result',
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

/** Puts a question to whoever may answer it. The first right answer counts. */
export interface ToolConfirmationRequest {
  type: MessageBusType.TOOL_CONFIRMATION_REQUEST;
  /** That of the request. */
  correlationId: string;
  request: ApprovalRequest;
}

/** Answers a question. */
export interface ToolConfirmationResponse {
  type: MessageBusType.TOOL_CONFIRMATION_RESPONSE;
  correlationId: string;
  /** Of the question: an answer for another session does not count. */
  sessionId: string;
  approval: Approval;
}

/** Says whether an answer counts. Where it does not, the question stays as it was. */
export interface ToolConfirmationResult {
  type: MessageBusType.TOOL_CONFIRMATION_RESULT;
  correlationId: string;
  accepted: boolean;
  /** Present where it does not count. */
  error?: { code: ConfirmationErrorCode; message: string };
}

export type ConfirmationErrorCode =
  | 'CONFIRMATION_NOT_OPEN'
  | 'CONFIRMATION_ANSWERED'
  | 'CONFIRMATION_TOO_LATE'
  | 'CONFIRMATION_OTHER_SESSION'
  | 'CONFIRMATION_MALFORMED';

/** Everything that a bus carries. Messages are plain JSON, so that a broker can carry them too. */
export type MessageBusMessage =
  | HookExecutionRequest
  | HookExecutionResponse
  | ToolConfirmationRequest
  | ToolConfirmationResponse
  | ToolConfirmationResult;

/** The message of one kind. */
export type MessageOf<T extends MessageBusType> = Extract<MessageBusMessage, { type: T }>;

/** Takes a message; what it throws or rejects with concerns nobody else. */
export type MessageHandler<T extends MessageBusType> = (
  message: MessageOf<T>,
) => void | Promise<void>;

/** Ends a subscription. A second call does nothing. */
export type Unsubscribe = () => void | Promise<void>;

/** Carries messages between parts of a host, or between hosts. Both methods may be asynchronous. */
export interface MessageBus {
  /** Sends a message to everybody who subscribed to its type. */
  publish(message: MessageBusMessage): void | Promise<void>;
  /** Has a handler called with every message of a type, from now on. */
  subscribe<T extends MessageBusType>(
    type: T,
    handler: MessageHandler<T>,
  ): Unsubscribe | Promise<Unsubscribe>;
}
