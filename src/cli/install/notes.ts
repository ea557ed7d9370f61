import { dialects } from '../../dialects/dialects.js';
import type { DialectName } from '../../protocol/types.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { requireHome } from '../../util/homeDirectory.js';
import { carryOver } from '../migrate/carryOver.js';
import { planMove } from '../migrate/plan.js';
import { foreignSettingsIn, type ForeignScope } from '../shared/foreignSettings.js';
import { findObstacles } from '../shared/obstacles.js';
import { missingProgram } from '../shared/ownHook.js';
import { plural } from '../shared/terminal.js';
import type { OwnEntry } from './entries.js';

/** Of a command that starts ours, and something else as well. */
export function tellMixed(command: string, undo: boolean): string {
  const next = undo
    ? 'take it out yourself if you do not need it'
    : 'if it runs all hooks too, they run twice: take that part out of it';
  return `"${command}" is left as it is, as it does more than the command of install; ${next}`;
}

/** Of an event that has an entry for a part of it already. */
export function tellPartial(event: string): string {
  return `the entry that ${event} had does not count for all of it (matcher, if, async, once), so that another one is added; take the old one out, or hooks may run twice`;
}

/** What keeps hooks from running, or makes them run twice. */
export async function notesOn(
  into: DialectName,
  scope: ForeignScope,
  directory: string,
  entry: OwnEntry,
  cwd: string | undefined,
): Promise<string[]> {
  const { agent } = dialects[into];
  const missing = missingProgram(entry.command);
  const { off, notAllowed } = scope === 'user' ? {} : await findObstacles(directory, cwd);
  const { present, sources } = await planMove(directory, into, scope);
  const files = sources.map((source) => source.file).join(', ');
  return [
    ...(missing
      ? [
          `${missing} is not on the search path, so that ${agent} would run no hooks, or be blocked with --strict: npm install --global hookstack, or install it in the project`,
        ]
      : []),
    ...(present > 0
      ? [
          `${plural(present, 'hook')} of ${files} would run twice, as ${agent} runs them itself, and they are in .llxprt/settings.json too: take them out of one of the two`,
        ]
      : []),
    ...(await tellSwitches(into, scope, directory, entry)),
    ...[off, notAllowed].filter((each) => each !== undefined),
  ];
}

/** The agent's own switches may be in any of its settings. */
async function tellSwitches(
  into: DialectName,
  scope: ForeignScope,
  directory: string,
  { name, command }: OwnEntry,
): Promise<string[]> {
  const { agent } = dialects[into];
  const ofProject = (['project', 'local'] as const).flatMap((each) =>
    scope === 'user' ? [] : foreignSettingsIn(directory, into, each),
  );
  const files = [...ofProject, ...foreignSettingsIn(requireHome(), into, 'user')];
  const notes: string[] = [];
  for (const file of new Set(files)) {
    const reading = await readJsonFile(file, { groupMayWrite: true });
    if (reading.status !== 'read') continue;
    const { areHooksOn, disabledHooks } = carryOver(reading.value, into);
    const isOff = disabledHooks.some((each) => each === name || each === command);
    if (areHooksOn && !isOff) continue;
    const key = into === 'claude' ? 'disableAllHooks' : 'hooksConfig';
    notes.push(
      `hooks are switched off, so that ${agent} does not run them: see "${key}" in ${file}`,
    );
  }
  return notes;
}
