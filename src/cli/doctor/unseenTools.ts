import { matcherLetsRun } from '../../../middleware/planner.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import type { HookRegistry } from '../../hooks/hookRegistry.js';
import { failsClosed } from '../../protocol/events.js';
import { hookIdentity } from '../../protocol/identity.js';
import { HookEventName } from '../../protocol/types.js';
import { readPattern, type Pattern } from '../../rules/patterns.js';
import { toolsOf } from '../../rules/toolTable.js';
import { QuietLogger } from './sampleEvent.js';

/** A shell can do all of it. */
const SHELLS = toolsOf('command');

/** Which tools can do the same. */
const ABLE = {
  read: [...toolsOf('read'), ...SHELLS],
  edit: [...toolsOf('edit'), ...SHELLS],
  fetch: [...toolsOf('fetch'), ...SHELLS],
  command: SHELLS,
} as const;

/**
 * What a guard is likely to have left out: it looks at a tool that reads, writes or fetches, and not at others that could do
 * the same. Hooks of one name count as one guard.
 *
 * @returns the end of "The hook …"; `undefined` for one that sees them all, or is no guard
 */
export function findUnseenTools(
  entry: HookRegistryEntry,
  registry: HookRegistry,
): string | undefined {
  const { config, eventName } = entry;
  if (eventName !== HookEventName.BeforeTool || !failsClosed(config, eventName)) return undefined;
  const name = hookIdentity(config);
  const guards = registry
    .getAllHooks()
    .filter((each) => each.eventName === eventName && hookIdentity(each.config) === name);
  const looksAt = (tool: string) => guards.some((guard) => mayRunFor(guard, tool, registry));
  const kinds = new Set(
    guards.flatMap((guard) =>
      listsOf(guard)
        .flat()
        .map(({ kind }) => kind),
    ),
  );
  const unseen = Object.entries(ABLE).flatMap(([kind, tools]) => {
    const isWanted =
      kinds.has(kind as keyof typeof ABLE) ||
      tools.some((tool) => !SHELLS.includes(tool) && looksAt(tool));
    return isWanted ? tools.filter((tool) => !looksAt(tool)) : [];
  });
  return unseen.length > 0
    ? `does not see ${[...new Set(unseen)].join(', ')}, which can do the same as what it looks at: "when" with Read(…), Edit(…) or WebFetch(…) sees all of them, under a matcher that lets all run`
    : undefined;
}

function mayRunFor(entry: HookRegistryEntry, tool: string, registry: HookRegistry): boolean {
  const logger = new QuietLogger('llxprt:core:hooks:doctor');
  if (!matcherLetsRun(registry, entry, { toolName: tool }, logger)) return false;
  return listsOf(entry).every((wanted) => {
    return wanted.length === 0 || wanted.some((pattern) => isAbout(pattern, tool));
  });
}

/** The patterns of a hook and of its group, of which one each must match. */
function listsOf({ config: { when, groupWhen } }: HookRegistryEntry): readonly Pattern[][] {
  return [when, groupWhen].map((list) =>
    [list ?? []]
      .flat()
      .map(readPattern)
      .filter(({ isExcept }) => !isExcept),
  );
}

function isAbout(pattern: Pattern, tool: string): boolean {
  if (pattern.kind === 'tool' || pattern.kind === 'argument') return pattern.matches(tool);
  return ABLE[pattern.kind].some((each) => each === tool);
}
