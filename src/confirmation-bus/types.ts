import type {
  HookExecutionRequest,
  HookExecutionResponse,
  MessageBusType,
  ToolConfirmationRequest,
  ToolConfirmationResponse,
  ToolConfirmationResult,
} from '../protocol/hookBusContracts.js';

export { MessageBusType } from '../protocol/hookBusContracts.js';

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
