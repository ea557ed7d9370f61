import { planContext } from '../../../middleware/planner.js';
import { engineOf } from '../../hooks/fireHook.js';
import { hookIdentity } from '../../protocol/identity.js';
import type { HookEventName, HookPayload } from '../../protocol/types.js';
import { asWord } from '../../util/quoteWord.js';
import { findReasons } from './explanation.js';
import { toVisible } from './terminal.js';
import { openRegistry, type Workspace } from './workspace.js';

/** A hook of an event that did not run for it. */
interface NotRun {
  readonly hook: string;
  readonly reason: string;
  /** Whatever the call is: it is disabled, or not allowed. */
  readonly isOff: boolean;
}

interface Idleness {
  /** All that are configured for the event. */
  readonly hooks: readonly string[];
  readonly notRun: readonly NotRun[];
}

/** Which hooks did not run for an event, and why: the reasons of `explain`. */
export async function findNotRun<E extends HookEventName>(
  { config, origins }: Workspace,
  event: E,
  payload: HookPayload<E>,
): Promise<Idleness> {
  // The one that the event was fired with: what reading the hooks warns of was told then.
  const registry = engineOf(config.getHookSystem())?.registry ?? (await openRegistry(config));
  const { reasons } = findReasons(registry, origins, event, planContext({ event, payload }));
  const notRun = reasons.flatMap(({ entry, reason, isOff }) =>
    reason === null ? [] : { hook: hookIdentity(entry.config), reason, isOff },
  );
  return { hooks: reasons.map(({ entry }) => hookIdentity(entry.config)), notRun };
}

/** Says of an event for which no hook ran which of the three it is, and where there is more to read. */
export function describeNothingRan<E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
  { hooks, notRun }: Idleness,
): string {
  const { toolName } = planContext({ event, payload }) ?? {};
  const of = toolName === undefined ? event : `${event} of ${toVisible(toolName)}`;
  const tool = toolName === undefined ? '' : ` --tool ${toVisible(asWord(toolName))}`;
  return [
    `No hook ran for ${of}: ${whichOfThree(event, hooks.length, notRun)}.`,
    ...notRun.map(({ hook, reason }) => `  ${toVisible(hook)}: ${toVisible(reason)}`),
    `More: hookstack explain ${event}${tool}`,
  ].join('\n');
}

function whichOfThree(event: HookEventName, configured: number, notRun: readonly NotRun[]): string {
  if (configured === 0) return `none is configured for ${event}`;
  if (notRun.length < configured) return 'something before the hooks has ended the event';
  const off = notRun.filter(({ isOff }) => isOff).length;
  if (off === 0) return 'none matches';
  return off === configured ? 'none is on and allowed' : 'none is on, allowed and matching';
}
