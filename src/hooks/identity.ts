import type { HookRegistryEntry } from './hookRegistry.js';
import { ConfigSource, type CommandHookConfig } from './types.js';

/** How a hook is called in lists, logs and `disabledHooks`: its name, else its command. */
export function hookIdentity(hook: Pick<CommandHookConfig, 'name' | 'command' | 'type'>): string {
  return hook.name || hook.command || hook.type;
}

/** Whether a hook came with the project, as opposed to one of the user, the system or the host. */
export function isFromProject({
  source,
  origin,
  extension,
}: Pick<HookRegistryEntry, 'source' | 'origin' | 'extension'>): boolean {
  if (source === ConfigSource.Extensions) return extension?.scope === 'project';
  return origin?.scope === 'project';
}
