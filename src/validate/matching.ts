import { namesToMatch, testMatcher, type PlanContext } from '../../middleware/planner.js';
import { dialects, readMatcher, theirSubject } from '../dialects/dialects.js';
import { events } from '../protocol/events.js';
import type { HookDefinition, HookEventName } from '../protocol/types.js';

/**
 * Whether the matcher of a group lets its hooks run, for those who look at settings and run nothing. One that cannot be
 * decided counts as not matching.
 */
export function matchesGroup(
  group: Pick<HookDefinition, 'matcher' | 'dialect'>,
  event: HookEventName,
  context: PlanContext,
): boolean {
  const reading = readMatcher(group, event);
  const names = namesToMatch(group.dialect, context);
  if (!names || reading === 'all') return true;
  return names.some((name) => testMatcher(reading, name, () => undefined) === 'yes');
}

/**
 * The names in a group's matcher that can never match at an event without a tool; an expression is named as a whole.
 */
export function findUnmatchableNames(
  group: Pick<HookDefinition, 'matcher' | 'dialect'>,
  event: HookEventName,
): { readonly idle: readonly string[]; readonly subjects: readonly string[] } {
  const reading = readMatcher(group, event);
  const { dialect, matcher = '' } = group;
  const { subjects: ours = [] } = events[event];
  const subjects = dialect ? ours.map((each) => theirSubject(dialects[dialect], each)) : [];
  if (subjects.length === 0 || reading === 'all') return { idle: [], subjects };
  if ('names' in reading) {
    return { idle: reading.names.filter((name) => name && !subjects.includes(name)), subjects };
  }
  const meets = subjects.some((each) => testMatcher(reading, each, () => undefined) === 'yes');
  return { idle: meets ? [] : [matcher], subjects };
}
