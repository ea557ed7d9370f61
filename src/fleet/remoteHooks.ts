import type { HookRun } from '../run/hookRun.js';
import type * as Server from './askServer.js';
import type { AskOptions } from './askServer.js';

let loaded: Promise<typeof Server> | undefined;

/**
 * Asks the server of a remote hook, and writes into `run` what a command that says the same would have come to. What asks
 * is loaded with the first of them, as most hosts have none.
 *
 * @param run whose hook has a `url`
 * @param input what a command would read on stdin
 */
export async function askRemote(
  run: HookRun,
  input: Uint8Array,
  options: AskOptions,
): Promise<void> {
  const { askServer } = await (loaded ??= import('./askServer.js'));
  Object.assign(run, await askServer(run, input, options));
}

/** Closes connections on which nobody waits for an answer. The next question opens another one. */
export async function closeIdleConnections(): Promise<void> {
  const asking = await loaded;
  await asking?.closeIdle();
}
