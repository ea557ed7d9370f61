import { AsyncLocalStorage } from 'node:async_hooks';
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

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

/** HOME, unless that is empty, or relative and so in whatever project is open; then what the system knows, if anything. */
export function findHome(): string | undefined {
  for (const ask of [homedir, () => userInfo().homedir]) {
    try {
      const home = ask();
      if (isAbsolute(home)) return home;
    } catch {
      // The system does not know the user.
    }
  }
  return undefined;
}

/** @throws Error where the user has no home directory */
export function requireHome(): string {
  const home = findHome();
  if (home === undefined) throw new Error('there is no home directory: set HOME');
  return home;
}
