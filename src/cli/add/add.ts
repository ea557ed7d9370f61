import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { settingsFileIn } from '../../config/settings/settingsPlaces.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import { requireHome } from '../../util/homeDirectory.js';
import { statsOf } from '../../util/paths.js';
import { quoteWord } from '../../util/quoteWord.js';
import { suggestName } from '../../util/suggestName.js';
import { allowOwn } from '../init/allowOwn.js';
import {
  additionsTo,
  asLoaded,
  createFiles,
  namesIn,
  schemaFor,
  type NewFile,
} from '../init/starterFiles.js';
import {
  diffSettings,
  editSettings,
  paintDiff,
  planSettings,
  type SettingsChange,
} from '../shared/editSettings.js';
import { cwdWords } from '../shared/obstacles.js';
import { editAsAllowed } from '../shared/ownEdit.js';
import { projectSettingsToWrite } from '../shared/projectFile.js';
import { paint, printJson, printLine, toOneLine, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { isTrustedRun, resolveWorkingDir } from '../shared/workspace.js';
import type { Guard, GuardGroup } from './guard.js';
import { commandIn, filesIn, type Place } from './guardFiles.js';
import { isGuardName } from './guardNames.js';
import { guards } from './guards.js';

export interface AddOptions {
  /** Whether the settings of the user are meant, in place of the project's. */
  readonly user?: boolean;
  readonly dryRun?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
  /** Of a plugin: whether it is allowed. */
  readonly yes?: boolean;
}

/**
 * Adds guards to the settings of the project or the user, or lists those that there are; of a folder, the plugin.
 *
 * @returns the exit code: 0, or 1 for a plugin that was not allowed
 * @throws UsageError for a name that is not known, or a file that is in the way; Error when a file cannot be written
 */
export async function add(names: readonly string[], options: AddOptions): Promise<number> {
  const [first = '', ...others] = names;
  if (first !== '' && isPluginFolder(first)) {
    const { addPlugins } = await import('./plugins/addPlugin.js');
    return addPlugins(first, others, options);
  }
  await addGuards(names, options);
  return 0;
}

/** Whether the first name is a folder, and no guard. */
function isPluginFolder(name: string): boolean {
  if (isGuardName(name)) return false;
  return /^\.|\//u.test(name) || statsOf(resolve(name))?.isDirectory() === true;
}

async function addGuards(names: readonly string[], options: AddOptions): Promise<void> {
  if (names.length === 0) {
    const known = guards.map(({ name, covers, misses }) => ({ name, covers, misses }));
    if (options.json) printJson({ guards: known });
    else printLine(`${formatGuards()}\n\nAdd some of them: hookstack add NAME…`);
    return;
  }
  const chosen = [...new Set(names)].map(findGuard);
  const place = await placeFor(options);
  const plan = await planAddition(chosen, place);
  if (options.dryRun !== true && plan.added.length > 0) await write(plan, place);
  await tell(plan, place, options);
}

/** What there is, for a person who chooses. */
export function formatGuards(): string {
  return guards
    .map(({ name, covers, misses }) => `${paint('bold', name)}\n  ${covers}\n  ${misses}`)
    .join('\n');
}

function findGuard(name: string): Guard {
  const found = guards.find((guard) => guard.name === name);
  if (found) return found;
  const hint = suggestName(
    name,
    guards.map((guard) => guard.name),
  );
  throw new UsageError(`There is no guard "${toOneLine(name)}"; ${toOneLine(hint)}`);
}

async function placeFor({ user, cwd }: AddOptions): Promise<Place & { readonly file: string }> {
  if (user) {
    const folder = await realpath(requireHome()).catch(requireHome);
    return { scope: 'user', folder, file: settingsFileIn(folder) };
  }
  const folder = await resolveWorkingDir(cwd);
  return { scope: 'project', folder, file: await projectSettingsToWrite(folder) };
}

/** What is to be done, and what is done already. */
interface Plan extends SettingsChange {
  readonly added: readonly Guard[];
  readonly present: readonly string[];
  readonly groups: readonly GuardGroup[];
  readonly files: readonly NewFile[];
}

async function planAddition(
  chosen: readonly Guard[],
  place: Awaited<ReturnType<typeof placeFor>>,
): Promise<Plan> {
  let added: readonly Guard[] = [];
  const groupsOf = () => added.flatMap((guard) => guard.groups(commandIn(place, guard)));
  const change = await planSettings(place.file, (current) => {
    const configured = namesIn(current['hooks']);
    added = chosen.filter(({ name }) => !configured.has(name));
    return added.length === 0 ? [] : additionsTo(current, groupsOf(), schemaIn(place));
  });
  const present = chosen.filter((guard) => !added.includes(guard)).map(({ name }) => name);
  const files = (await Promise.all(added.map((guard) => filesIn(place, guard)))).flat();
  return { ...change, added, present, groups: groupsOf(), files };
}

function schemaIn({ scope, folder }: Place): string | undefined {
  return scope === 'project' ? schemaFor(folder) : undefined;
}

async function write(
  { groups, files }: Plan,
  place: Awaited<ReturnType<typeof placeFor>>,
): Promise<void> {
  const edit = () =>
    editSettings(place.file, (current) => additionsTo(current, groups, schemaIn(place)));
  const writeAll = async () => {
    await createFiles(place.folder, files, edit, 'it is not what would be written; remove it');
    return true;
  };
  if (place.scope === 'project') await editAsAllowed(place.folder, writeAll);
  else await writeAll();
}

/** Whether what was written runs, and what is in its way. */
async function standingOf({ groups, files }: Plan, { scope, folder }: Place, cwd?: string) {
  if (scope === 'user') return { isAllowed: true, obstacles: [] };
  const hooks = groups.flatMap(({ event, group }) => asLoaded({ [event]: [group] }));
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  const { isAllowed, obstacles } = await allowOwn(folder, { hooks, files: contents }, cwd);
  const told = [obstacles.off, obstacles.notAllowed].filter((each) => each !== undefined);
  return { isAllowed: isAllowed || isTrustedRun({}), obstacles: told };
}

async function tell(
  plan: Plan,
  place: Awaited<ReturnType<typeof placeFor>>,
  options: AddOptions,
): Promise<void> {
  const { added, present, files, before, after } = plan;
  const { dryRun = false, json = false, cwd } = options;
  const isWritten = !dryRun && added.length > 0;
  const standing = isWritten ? await standingOf(plan, place, cwd) : undefined;
  const next = nextCommands(plan, place, standing?.isAllowed ?? true, options);
  if (json) {
    printJson({
      added: added.map(({ name }) => name),
      present,
      dryRun,
      settings: place.file,
      created: files.map(({ path }) => path),
      diff: diffSettings(before, after),
      allowed: standing?.isAllowed ?? null,
      obstacles: standing?.obstacles ?? [],
      next,
    });
    return;
  }
  const verb = dryRun ? 'would be added to' : 'added to';
  printLine(
    [
      ...present.map(
        (name) => `${name} is in ${toVisible(place.file)} already: nothing is changed`,
      ),
      ...added.map((guard) => formatAdded(guard, `${verb} ${toVisible(place.file)}`)),
      ...(dryRun ? diffSettings(before, after).map(paintDiff) : []),
      ...foldersOf(files).map((line) => `  ${line}`),
      ...(standing ? formatStanding(standing) : []),
      ...(next.length > 0 ? ['', 'Try next:', ...next.map((each) => `  ${each}`)] : []),
    ].join('\n'),
  );
}

function formatAdded({ name, covers, misses }: Guard, what: string): string {
  return `${paint('bold', name)} ${what}\n  ${covers}\n  ${misses}`;
}

/** Scripts, and how many tests there are. */
function foldersOf(files: readonly NewFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const key = path.startsWith('.llxprt/tests/') ? path.slice(0, path.lastIndexOf('/')) : path;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([path, count]) =>
    path.startsWith('.llxprt/tests/') ? `${path} (${count} tests)` : path,
  );
}

function formatStanding({
  isAllowed,
  obstacles,
}: Awaited<ReturnType<typeof standingOf>>): string[] {
  return [
    isAllowed
      ? 'All of it is allowed as it was written now, and yours to edit.'
      : 'It is not allowed yet. Until then, agents skip what needs consent.',
    ...obstacles.map((obstacle) => paint('yellow', obstacle)),
  ];
}

function nextCommands(
  { added }: Plan,
  { scope, folder }: Place,
  isAllowed: boolean,
  { dryRun, user, cwd }: AddOptions,
): string[] {
  if (added.length === 0) return [];
  const at = cwdWords(cwd);
  const names = added.map(({ name }) => name).join(' ');
  if (dryRun) return [`hookstack add ${names}${user ? ' --user' : ''}${at}`];
  const tests = scope === 'user' ? ` ${quoteWord(join(folder, '.llxprt/tests'))}` : '';
  const trust = isAllowed ? '' : ' --trust';
  return [
    `hookstack test${tests}${trust}${at}`,
    `hookstack list${trust}${at}`,
    ...(isAllowed ? [] : [`hookstack trust${at}`]),
  ].map((command) => removeControls(command));
}
