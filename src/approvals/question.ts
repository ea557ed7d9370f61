import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import { resolveOutput } from '../protocol/events.js';
import { hookIdentity } from '../protocol/identity.js';
import { sanitizeText } from '../protocol/sanitizeText.js';
import type { CommandHookConfig } from '../protocol/types.js';
import type { AskingHook } from './approval.js';

/** Whether the hooks of an event, taken together, want a person to be asked. */
export function isAsking({ finalOutput }: AggregatedHookResult): boolean {
  return finalOutput?.decision === 'ask' && !finalOutput.shouldStopExecution();
}

/** The hooks that want it, in their order. */
export function askingHooks(
  { results }: AggregatedHookResult,
  sourceOf: (hook: CommandHookConfig) => string,
): { readonly hooks: AskingHook[]; readonly isGuarded: boolean } {
  const asking = results.flatMap(({ hookConfig, eventName, output }) => {
    const said = output && resolveOutput(eventName, output);
    return said?.decision === 'ask' ? [{ hookConfig, reason: said.reason }] : [];
  });
  return {
    hooks: asking.map(({ hookConfig, reason }) => ({
      name: hookIdentity(hookConfig),
      source: sourceOf(hookConfig),
      ...(reason !== undefined && { reason: sanitizeText(reason) }),
    })),
    isGuarded: asking.some(({ hookConfig }) => hookConfig.onFailure === 'deny'),
  };
}
