import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The first signal aborts, the second ends the process. `dispose` restores the usual handling. */
export function watchInterruption(): { readonly signal: AbortSignal; dispose: () => void } {
  const controller = new AbortController();
  const interrupt = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(128 + constants.signals[name]);
    controller.abort(new Error(`Interrupted by ${name}`));
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  const dispose = () => {
    for (const name of SIGNALS) process.off(name, interrupt);
  };
  return { signal: controller.signal, dispose };
}
