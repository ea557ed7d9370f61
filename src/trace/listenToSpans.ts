import { channels, SPAN_KINDS, type Span } from './span.js';

/**
 * Calls a listener with every span of this process that ends.
 *
 * @param listener must not throw, as that would end the process
 * @returns what ends the listening
 */
export function listenToSpans(listener: (span: Span) => void): () => void {
  const listen = (message: unknown) => listener(message as Span);
  for (const kind of SPAN_KINDS) channels[kind].asyncEnd.subscribe(listen);
  return () => {
    for (const kind of SPAN_KINDS) channels[kind].asyncEnd.unsubscribe(listen);
  };
}
