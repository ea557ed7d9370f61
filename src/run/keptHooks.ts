import { runOrdinary } from '../process/persistent/ordinary.js';
import { PersistentHooks, type KeptHook } from '../process/persistent/persistentHooks.js';
import type { CommandOptions, CommandOutcome } from '../process/command/runCommand.js';
import type { CommandHookConfig, PersistentOptions } from '../protocol/types.js';
import type { HookRun } from './hookRun.js';
import {
  buildHookEnvironment,
  hookDepth,
  MAX_HOOK_DEPTH,
  startOptions,
  type SessionFields,
  type HookPlace,
} from './preparedInput.js';
import type { FindObjection } from './startAhead.js';

export { PersistentHooks };

/** MB of resident memory after which a kept process is started anew, where its settings say nothing. */
export const MAX_MEMORY = 512;

interface Keeping extends HookPlace {
  readonly persistent?: PersistentHooks;
  readonly findObjection?: FindObjection;
  readonly spawner?: boolean;
}

/** Has an event answered by a process that is kept for its hook, or started for it alone. */
export function runKept(
  { hook, warnOnce }: HookRun,
  command: CommandOptions,
  { persistent, findObjection, spawner }: Keeping,
): Promise<CommandOutcome> {
  const kept = keptHook(hook, warnOnce, findObjection);
  return persistent?.run(hook, kept, command) ?? runOrdinary(command, spawner);
}

/** Starts the processes of hooks that are kept and say `prestart`. Nobody waits for that. */
export function prestartKept(
  hooks: readonly CommandHookConfig[],
  input: SessionFields,
  { persistent, findObjection, environment, directory: ofHost }: Keeping,
): void {
  const eager = hooks.filter(({ prestart, persistent: isKept }) => prestart && isKept);
  if (eager.length === 0 || !persistent || hookDepth() >= MAX_HOOK_DEPTH) return;
  const directory = ofHost?.() ?? input.cwd;
  const env = buildHookEnvironment(environment, directory);
  for (const hook of eager) {
    const options = startOptions(hook, { input, directory, env });
    // What is wrong is told at its first event.
    const kept = keptHook(hook, () => undefined, findObjection);
    void persistent.prestart(hook, kept, options);
  }
}

/** How many processes of a persistent hook are kept, and the MB of each after which it is started anew. */
export function keptSettings({
  persistent,
}: Pick<CommandHookConfig, 'persistent'>): Required<PersistentOptions> {
  const { processes = 1, maxMemory = MAX_MEMORY } =
    typeof persistent === 'object' ? persistent : {};
  return { processes, maxMemory };
}

function keptHook(
  hook: CommandHookConfig,
  warn: (message: string) => void,
  findObjection: FindObjection | undefined,
): KeptHook {
  return {
    ...keptSettings(hook),
    warn,
    ...(findObjection && { findObjection: () => findObjection(hook) }),
  };
}
