import type { Extension } from '../hooks/entry.js';
import type { HookDefinitions } from '../protocol/types.js';
import type { Settings } from './settings/settingsKeys.js';

interface Asking {
  readonly hooks?: HookDefinitions;
  readonly extensions?: readonly Extension[];
  readonly fleet?: Settings['fleet'];
}

/**
 * The variables that hold tokens of remote hooks and of the fleet, by name. What a host passes is checked later. A
 * project does not decide what is masked: it could make everything unreadable.
 */
export function tokenVariablesOf({ hooks, extensions = [], fleet }: Asking): readonly string[] {
  const definitions = [hooks, ...extensions.map(hooksOf)];
  const groups = definitions
    .flatMap((each) => Object.values(each ?? {}))
    .flat()
    .filter((group) => group?.origin?.scope !== 'project');
  const all = [...groups.flatMap((group) => group?.hooks ?? []), fleet];
  const named = all.map((each) => each?.tokenVariable).filter((name) => typeof name === 'string');
  return named.filter((name) => /^\w+$/u.test(name));
}

/** An extension that cannot be read is reported where its hooks are registered. */
function hooksOf(extension: Extension): HookDefinitions | undefined {
  try {
    return extension.scope === 'project' ? undefined : extension.hooks;
  } catch {
    return undefined;
  }
}
