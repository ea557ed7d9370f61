import type { CommandHookConfig } from './types.js';

/** How a hook is called in lists, logs and `disabledHooks`: its name, else its command. */
export function hookIdentity(hook: Pick<CommandHookConfig, 'name' | 'command' | 'type'>): string {
  return hook.name || hook.command || hook.type;
}
