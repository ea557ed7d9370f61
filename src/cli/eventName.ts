import { suggestName } from '../config/suggestName.js';
import { foreignEvent } from '../dialects/words.js';
import { isHookEventName } from '../hooks/events.js';
import { HookEventName } from '../hooks/types.js';
import { UsageError } from './usageError.js';

/** @throws UsageError when there is no such event */
export function requireEvent(name: string): HookEventName {
  if (isHookEventName(name)) return name;
  const foreign = foreignEvent(name);
  if (foreign) throw new UsageError(`"${name}" is not an event here; use '${foreign.ours}'`);
  const hint = suggestName(name, Object.values(HookEventName));
  throw new UsageError(`There is no event "${name}"; ${hint}`);
}
