import type * as RulesModule from './rules.js';
import { isConditional } from '../protocol/events.js';
import type { CommandHookConfig } from '../protocol/types.js';

type Rules = typeof RulesModule;

let loaded: Rules | undefined;
let loading: Promise<Rules> | undefined;

/** Whether a hook needs what reads conditions and rules; hosts whose hooks have none load nothing of it. */
export function usesRules(hook: CommandHookConfig): boolean {
  return hook.type === 'rule' || isConditional(hook);
}

/** Loads what reads conditions and rules, once. */
export function loadRules(): Promise<Rules> {
  return (loading ??= import('./rules.js').then((rules) => (loaded = rules)));
}

/** What `loadRules` has loaded; `undefined` before. */
export function loadedRules(): Rules | undefined {
  return loaded;
}
