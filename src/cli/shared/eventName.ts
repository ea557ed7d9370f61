import { suggestName } from '../../util/suggestName.js';
import { DIALECT_NAMES, HookEventName, type Moment } from '../../protocol/types.js';
import { foreignEvent, foreignMoment, dialects } from '../../dialects/dialects.js';
import { isHookEventName } from '../../protocol/events.js';
import { UsageError } from './usageError.js';

/**
 * @returns a moment of an event where only another agent has one of this name
 * @throws UsageError when neither we nor another agent has such an event
 */
export function requireNamedEvent(name: string): { event: HookEventName; moment?: Moment } {
  for (const dialect of DIALECT_NAMES) {
    const found = foreignMoment(dialects[dialect], name);
    if (found) return found;
  }
  if (isHookEventName(name)) return { event: name };
  const foreign = foreignEvent(name);
  if (foreign) throw new UsageError(`"${name}" is not an event here; use '${foreign.ours}'`);
  const hint = suggestName(name, Object.values(HookEventName));
  throw new UsageError(`There is no event "${name}"; ${hint}`);
}
