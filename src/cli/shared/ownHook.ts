import { isRecord } from '../../util/records.js';

/** The command that an agent runs, with which our own entry in its settings can be told from others. */
const OWN_HOOK = /\b(?:hookstack|cli\.c?js)["']?\s+hook\s+--from[ =](?:claude|gemini)\b/;

/** Whether a command of an agent's settings runs all hooks of the project through `hookstack hook`. */
export function isOwnHook(command: unknown): boolean {
  return typeof command === 'string' && OWN_HOOK.test(command);
}

/** Whether there is nothing but such commands in the groups of an event. */
export function areOwnHooks(groups: unknown): boolean {
  if (!Array.isArray(groups) || groups.length === 0) return false;
  return groups.every((group) => {
    const hooks: unknown = isRecord(group) ? group['hooks'] : undefined;
    if (!Array.isArray(hooks) || hooks.length === 0) return false;
    return hooks.every((hook) => isRecord(hook) && isOwnHook(hook['command']));
  });
}
