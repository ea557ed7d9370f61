import { errorMessage } from '../util/errorMessage.js';
import { harmOf } from './harm.js';
import { isShortage } from '../util/descriptors.js';
import { safeSearchPath } from '../process/command/findProgram.js';
import { coverCommand, openBecause, type CommandCoverage } from './commandCoverage.js';
import {
  itemOfHook,
  itemOfModule,
  itemOfSettings,
  type ProjectHook,
  type ProjectModule,
} from './consentItem.js';
import type { ConsentItem } from '../protocol/entry.js';
import { FileCoverage, type CoveredFiles } from './coveredFiles.js';
import { NO_FILES, type FileWatch } from './fileWatch.js';
import { isInside } from '../util/paths.js';
import type { CommandPlace } from './namedPaths.js';
import { isHarmlessVariable } from './programs.js';
import { OverBudget, ReviewBudget, type ReviewLimits } from './reviewBudget.js';
import { hostEnvironment } from '../util/surroundings.js';

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
  readonly watch: FileWatch;
  /** Whether `watch` tells apart what happens from now on: clocks of file systems are coarse. */
  readonly isSettled: boolean;
}

/** Files that changed this many ms ago cannot change again without another time stamp. */
const SETTLING_MS = 1000;

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
  limits?: ReviewLimits,
): Promise<Inspection[]> {
  const budget = new ReviewBudget(limits);
  const files = new FileCoverage(project, budget);
  const searchPath = safeSearchPath(hostEnvironment()['PATH'], project);
  const place = { project, searchPath, budget };
  const inspections: Inspection[] = [];
  try {
    for (const hook of hooks) inspections.push(await inspectHook(hook, place, files));
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
  const files = new FileCoverage(project, new ReviewBudget());
  const inspections: Inspection[] = [];
  for (const module of modules) {
    const startedAt = Date.now();
    try {
      const covered = await files.ofFolder(module.directory);
      inspections.push(asInspection(itemOfModule(module, covered.files), covered, startedAt));
    } catch (error) {
      const refusal = `its folder cannot be checked: ${errorMessage(error)}`;
      inspections.push(refused(itemOfModule(module, {}), refusal));
    }
  }
  return inspections;
}

/** Nothing of settings is in other files. */
export function inspectSettings(settings: Readonly<Record<string, unknown>>): Inspection {
  const covers = 'all keys besides hooks are covered, each with its value';
  return { item: itemOfSettings(settings), covers, scripts: [], watch: NO_FILES, isSettled: false };
}

async function inspectHook(
  hook: ProjectHook,
  place: CommandPlace,
  files: FileCoverage,
): Promise<Inspection> {
  const startedAt = Date.now();
  try {
    place.budget.look();
    const harm = harmOf(hook);
    if (harm !== undefined) return refused(itemOfHook(hook, NOTHING), harm);
    const covered = await files.ofCommand(coverageOf(hook, place));
    return asInspection(itemOfHook(hook, covered), covered, startedAt);
  } catch (error) {
    if (error instanceof OverBudget) throw error;
    const refusal = `it cannot be checked: ${errorMessage(error)}`;
    return { ...refused(itemOfHook(hook, NOTHING), refusal), isTemporary: isShortage(error) };
  }
}

const NOTHING = { class: 'open', files: {} } as const;

function refused(item: ConsentItem, refusal: string): Inspection {
  const covers = 'nothing of it can be covered';
  return { item, refusal, covers, scripts: [], watch: NO_FILES, isSettled: false };
}

function asInspection(item: ConsentItem, covered: CoveredFiles, startedAt: number): Inspection {
  const { refusal, scripts, watch } = covered;
  const isSettled = watch.changedAt < startedAt - SETTLING_MS;
  return { item, refusal, covers: sentenceOf(covered), scripts, watch, isSettled };
}

function coverageOf({ config, extension }: ProjectHook, place: CommandPlace): CommandCoverage {
  if (config.type === 'remote')
    return openBecause('sends each event to a server, which may answer anything');
  const odd = Object.entries(config.env ?? {}).find(
    ([name, value]) => !isHarmlessVariable(name, value),
  );
  if (odd) return openBecause(`sets the variable ${odd[0]}: call it HOOK_${odd[0]}`);
  const directory = extension?.directory;
  if (directory !== undefined && !isInside(directory, place.project)) {
    return openBecause(`belongs to an extension that is outside of the project, in ${directory}`);
  }
  return coverCommand(config, { ...place, extension: directory });
}

function sentenceOf({ class: covers, why, folders }: CoveredFiles): string {
  const all = folders.map((folder) => JSON.stringify(`${folder}/`)).join(' and ');
  switch (covers) {
    case 'open':
      return `only its definition is covered: what it runs may change unasked, because it ${why}`;
    case 'pinned by file':
      return `its definition and the files listed here are covered, and no others: ${why}`;
    default:
      return folders.length === 0
        ? 'its definition is covered, and it starts no file of the project'
        : `its definition and every file of ${all} are covered; what its script loads or starts from elsewhere is not`;
  }
}
