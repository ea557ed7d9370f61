import { AsyncLocalStorage } from 'node:async_hooks';
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
  type Surroundings,
} from './preparedInput.js';
import type { FindObjection } from './startAhead.js';

export { PersistentHooks };

/** MB of resident memory after which a kept process is started anew, where its settings say nothing. */
export const MAX_MEMORY = 512;

/** Whether a hook's process was started for an event, or had answered another one before. */
export type ProcessAge = 'new' | 'kept';

interface AgeNote {
  age?: ProcessAge;
}

const notes = new AsyncLocalStorage<AgeNote>();

/** Does some work in which a hook runs, and says in `note` how old the process of a persistent one was. */
export function notingAge<T>(note: AgeNote, work: () => T): T {
  return notes.run(note, work);
}

interface Keeping extends Surroundings {
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
  const kept = { ...keptHook(hook, warnOnce, findObjection), spawner };
  const running = persistent?.run(hook, kept, command) ?? runOrdinary(command, spawner);
  const note = notes.getStore();
  return note ? withAge(running, note) : running;
}

async function withAge(running: Promise<CommandOutcome>, note: AgeNote): Promise<CommandOutcome> {
  const outcome = await running;
  if (outcome.kept) note.age = outcome.kept.isNew ? 'new' : 'kept';
  return outcome;
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
