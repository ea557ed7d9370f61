import { hookIdentity, isFromProject, scopeOf, type Provenance } from '../protocol/identity.js';
import { HOOK_SCOPES, type CommandHookConfig, type HookScope } from '../protocol/types.js';

/** A hook with the place where it was written, as registry entries are. */
export interface PlacedHook extends Provenance {
  readonly config: CommandHookConfig;
}

/** Whose hook a name means. Those of the host, or of a file that the user named, are the user's here. */
export function hookScope(hook: Provenance): HookScope {
  return scopeOf(hook) ?? 'user';
}

/** How `disabledHooks` names the hook of one scope, and no other that is called the same. */
export function scopedName(scope: HookScope, name: string): string {
  return `${scope}:${name}`;
}

/** The name in an entry of `disabledHooks`, whether or not it says a scope. */
export function plainName(entry: string): string {
  return entry.replace(SCOPE, '');
}

const SCOPE = new RegExp(`^(?:${HOOK_SCOPES.join('|')}):`, 'u');

/** What a project's `disabledHooks` means: hooks of the project, and never those of somebody else. */
export function ofProject(entry: string): string {
  return entry.startsWith('project:') ? entry : scopedName('project', entry);
}

/** Which hooks `disabledHooks` switches off. */
export interface Disabled {
  /** Whether it switches off a hook. */
  has(hook: PlacedHook): boolean;
  /**
   * Names without a scope that the project uses too. They switch off its hooks alone: it must not matter to somebody
   * else's guard what a project calls its hooks.
   */
  readonly shared: readonly string[];
  /** Names that a project has in its list, and that none of its hooks has, but somebody else's: they have no effect. */
  readonly foreign: readonly string[];
}

/** @param hooks all that there are, to see which names several scopes use */
export function readDisabled(list: readonly string[], hooks: readonly PlacedHook[]): Disabled {
  const nameOf = ({ config }: PlacedHook) => hookIdentity(config);
  const [own, others] = [true, false].map(
    (isOwn) => new Set(hooks.filter((hook) => isFromProject(hook) === isOwn).map(nameOf)),
  );
  return {
    has: (hook) => {
      const [name, scope] = [nameOf(hook), hookScope(hook)];
      const countsForAll = scope === 'project' || !own?.has(name);
      return list.includes(scopedName(scope, name)) || (countsForAll && list.includes(name));
    },
    shared: list.filter((name) => own?.has(name) && others?.has(name)),
    foreign: list
      .filter((entry) => entry.startsWith('project:'))
      .map(plainName)
      .filter((name) => !own?.has(name) && others?.has(name)),
  };
}
