import { errorMessage } from '../util/errorMessage.js';
import { isShortage } from '../util/descriptors.js';
import { safeSearchPath } from '../process/command/findProgram.js';
import {
  harmOf,
  itemOfHook,
  itemOfModule,
  itemOfSettings,
  type ProjectHook,
  type ProjectModule,
} from './consentItem.js';
import type { ConsentItem } from '../hooks/entry.js';
import { FolderCoverage, type CoveredFolder } from './coveredFiles.js';
import { findScript, NotPinned, type ScriptPlace } from './hookScript.js';
import { OverBudget, ReviewBudget } from './reviewBudget.js';
import { hostEnvironment } from '../util/requester.js';

/** An item as it is now, or why it must not run whatever anybody allows. */
export interface Inspection {
  readonly item: ConsentItem;
  readonly refusal?: string;
  /** Whether the refusal may be gone at the next look, as where the system had no descriptor left. */
  readonly isTemporary?: boolean;
  /** What consent to it covers, in one sentence. */
  readonly covers: string;
  /** Names of the scripts that it starts. */
  readonly scripts: readonly string[];
  /** Whether looking again would surely tell the same. */
  readonly isUnchanged: () => boolean;
}

/**
 * Looks at hooks with all files that consent to them covers, each by itself: one that cannot be looked at is refused.
 * Where together they want more to be looked at than one project may, all are.
 *
 * @param project absolute real path
 * @returns one for each, in the same order; never rejects
 */
export async function inspectHooks(
  hooks: readonly ProjectHook[],
  project: string,
): Promise<Inspection[]> {
  const budget = new ReviewBudget();
  const folders = new FolderCoverage(project, budget);
  const place = { project, searchPath: safeSearchPath(hostEnvironment()['PATH'], project) };
  const inspections: Inspection[] = [];
  try {
    for (const hook of hooks) {
      budget.look();
      inspections.push(await inspectHook(hook, place, folders));
    }
    return inspections;
  } catch (error) {
    const refusal = `the hooks of this project cannot be checked: it ${errorMessage(error)}`;
    return hooks.map((hook) => refused(itemOfHook(hook, NOTHING), refusal));
  }
}

/** The same for modules, with the whole folder of their extensions, since a module imports others. */
export async function inspectModules(
  modules: readonly ProjectModule[],
  project: string,
): Promise<Inspection[]> {
  const folders = new FolderCoverage(project, new ReviewBudget());
  const inspections: Inspection[] = [];
  for (const module of modules) {
    try {
      const covered = await folders.digest(module.directory);
      inspections.push(pinned(itemOfModule(module, covered.files), covered));
    } catch (error) {
      const refusal =
        error instanceof NotPinned
          ? `it ${error.message}: bundle its modules`
          : `its folder cannot be checked: ${errorMessage(error)}`;
      inspections.push(refused(itemOfModule(module, {}), refusal));
    }
  }
  return inspections;
}

/** Nothing of settings is in other files. */
export function inspectSettings(settings: Readonly<Record<string, unknown>>): Inspection {
  return withoutFiles(
    itemOfSettings(settings),
    'all keys besides hooks are covered, each with its value',
  );
}

/** @throws OverBudget */
async function inspectHook(
  hook: ProjectHook,
  place: ScriptPlace,
  folders: FolderCoverage,
): Promise<Inspection> {
  const harm = harmOf(hook);
  if (harm !== undefined) return refused(itemOfHook(hook, NOTHING), harm);
  if (hook.config.type === 'rule') {
    if (hook.config.set) return open(hook, 'has calls run with other arguments, such as a command');
    const item = itemOfHook(hook, { class: 'pinned', files: {} });
    const covers = 'all of it is covered: a rule starts nothing';
    return { ...withoutFiles(item, covers), isUnchanged: () => true };
  }
  try {
    return await inspectScript(hook, place, folders);
  } catch (error) {
    if (error instanceof OverBudget) throw error;
    if (error instanceof NotPinned) return open(hook, error.message);
    const message = errorMessage(error);
    if (!isShortage(error)) return open(hook, `cannot be looked at (${message})`);
    const refusal = `it cannot be checked: ${message}`;
    return { ...refused(itemOfHook(hook, NOTHING), refusal), isTemporary: true };
  }
}

async function inspectScript(
  hook: ProjectHook,
  place: ScriptPlace,
  folders: FolderCoverage,
): Promise<Inspection> {
  const { path, folder, ignoresCompiled } = findScript(hook, place);
  const covered = await folders.digest(folder, ignoresCompiled);
  const script = folders.show(path);
  if (!Object.hasOwn(covered.files, script) && covered.refusal === undefined) {
    throw new NotPinned(`starts ${script}, which is not a file`);
  }
  const item = itemOfHook(hook, { class: 'pinned', files: covered.files });
  return pinned(item, covered, [script]);
}

const NOTHING = { class: 'open', files: {} } as const;

function refused(item: ConsentItem, refusal: string): Inspection {
  return { ...withoutFiles(item, 'nothing of it can be covered'), refusal };
}

function open(hook: ProjectHook, why: string): Inspection {
  const covers = `only its definition is covered: what it runs may change unasked, because it ${why}`;
  return { ...withoutFiles(itemOfHook(hook, NOTHING), covers), isUnchanged: () => true };
}

function withoutFiles(item: ConsentItem, covers: string): Inspection {
  return { item, covers, scripts: [], isUnchanged: () => false };
}

function pinned(
  item: ConsentItem,
  { folder, refusal, isUnchanged }: CoveredFolder,
  scripts: readonly string[] = [],
): Inspection {
  const covers = `its definition and every file of ${JSON.stringify(`${folder}/`)} are covered; what its script loads or starts from elsewhere is not`;
  return { item, refusal, covers, scripts, isUnchanged };
}
