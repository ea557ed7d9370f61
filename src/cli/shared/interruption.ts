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

/** Has SIGHUP end nothing, also while a server begins and ends. */
export class Hangups {
  #isDue = false;
  #work: (() => unknown) | undefined;
  readonly #hear = () => void (this.#work ? this.#work() : (this.#isDue = true));

  constructor() {
    process.on('SIGHUP', this.#hear);
  }

  /** Has each cause some work from now on, also one that came before. */
  cause(work: () => unknown): void {
    this.#work = work;
    if (this.#isDue) work();
  }

  dispose(): void {
    process.off('SIGHUP', this.#hear);
  }
}
