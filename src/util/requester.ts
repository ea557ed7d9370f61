import { AsyncLocalStorage } from 'node:async_hooks';

/** A process for which this one does some work, such as an agent's hook command for which the resident answers. */
export interface RequestingProcess {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Takes what is written to its stderr. Default: the stderr of whoever asked before. */
  readonly writeError?: ((text: string) => void) | undefined;
}

const requesters = new AsyncLocalStorage<RequestingProcess>();

/** Does some work for another process, with its environment, and its stderr. */
export function onBehalfOf<T>(requester: RequestingProcess, work: () => T): T {
  return requesters.run({ writeError: requesters.getStore()?.writeError, ...requester }, work);
}

/** The environment of whoever asked for what is being done: of this process, unless it works for another one. */
export function hostEnvironment(): Readonly<NodeJS.ProcessEnv> {
  return requesters.getStore()?.env ?? process.env;
}

/** Writes to the stderr of whoever asked for what is being done. */
export function writeError(text: string): void {
  const write = requesters.getStore()?.writeError;
  if (write) write(text);
  else process.stderr.write(text);
}
