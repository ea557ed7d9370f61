import { events } from '../protocol/events.js';
import {
  DIALECT_NAMES,
  HookEventName,
  MOMENTS,
  type DialectName,
  type HookDefinition,
  type Moment,
} from '../protocol/types.js';
import { claude } from './claude.js';
import type { Dialect, MatcherReading } from './dialect.js';
import { gemini } from './gemini.js';

/** To add an agent: add its name to `DIALECT_NAMES`, a file with the tables that the type `Dialect` lists, and a line here. */
export const dialects: Readonly<Record<DialectName, Dialect>> = { claude, gemini };

/** The event that a key of settings means in groups of a dialect, which may use its own name or ours. */
export function ourEventName(dialect: Dialect, name: string): HookEventName | undefined {
  const ours = Object.values(HookEventName);
  return (
    ours.find((event) => dialect.events[event] === name) ??
    foreignMoment(dialect, name)?.event ??
    ours.find((event) => event === name)
  );
}

export function foreignMoment(
  dialect: Dialect,
  name: unknown,
): { readonly event: HookEventName; readonly moment: Moment } | undefined {
  const moment = MOMENTS.find((each) => dialect.moments[each]?.name === name);
  const event = moment && dialect.moments[moment]?.event;
  return event && { event, moment };
}

/** The key of our settings for groups that another agent has under this name. Moments have no name of ours. */
export function settingsKey(dialect: Dialect, name: string): string | undefined {
  return foreignMoment(dialect, name) ? name : ourEventName(dialect, name);
}

/** The event that another agent calls by this name. */
export function foreignEvent(
  name: string,
): { readonly dialect: DialectName; readonly ours: HookEventName } | undefined {
  for (const dialect of DIALECT_NAMES) {
    const ours = ourEventName(dialects[dialect], name);
    if (ours) return { dialect, ours };
  }
  return undefined;
}

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

/** Finds names of another agent's tools that we do not have, in the matcher of a group that names no dialect. */
export function speakerOf(matcher: string): string | undefined {
  const names = matcher.match(/[\w-]+/gu) ?? [];
  for (const [dialect, { agent, tools }] of Object.entries(dialects)) {
    const name = names.find((each) =>
      tools.some(({ ours, theirs }) => ours !== each && theirs.includes(each)),
    );
    if (name !== undefined) return `${name} is a tool of ${agent}: set "dialect": "${dialect}"`;
  }
  return undefined;
}

/** Whether a tool has a name of ours, so that matchers meet it whatever its agent calls it. */
export function isKnownTool(ours: string): boolean {
  return Object.values(dialects).some(({ tools }) => tools.some((words) => words.ours === ours));
}

/** All words that matchers of a dialect may be compared with at an event without a tool. */
export function theirSubjects(dialect: Dialect, event: HookEventName): readonly string[] {
  return (events[event].subjects ?? []).map((ours) => theirSubject(dialect, ours));
}

export function theirSubject({ subjects }: Dialect, ours: string): string {
  return subjects[ours] ?? ours;
}
