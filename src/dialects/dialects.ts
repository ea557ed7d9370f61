import { events } from '../protocol/events.js';
import {
  DIALECT_NAMES,
  HookEventName,
  MOMENTS,
  type CommandHookConfig,
  type DialectName,
  type HookDefinition,
  type Moment,
} from '../protocol/types.js';
import { claude } from './claude.js';
import type { Dialect, MatcherReading } from './dialect.js';
import { gemini } from './gemini.js';

/**
 * All dialects, by the name that settings use. For another agent: add its name to `DIALECT_NAMES`, its tables in a file
 * of their own, which the type `Dialect` asks for one by one, and a line here.
 */
export const dialects: Readonly<Record<DialectName, Dialect>> = { claude, gemini };

/** The event that a key of settings means in groups of a dialect: by the dialect's name, or by ours. */
export function ourEventName(dialect: Dialect, name: string): HookEventName | undefined {
  const ours = Object.values(HookEventName);
  return (
    ours.find((event) => dialect.events[event] === name) ??
    foreignMoment(dialect, name)?.event ??
    ours.find((event) => event === name)
  );
}

/** The moment of one of our events for which a dialect has an event of this name. */
export function foreignMoment(
  dialect: Dialect,
  name: unknown,
): { readonly event: HookEventName; readonly moment: Moment } | undefined {
  const moment = MOMENTS.find((each) => dialect.moments[each]?.name === name);
  const event = moment && dialect.moments[moment]?.event;
  return event && { event, moment };
}

/** The key of our settings for groups that another agent has under this name: its own name only where we have none. */
export function settingsKey(dialect: Dialect, name: string): string | undefined {
  return foreignMoment(dialect, name) ? name : ourEventName(dialect, name);
}

/** The event that another agent calls by this name. */
export function foreignEvent(
  name: string,
): { readonly dialect: DialectName; readonly ours: HookEventName } | undefined {
  return DIALECT_NAMES.map((dialect) => ({
    dialect,
    ours: ourEventName(dialects[dialect], name),
  })).find(
    (known): known is { dialect: DialectName; ours: HookEventName } => known.ours !== undefined,
  );
}

/** What hooks of a dialect call an event, or a moment of it. */
export function theirEventName(dialect: Dialect, event: HookEventName, moment?: Moment): string {
  const apart = moment && dialect.moments[moment];
  return apart ? apart.name : (dialect.events[event] ?? event);
}

/** How the matcher of a group is read. Missing, empty and `*` match everything. */
export function readMatcher(
  { matcher, dialect }: Pick<HookDefinition, 'matcher' | 'dialect'>,
  event: HookEventName,
): MatcherReading {
  if (matcher === undefined || matcher === '' || matcher === '*') return 'all';
  if (dialect) return dialects[dialect].readMatcher(matcher, event);
  return { expression: matcher, otherwise: 'itself' };
}

/** What matchers of a dialect are compared with at an event without a tool: all that there is. */
export function theirSubjects(dialect: Dialect, event: HookEventName): readonly string[] {
  return (events[event].subjects ?? []).map((ours) => theirSubject(dialect, ours));
}

export function theirSubject({ subjects }: Dialect, ours: string): string {
  return subjects[ours] ?? ours;
}

/** How long a hook may run that says nothing of it, in ms; `undefined` in our own format, which has one for all. */
export function defaultTimeoutOf(
  { dialect }: Pick<CommandHookConfig, 'dialect'>,
  event: HookEventName,
): number | undefined {
  const limits = dialect && dialects[dialect].defaultTimeoutMs;
  return limits && (limits[event] ?? limits.otherwise);
}
