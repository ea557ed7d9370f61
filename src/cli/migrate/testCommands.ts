import { dirname, join, relative } from 'node:path';
import { matchesGroup } from '../../validate/matching.js';
import { referenceToolNames } from '../../agent/tools/toolNames.js';
import { events } from '../../protocol/events.js';
import { HookEventName, type HookDefinition } from '../../protocol/types.js';
import { asWord } from '../../util/quoteWord.js';
import { DEFAULT_TOOL } from '../shared/options.js';
import { HOOK_TEST_SUFFIX } from '../shared/hookTestFile.js';
import { findTests } from '../test/findTests.js';
import type { Move } from './plan.js';

/** Runs the tests of the project; records a first one before where there is none. */
export async function testCommands({ target, sources }: Move, at: string): Promise<string[]> {
  const project = dirname(dirname(target));
  const run = `hookstack test${at}`;
  const hasTests = await findTests([project]).then(
    () => true,
    () => false,
  );
  if (hasTests) return [run];
  const groups = sources.flatMap(({ carried }) => carried.groups);
  const event = eventFor(groups);
  if (event === undefined) return [];
  const file = join(project, '.llxprt', 'tests', `first${HOOK_TEST_SUFFIX}`);
  const record = `--record ${asWord(relative(process.cwd(), file))}`;
  return [`hookstack fire ${event} ${record}${at}`, run];
}

/** The words of an event that a hook waits for: of a tool, if there is one. */
function eventFor(
  groups: readonly { readonly key: string; readonly group: HookDefinition }[],
): string | undefined {
  const ours = groups.flatMap(({ key, group }) => {
    const event = Object.values(HookEventName).find((name) => name === key);
    return event ? [{ event, group }] : [];
  });
  for (const { event, group } of ours) {
    if (!events[event].matchOn) continue;
    const tool = [DEFAULT_TOOL, ...referenceToolNames].find((toolName) =>
      matchesGroup(group, event, { toolName }),
    );
    if (tool !== undefined) return `${event} --tool ${tool}`;
  }
  return ours.find(({ event }) => !events[event].matchOn)?.event;
}
