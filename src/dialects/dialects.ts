import {
  DIALECT_NAMES,
  HookEventName,
  type DialectName,
  type HookDefinition,
  type Moment,
} from '../protocol/types.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { copilot } from './copilot.js';
import { vscode } from './vscode.js';
import { cursor } from './cursor.js';
import { antigravity } from './antigravity.js';
import { droid } from './droid.js';
import { qwen } from './qwen.js';
import { openhands } from './openhands.js';
import { devin } from './devin.js';
import { windsurf } from './windsurf.js';
import { kiro } from './kiro.js';
import { goose } from './goose.js';
import { cline } from './cline.js';
import { opencode } from './opencode.js';
import type { Dialect, EventWords, MatcherReading } from './dialect.js';
import { gemini } from './gemini.js';

/** To add an agent: add its name to `DIALECT_NAMES`, a file with the tables that the type `Dialect` lists, and a line here. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  claude,
  gemini,
  codex,
  copilot,
  vscode,
  cursor,
  antigravity,
  droid,
  qwen,
  openhands,
  devin,
  windsurf,
  kiro,
  goose,
  cline,
  opencode,
};

/** What an agent calls an event of ours, or a moment of it where it tells that apart. */
export function eventWords(
  dialect: Dialect,
  event: HookEventName,
  moment?: Moment,
  tool = '',
): EventWords | undefined {
  const find = (wanted: Moment | undefined) =>
    dialect.events.find(
      ({ event: ours, moment: own, about }) =>
        ours === event && own === wanted && (about === undefined || about.test(tool)),
    );
  return (moment && find(moment)) ?? find(undefined);
}

export function theirEventName(dialect: Dialect, event: HookEventName, moment?: Moment): string {
  return eventWords(dialect, event, moment)?.name ?? event;
}

/** The event that an agent sends by this name. */
export function sentEvent(dialect: Dialect, name: unknown): EventWords | undefined {
  const { events, sentOnly = [] } = dialect;
  return [...events, ...sentOnly].find(({ name: own, sentAs = own }) => sentAs === name);
}

/** The event that a key of settings means in groups of a dialect, which may use its own name or ours. */
export function ourEventName(dialect: Dialect, name: string): HookEventName | undefined {
  const words = dialect.events.find((each) => each.name === name);
  if (words) return words.event;
  return Object.values(HookEventName).find((event) => event === name);
}

export function foreignMoment(
  dialect: Dialect,
  name: unknown,
): { readonly event: HookEventName; readonly moment: Moment } | undefined {
  const { event, moment } = sentEvent(dialect, name) ?? {};
  return event && moment && { event, moment };
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

/** How the matcher of a group is read. Missing, empty and `*` match everything. */
export function readMatcher(
  { matcher, dialect }: Pick<HookDefinition, 'matcher' | 'dialect'>,
  event: HookEventName,
): MatcherReading {
  if (matcher === undefined || matcher === '' || matcher === '*') return 'all';
  if (dialect) return dialects[dialect].readMatcher(matcher, event);
  return { expression: matcher, otherwise: 'itself' };
}

export function theirSubject({ subjects }: Dialect, ours: string): string {
  return subjects[ours] ?? ours;
}
