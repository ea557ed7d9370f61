import { splitSimpleCommand } from '../process/shellWords.js';
import type { HookRegistryEntry } from './hookRegistry.js';
import { isFromProject } from './identity.js';
import type { CommandHookConfig } from './types.js';

/** As `expandCommand` knows them. */
const EXTENSION_REFERENCE =
  /\$(?:extensionPath\b|workspacePath\b|\{(?:extensionPath|workspacePath|\/)\})/u;

const keys = new WeakMap<object, string>();

/**
 * The same text for hooks that would start the same: by the words of the command, the hook's own variables, its
 * dialect and moment, and its extension's folder where the command refers to it. `undefined` for a hook that starts nothing.
 */
export function commandKey(
  hook: Pick<
    CommandHookConfig,
    'type' | 'command' | 'env' | 'dialect' | 'moment' | 'extensionPath'
  >,
): string | undefined {
  if (hook.type !== 'command') return undefined;
  const known = keys.get(hook);
  if (known !== undefined) return known;
  const { command, env = {}, dialect, moment, extensionPath } = hook;
  const variables = Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const folder = EXTENSION_REFERENCE.test(command) ? extensionPath : undefined;
  const words = splitSimpleCommand(command) ?? command;
  const key = JSON.stringify([words, variables, dialect, moment, folder]);
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

function keyOf({ review, config }: HookRegistryEntry): string | undefined {
  return !review || review.status === 'allowed' ? commandKey(config) : undefined;
}
