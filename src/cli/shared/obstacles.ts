import { loadSettings } from '../../config/settings/settings.js';
import { quoteWord } from '../../util/quoteWord.js';
import { whyHooksAreOff } from './hookColumns.js';
import { countItems, openToReview, reviewWorkspace, type ReviewedItem } from './reviewProject.js';
import { printNotice, toOneLine } from './terminal.js';
import { isTrustedRun, type Workspace } from './workspace.js';

/** What keeps hooks from running in an agent, whatever the event: one sentence each, with what to do. */
export interface Obstacles {
  /** Why hooks are off. */
  readonly off?: string;
  /** What the user has not allowed. */
  readonly notAllowed?: string;
}

/**
 * For commands that would else end as if all were done.
 *
 * @param workingDir the project's root
 * @param cwd as the user has said it
 */
export async function findObstacles(
  workingDir: string,
  cwd: string | undefined,
): Promise<Obstacles> {
  const workspace = await openToReview(workingDir, true);
  const { items } = await reviewWorkspace(workspace);
  return obstaclesOf(workspace, items, cwd);
}

export function obstaclesOf(
  workspace: Pick<Workspace, 'settings' | 'origins'>,
  items: readonly ReviewedItem[],
  cwd: string | undefined,
): Obstacles {
  const left = isTrustedRun({}) ? [] : items.filter(({ review }) => review.status !== 'allowed');
  const count = countItems(left.map(({ review }) => review.item));
  const at = cwdWords(cwd);
  return {
    off: whyOff(workspace),
    ...(left.length > 0 && {
      notAllowed: `Not allowed yet: ${count}. To see and allow, run: hookstack trust${at}${openWords(left, at)}`,
    }),
  };
}

/** What is open is allowed neither by --yes, nor by one answer for all. */
function openWords(left: readonly ReviewedItem[], at: string): string {
  const open = left.filter(({ review }) => review.class === 'open' && review.status !== 'refused');
  if (open.length === 0) return '';
  const count = countItems(open.map(({ review }) => review.item));
  return `; of these, ${count} can be allowed by definition only, with a yes each, or by: hookstack trust --open${at}`;
}

/** With what to do; `undefined` where hooks are on. */
export function whyOff({
  settings,
  origins,
}: Pick<Workspace, 'settings' | 'origins'>): string | undefined {
  if (settings.enableHooks) return undefined;
  const { file, scope } = origins.enableHooks ?? {};
  const where = scope === 'project' || file === undefined ? 'your own settings' : 'that file';
  const isEmpty = file === undefined && Object.keys(settings.hooks ?? {}).length === 0;
  const first = isEmpty ? ', or have a first hook written by: hookstack init' : '';
  return toOneLine(
    `Hooks are off, so that no agent runs them: ${whyHooksAreOff(file)}; write "enableHooks": true in ${where}${first}`,
  );
}

/** As the settings are now, so that nothing else seems to be missing. */
export async function warnIfOff(workingDir: string): Promise<void> {
  const off = whyOff(await loadSettings({ workingDir }));
  if (off !== undefined) printNotice('warning', off);
}

/** The option that names the same project again. */
export function cwdWords(cwd: string | undefined): string {
  return cwd === undefined ? '' : ` --cwd ${quoteWord(cwd)}`;
}
