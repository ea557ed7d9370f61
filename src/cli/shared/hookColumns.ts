import type { SettingsOrigins } from '../../config/settings/settings.js';
import type { HookRegistry } from '../../hooks/hookRegistry.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { deadlineOf } from '../../run/preparedInput.js';
import { hookScope, scopedName } from '../../hooks/disabledHooks.js';
import { commandLine, hookIdentity } from '../../protocol/identity.js';
import { findSubstitutes } from '../../run/sameCommand.js';
import { isAsync } from '../../protocol/events.js';
import { HookEventName } from '../../protocol/types.js';
import { keptSettings, MAX_MEMORY } from '../../run/startAhead.js';
import { asWord } from '../../util/quoteWord.js';
import { plural, toVisible } from './terminal.js';

interface Listed {
  readonly entry: HookRegistryEntry;
  readonly enableHooks: boolean;
  /** Which files switch hooks off; without them, no file is named. */
  readonly origins?: SettingsOrigins;
  /** Runs in its place, where both match; else the entry itself. */
  readonly substitute: HookRegistryEntry;
  readonly count?: TraceCount;
}

export interface TraceCount {
  readonly fired: number;
  readonly lastVerdict: string | null;
}

/** The columns of `hookstack list`, in order: name in JSON, value, and text for readers. `explain` has most of them. */
const COLUMNS = {
  event: column(({ entry }) => entry.eventName),
  hook: column(({ entry }) => hookIdentity(entry.config)),
  command: column(({ entry: { config } }) => config.command || commandLine(config)),
  args: column(({ entry }) => entry.config.args ?? null),
  source: column(({ entry }) => entry.origin?.scope ?? entry.source),
  file: column(({ entry }) => entry.origin?.file ?? null),
  extension: column(({ entry }) => entry.extension?.name ?? null),
  matcher: column(
    ({ entry }) => entry.matcher ?? null,
    (matcher) => `matcher: ${matcher === null ? 'all' : JSON.stringify(matcher)}`,
  ),
  verdict: column(
    ({ entry }) => verdictText(entry.config),
    (verdict) => verdict !== null && `rule: ${verdict}`,
  ),
  when: column(
    ({ entry }) => listsOf(entry.config),
    (lists) => lists.length > 0 && `when: ${conditionText(lists)}`,
  ),
  timeoutMs: column(
    ({ entry: { config, eventName } }) =>
      config.type === 'rule' ? null : deadlineOf(config, eventName).timeoutMs,
    (timeoutMs) => timeoutMs !== null && `timeout: ${timeoutMs} ms`,
  ),
  sequential: column(
    ({ entry }) => entry.sequential ?? false,
    (sequential) => sequential && 'sequential',
  ),
  dialect: column(
    ({ entry }) => entry.config.dialect ?? null,
    (dialect) => dialect && `dialect: ${dialect}`,
  ),
  moment: column(
    ({ entry }) => entry.config.moment ?? null,
    (moment) => moment && `moment: ${moment}`,
  ),
  persistent: column(
    ({ entry: { config } }) => (config.persistent ? keptSettings(config) : null),
    (settings) => settings && `persistent${formatKept(settings)}`,
  ),
  async: column(
    ({ entry: { config, eventName } }) =>
      isAsync(config, eventName) ? (config.asyncRewake ? 'asyncRewake' : 'async') : null,
    (how) => how,
  ),
  class: column(
    ({ entry: { review } }) => (review && review.status !== 'refused' ? review.class : null),
    (consent) => consent && `consent: ${consent}`,
  ),
  enabled: column(({ entry, enableHooks }) => findReason(entry, enableHooks) === null),
  reason: column(({ entry, enableHooks, origins }) => findReason(entry, enableHooks, origins)),
  duplicateOf: column(
    ({ entry, substitute }) => (substitute === entry ? null : hookIdentity(substitute.config)),
    (name) => name !== null && `runs once where "${name}" matches too`,
  ),
  fired: column(
    ({ count }) => count?.fired,
    (fired) => (fired === 0 ? 'not fired in the trace' : `fired ${plural(fired ?? 0, 'time')}`),
  ),
  lastVerdict: column(
    ({ count }) => count?.lastVerdict,
    (verdict) => verdict && `last verdict: ${verdict}`,
  ),
};

export type ColumnName = keyof typeof COLUMNS;

export type ListedHook = {
  readonly [Name in ColumnName]: ReturnType<(typeof COLUMNS)[Name]['value']>;
};

/** The lists of patterns that let a hook run, its group's first: each has to match. */
export function listsOf({ groupWhen, when }: HookRegistryEntry['config']): readonly string[][] {
  return [groupWhen, when].flatMap((list) => (list === undefined ? [] : [[list].flat()]));
}

/** Guards that are ready to use have a hundred patterns, which nobody reads in a list. */
const MAX_PATTERNS = 8;

/** Conditions for people. */
export function conditionText(lists: readonly (readonly string[])[]): string {
  const texts = lists.map((patterns) => {
    const shown = patterns.slice(0, MAX_PATTERNS).join(', ');
    return patterns.length > MAX_PATTERNS ? `${shown}, … (${patterns.length} patterns)` : shown;
  });
  return texts.join('; and ');
}

