import { expandCommand } from '../process/expandCommand.js';
import { splitSimpleCommand } from '../process/shellWords.js';
import type { HookRegistryEntry } from './hookRegistry.js';
import { isFromProject } from './identity.js';
import type { CommandHookConfig } from './types.js';

/** As `expandCommand` knows it. */
const EXTENSION_REFERENCE = /\$(?:extensionPath\b|\{extensionPath\})/u;

const keys = new WeakMap<object, string>();

/**
 * The same text for hooks that would start the same: by the words of the command, the hook's own variables, its
 * dialect, and its extension's folder where the command refers to it. `undefined` for a hook that starts nothing.
 */
export function commandKey(
  hook: Pick<CommandHookConfig, 'type' | 'command' | 'env' | 'dialect' | 'extensionPath'>,
): string | undefined {
  if (hook.type !== 'command') return undefined;
  const known = keys.get(hook);
  if (known !== undefined) return known;
  const { command, env = {}, dialect, extensionPath } = hook;
  const variables = Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const folder = EXTENSION_REFERENCE.test(command) ? extensionPath : undefined;
  const expanded = expandCommand(command, extensionPath === undefined ? 'project' : 'extension');
  const words = splitSimpleCommand(expanded) ?? expanded;
  const key = JSON.stringify([words, variables, dialect, folder]);
  keys.set(hook, key);
  return key;
}

/**
 * The entry that runs in the place of each, as a command runs once for an event: the first of the same command that
 * the project did not bring, else the first. A hook that only denies, because it has changed, stands for itself.
 *
 * @param entries those that are to run for an event, in plan order
 */
export function findSubstitutes(
  entries: readonly HookRegistryEntry[],
): ReadonlyMap<HookRegistryEntry, HookRegistryEntry> {
  const counted = new Map<string | undefined, HookRegistryEntry>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const first = counted.get(key);
    if (!first || (isFromProject(first) && !isFromProject(entry))) counted.set(key, entry);
  }
  return new Map(
    entries.map((entry) => {
      const key = keyOf(entry);
      return [entry, (key === undefined ? undefined : counted.get(key)) ?? entry];
    }),
  );
}

/** The entries that run in the place of a guard, and therefore as one. */
export function findGuards(
  substitutes: ReadonlyMap<HookRegistryEntry, HookRegistryEntry>,
): ReadonlySet<HookRegistryEntry> {
  const guards = [...substitutes].filter(([{ config }]) => config.onFailure === 'deny');
  return new Set(guards.map(([, substitute]) => substitute));
}

function keyOf({ review, config }: HookRegistryEntry): string | undefined {
  return !review || review.status === 'allowed' ? commandKey(config) : undefined;
}
