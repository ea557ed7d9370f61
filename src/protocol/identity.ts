import { REFERENCE } from '../shell/expandCommand.js';
import { quoteWord } from '../util/quoteWord.js';
import type { HookRegistryEntry } from './entry.js';
import { ConfigSource, type CommandHookConfig } from './types.js';

/** How a hook is called in lists, logs and `disabledHooks`: its name, else its command. */
export function hookIdentity(
  hook: Pick<CommandHookConfig, 'name' | 'command' | 'args' | 'type'>,
): string {
  return hook.name || commandLine(hook) || hook.type;
}

/** A command for people: as it was written, or a program with its arguments, as one would type them. */
export function commandLine({
  command,
  args,
}: Pick<CommandHookConfig, 'command' | 'args'>): string {
  return args ? [command, ...args].map(quoteOddWord).join(' ') : command;
}

const REFERENCES = new RegExp(REFERENCE, 'g');

/** References are expanded, and so stand outside of the quotes in which they would not be. */
function quoteOddWord(word: string): string {
  const isPlain = word !== '' && !/[^\w@%+:,./=-]/.test(word.replaceAll(REFERENCES, ''));
  return isPlain ? word : quoteWord(word);
}

/** The same for a message: a long command must not hide what the message says. */
export function shortIdentity(hook: Pick<CommandHookConfig, 'name' | 'command' | 'type'>): string {
  const identity = hookIdentity(hook);
  return identity.length > MAX_SHOWN ? `${identity.slice(0, MAX_SHOWN)}…` : identity;
}

/** Characters of a name or a command in a message, at most. */
const MAX_SHOWN = 60;

/** Whether a hook came with the project, as opposed to one of the user, the system or the host. */
export function isFromProject({
  source,
  origin,
  extension,
}: Pick<HookRegistryEntry, 'source' | 'origin' | 'extension'>): boolean {
  if (source === ConfigSource.Extensions) return extension?.scope === 'project';
  return origin?.scope === 'project';
}