/** What a rule does, in words; `null` for other hooks. */
function verdictText({
  type,
  decision,
  reason,
  redact = [],
  set = {},
  expr,
}: HookRegistryEntry['config']): string | null {
  if (type !== 'rule') return null;
  const names = Object.keys(set);
  const parts = [
    ...(decision
      ? [reason === undefined ? decision : `${decision}, ${JSON.stringify(reason)}`]
      : []),
    ...(redact.length > 0 ? [`redacts ${plural(redact.length, 'pattern')}`] : []),
    ...(names.length > 0 ? [`sets ${names.join(', ')}`] : []),
  ];
  return `${parts.join('; ')}${expr === undefined ? '' : `, where ${expr} holds at the event`}`;
}

/** @param text nothing is shown where it is empty */
function column<T>(
  value: (listed: Listed) => T,
  text: (value: T) => string | false | null | undefined = () => '',
) {
  return { value, text: (seen: unknown) => text(seen as T) };
}

/** What differs from the defaults. */
function formatKept({ processes, maxMemory }: ReturnType<typeof keptSettings>): string {
  const facts = [
    processes > 1 && `${processes} processes`,
    maxMemory !== MAX_MEMORY && `${maxMemory} MB`,
  ].filter(Boolean);
  return facts.length > 0 ? ` (${facts.join(', ')})` : '';
}

/** @param about default: hooks are on, and no other hook takes its place */
export function describeEntry(
  entry: HookRegistryEntry,
  about: Partial<Omit<Listed, 'entry'>> = {},
): ListedHook {
  const listed = { entry, enableHooks: true, substitute: entry, ...about };
  const fields = Object.entries(COLUMNS).map(([name, { value }]) => [name, value(listed)]);
  return Object.fromEntries(fields) as ListedHook;
}

export function columnTexts(hook: Partial<ListedHook>): string {
  const texts = Object.entries(COLUMNS).map(([name, { text }]) => {
    const value = hook[name as ColumnName];
    return value === undefined ? '' : text(value);
  });
  return toVisible(texts.filter(Boolean).join(', '));
}

export function describeEntries(
  registry: HookRegistry,
  { enableHooks, origins }: Pick<Listed, 'enableHooks' | 'origins'>,
  countOf?: (event: string, hook: string) => TraceCount,
): ListedHook[] {
  return Object.values(HookEventName).flatMap((event) => {
    const ofEvent = registry.getAllHooks().filter(({ eventName }) => eventName === event);
    const substitutes = findSubstitutes(ofEvent.filter(({ enabled }) => enabled));
    return ofEvent.map((entry) =>
      describeEntry(entry, {
        enableHooks,
        origins,
        substitute: substitutes.get(entry) ?? entry,
        count: countOf?.(event, hookIdentity(entry.config)),
      }),
    );
  });
}

/** Why a hook does not run, whatever the event; `null` for one that would. */
export function findReason(
  entry: HookRegistryEntry,
  enableHooks: boolean,
  origins?: SettingsOrigins,
): string | null {
  const { skipped, config, review, standIn } = entry;
  if (skipped === 'disabled') {
    const names = [scopedName(hookScope(entry), hookIdentity(config)), hookIdentity(config)];
    const files = names.flatMap((name) => origins?.disabledHooks.get(name) ?? []);
    const where = ['disabled by name', ...files.map(({ file }) => file)].join(' in ');
    return `${where}; to switch it on: hookstack enable ${asWord(hookIdentity(config))}`;
  }
  if (skipped === 'refused') return review?.reason?.replace(/^is (?=refused)/u, '') ?? skipped;
  const doubt = review?.reason === undefined ? '' : `: it ${review.reason}; ${TRUST}`;
  if (skipped === 'untrusted' && standIn) {
    return `untrusted, and what "${hookIdentity(standIn.config)}" guarded is blocked${doubt}`;
  }
  if (skipped !== undefined) return `${skipped}${skipped === 'untrusted' ? doubt : ''}`;
  if (config.type === 'plugin') return `type ${config.type} cannot be run`;
  if (isChangedGuard({ skipped, review })) return `untrusted, and denies${doubt}`;
  return enableHooks ? null : 'hooks are off';
}

const TRUST = 'to see and allow it: hookstack trust';

/** One that was allowed, and stays where it was: it denies unasked. */
export function isChangedGuard({
  skipped,
  review,
}: Pick<HookRegistryEntry, 'skipped' | 'review'>): boolean {
  return skipped === undefined && review !== undefined && review.status !== 'allowed';
}

export function formatSource({
  source,
  extension,
  file,
}: Pick<ListedHook, 'source' | 'extension' | 'file'>): string {
  return [source, extension, file]
    .flatMap((part) => part ?? [])
    .map(toVisible)
    .join(' ');
}

/** @param file the settings file that says so */
export function whyHooksAreOff(file: string | null | undefined): string {
  return file
    ? `enableHooks is false in ${toVisible(file)}`
    : 'no settings file that counts says "enableHooks": true';
}
