import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';

/** What is used of a stream for texts; on a terminal, it has columns. */
export interface TextStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A process for which this one does some work, such as an agent's hook command for which the resident answers. */
export interface RequestingProcess {
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  readonly stdin?: Readable & { readonly isTTY?: boolean };
  readonly stdout?: TextStream;
  readonly stderr?: TextStream;
}

const requesters = new AsyncLocalStorage<RequestingProcess>();

/** Does some work for another process. What that does not say is as whoever asked before has it. */
export function onBehalfOf<T>(requester: RequestingProcess, work: () => T): T {
  // A store that nobody needs makes each promise of the process slow on Node.js 20 and 22.
  if (Object.keys(requester).length === 0) return work();
  return requesters.run({ ...requesters.getStore(), ...requester }, work);
}

/** Whoever asked for what is being done, unless that is this process alone. */
export function findRequester(): RequestingProcess | undefined {
  return requesters.getStore();
}

/** The environment of whoever asked for what is being done: of this process, unless it works for another one. */
export function hostEnvironment(): Readonly<NodeJS.ProcessEnv> {
  return findRequester()?.env ?? process.env;
}
