import { constants } from 'node:os';

/** Work that SIGINT and SIGTERM end. */
export interface Interruption {
  /** Aborted by the first signal. The second ends the process. */
  readonly signal: AbortSignal;
  /** Gives the signals their usual meaning back. */
  dispose(): void;
}

/** Makes SIGINT and SIGTERM an `AbortSignal`. */
export function watchInterruption(): Interruption {
  const controller = new AbortController();
  const interrupt = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(128 + constants.signals[name]);
    controller.abort(new Error(`Interrupted by ${name}`));
  };
  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.on(name, interrupt);
  return {
    signal: controller.signal,
    dispose() {
      for (const name of names) process.off(name, interrupt);
    },
  };
}
