/** Carries messages between parts of a host. */
export interface MessageBus {
  /** Sends a message to everybody who subscribed to its type. */
  publish(message: { readonly type: string }): void | Promise<void>;
}
