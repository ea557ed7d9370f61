import { dialects } from '../../dialects/dialects.js';
import { findProgram } from '../../process/findProgram.js';
import type { DialectName } from '../../protocol/types.js';
import { planMove } from '../migrate/plan.js';
import type { ForeignScope } from '../shared/foreignSettings.js';
import { findObstacles } from '../shared/obstacles.js';
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
  { command }: OwnEntry,
  cwd: string | undefined,
): Promise<string[]> {
  const { agent } = dialects[into];
  const isMissing = command.startsWith('hookstack ') && findProgram('hookstack') === undefined;
  const { off, notAllowed } = scope === 'user' ? {} : await findObstacles(directory, cwd);
  const { present, sources } = await planMove(directory, into, scope);
  const files = sources.map((source) => source.file).join(', ');
  return [
    ...(isMissing
      ? [
          `hookstack is not on the search path, so that ${agent} would run no hooks: npm install --global hookstack, or install it in the project`,
        ]
      : []),
    ...(present > 0
      ? [
          `${plural(present, 'hook')} of ${files} would run twice, as ${agent} runs them itself, and they are in .llxprt/settings.json too: take them out of one of the two`,
        ]
      : []),
    ...[off, notAllowed].filter((each) => each !== undefined),
  ];
}
