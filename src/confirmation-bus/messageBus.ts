import { DebugLogger } from '../util/debugLogger.js';
import type {
  MessageBus,
  MessageBusMessage,
  MessageBusType,
  MessageHandler,
  Unsubscribe,
} from './types.js';

type AnyHandler = (message: MessageBusMessage) => void | Promise<void>;

/** A bus within one process. Handlers are called in the order of their subscriptions, synchronously. */
export class InProcessMessageBus implements MessageBus {
  readonly #handlers = new Map<MessageBusType, Set<AnyHandler>>();

  readonly #logger: DebugLogger;

  constructor(logger = new DebugLogger('llxprt:core:bus')) {
    this.#logger = DebugLogger.safe(logger);
  }

  /** A handler that throws or rejects is reported and does not keep the message from the others. */
  publish(message: MessageBusMessage): void {
    for (const handler of new Set(this.#handlers.get(message.type))) {
      void this.#deliver(handler, message);
    }
  }

  subscribe<T extends MessageBusType>(type: T, handler: MessageHandler<T>): Unsubscribe {
    // A new function for each subscription, so that one handler may subscribe twice.
    const deliver: AnyHandler = (message) => handler(message as Parameters<typeof handler>[0]);
    const handlers = this.#handlers.get(type) ?? new Set();
    this.#handlers.set(type, handlers.add(deliver));
    return () => void handlers.delete(deliver);
  }

  /** How many handlers are subscribed to a type. */
  listenerCount(type: MessageBusType): number {
    return this.#handlers.get(type)?.size ?? 0;
  }

  async #deliver(handler: AnyHandler, message: MessageBusMessage): Promise<void> {
    try {
      await handler(message);
    } catch (error) {
      const what = `A subscriber of "${message.type}" failed; the others are not affected`;
      this.#logger.warn(what, { error });
    }
  }
}
