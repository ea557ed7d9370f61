import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import { receivableEvents } from '../../dialects/reverse.js';
import { isExecutable } from '../../process/command/findProgram.js';
import { DIALECT_NAMES, type DialectName } from '../../protocol/types.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { errorMessage } from '../../util/errorMessage.js';
import { requireHome } from '../../util/homeDirectory.js';
import { parseJsonDocument } from '../../util/jsonDocument.js';
import { isRecord } from '../../util/records.js';
import { hostEnvironment } from '../../util/requester.js';
import { carryOver } from '../migrate/carryOver.js';
import { planMove } from '../migrate/plan.js';
import { editJson, type JsonEdit } from '../shared/editJson.js';
import { diffSettings, paintDiff, planSettings } from '../shared/editSettings.js';
import {
  type ForeignScope,
  foreignMarkers,
  foreignPlaces,
  foreignSettingsIn,
} from '../shared/foreignSettings.js';
import { handlersIn } from '../shared/handlers.js';
import { findObstacles } from '../shared/obstacles.js';
import { CLIENT, isOwnHook, missingProgram } from '../shared/ownHook.js';
import { requireInside } from '../shared/projectFile.js';
import { PROJECT_MARKERS, isThere } from '../shared/projectRoot.js';
import { plural, printJson, printLine, printNotice, toOneLine } from '../shared/terminal.js';
import { UsageError, orUsageError } from '../shared/usageError.js';
import { resolveWorkingDir } from '../shared/workspace.js';
import { type OwnEntry, additions, mixedCommands, partialEvents, removals } from './entries.js';
import { installMod } from './mod.js';
import { planPlugin, planPrograms } from './programs.js';
import { makeChanges, recallOriginal, requireOwnFolders } from './changes.js';

interface InstallOptions {
  readonly into?: DialectName | 'all';
  readonly scope: ForeignScope;
  readonly undo?: boolean;
  readonly strict?: boolean;
  readonly mod?: boolean;
  readonly dryRun?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
}

type Choices = Omit<InstallOptions, 'into'>;

/** Ms that an agent gives the entry: hooks have time limits of their own, and may run one after the other. */
const TIMEOUT_MS = 600_000;

/**
 * @returns the exit code: 0 done, or nothing to do; 1 some agents were not taken
 * @throws UsageError when settings cannot be read, or the project's would be written elsewhere
 */
export async function install({ into, ...options }: InstallOptions): Promise<number> {
  if (into === undefined) {
    const names = ['all', ...DIALECT_NAMES].join(', ');
    throw new UsageError(`Say whose settings to write: hookstack install --into AGENT (${names})`);
  }
  if (options.mod) {
    if (into !== 'claude') throw new UsageError('--mod goes with --into claude alone');
    return installMod(options);
  }
  const directory = await directoryOf(into === 'all' ? DIALECT_NAMES : [into], options);
  if (into === 'all') return installIntoAll(directory, options);
  const installed = await installInto([into], directory, options);
  if (options.json) printJson(installed);
  else tell(installed, options.dryRun);
  return 0;
}

/** What cannot be done for one agent does not keep the others from it. */
async function installIntoAll(directory: string, options: Choices): Promise<number> {
  const { scope, undo = false, json = false } = options;
  const installed: Installed[] = [];
  const skipped: { into: DialectName; reason: string }[] = [];
  const failed: { into: DialectName; reason: string }[] = [];
  const told = new Set<string>();
  for (const agents of agentsHere(directory, scope)) {
    const claude = installed.find((each) => each.into === 'claude');
    const isRun = (into: DialectName) => !undo && claude && runsEntryOf(claude, into, scope);
    for (const into of agents.filter(isRun)) {
      const reason = `it runs what ${claude?.file} has as well, and hooks would run twice; to write its own file all the same: hookstack install --into ${into}`;
      skipped.push({ into, reason });
      if (!json) printNotice('note', toOneLine(`${dialects[into].agent} is left out: ${reason}`));
    }
    const [into, ...others] = agents.filter((each) => !isRun(each));
    if (into === undefined) continue;
    try {
      const done = await installInto([into, ...others], directory, options);
      installed.push(done);
      if (!json) tell(done, true, told);
    } catch (error) {
      const reason = errorMessage(error);
      failed.push({ into, reason });
      if (!json) printNotice('error', toOneLine(`${dialects[into].agent}: ${reason}`, MAX_NOTE));
    }
  }
  if (json) printJson({ installed, skipped, failed });
  return failed.length > 0 ? 1 : 0;
}

/** Whether an agent runs an entry that was written for Claude Code, in any case. */
function runsEntryOf({ command }: Installed, into: DialectName, scope: ForeignScope): boolean {
  const { runsClaude } = dialects[into].settings;
  if (!runsClaude || runsClaude.ifOn !== undefined || !runsClaude.scopes.includes(scope)) {
    return false;
  }
  return !runsClaude.lacksVariable || !command.includes('$');
}

/** What was done, for a program. */
interface Installed {
  readonly into: DialectName;
  /** Others that read the same file. */
  readonly also?: readonly DialectName[];
  readonly file: string;
  readonly undo: boolean;
  readonly dryRun: boolean;
  readonly changed: boolean;
  readonly command: string;
  readonly events: readonly string[];
  readonly diff: readonly string[];
  readonly notes: readonly string[];
}

/** @param agents that read one file */
async function installInto(
  [into, ...others]: readonly [DialectName, ...DialectName[]],
  directory: string,
  options: Choices,
): Promise<Installed & { readonly scope: ForeignScope }> {
  const { scope, undo = false, dryRun = false } = options;
  const agents = [into, ...others] as const;
  const file = await placeOf(into, directory, scope);
  const entryOf = (event: string) => entryFor(agents, event, options, directory);
  const events = [...new Set(agents.flatMap((each) => receivableEvents(each)))];
  const { changes, notes: own } = await planChanges(into, file, { events, entryOf, undo });
  const { command } = entryOf(events[0] ?? '');
  const readers = DIALECT_NAMES.filter(
    (each) => !agents.includes(each) && foreignPlaces(directory, each, scope).some(isFor(file)),
  );
  const notes = [
    ...own,
    ...readers.map((each) => `${dialects[each].agent} runs this file as well`),
    ...(undo ? [] : await notesOn(into, directory, entryOf(events[0] ?? ''), options)),
  ];
  const changed = changes.filter(({ before, after }) => before !== after);
  if (!dryRun) await makeChanges(changed);
  const diff = changed.flatMap((change) => {
    const lines = diffSettings(change.before ?? '', change.after ?? '');
    return changes.length > 1 ? [`@@ ${change.file}`, ...lines] : lines;
  });
  const asked = { into, ...(others.length > 0 && { also: others }), scope, file, undo, dryRun };
  return { ...asked, changed: changed.length > 0, command, events, diff, notes };
}

function isFor(file: string): (pattern: string) => boolean {
  return (pattern) => pattern.replace('*', 'hookstack') === file;
}

interface Wanted {
  readonly events: readonly string[];
  readonly entryOf: (event: string) => OwnEntry;
  readonly undo: boolean;
}

/** What is to be written, and what there is to say about it. */
async function planChanges(into: DialectName, file: string, { events, entryOf, undo }: Wanted) {
  const { settings: form } = dialects[into];
  const whose = { ...dialects[into], undo };
  if (form.form === 'plugin') return planPlugin(file, entryOf('').command, whose);
  if (form.form === 'programs') return planPrograms(file, events, entryOf, whose);
  let settings: Readonly<Record<string, unknown>> = {};
  const plan = async (decide: (current: typeof settings) => JsonEdit[]) =>
    orUsageError(
      planSettings(file, (current) => decide((settings = current))),
      (detail) => detail,
    );
  const isNew = !isThere(file);
  const without = await plan((current) => removals(current, form));
  const before = isNew ? undefined : without.before;
  const kept = await recallOriginal(file, before);
  const isMade = kept !== undefined && kept.text === undefined;
  const base = isNew || (isMade && isNothing(without.after)) ? undefined : without.after;
  const original = kept?.isUnchanged ? kept.text : base;
  const notes = [
    ...mixedCommands(settings, form).map((command) => tellMixed(command, undo)),
    ...(undo ? [] : partialEvents(settings, form, events).map(tellPartial)),
  ];
  if (undo) return { changes: [{ file, before, after: original }], notes };
  const { after } = await plan((current) => additions(current, form, events, entryOf));
  const { value } = parseJsonDocument(after);
  const rest = isRecord(value) ? removals(value, form).reduce(editJson, after) : after;
  const isKnown = rest === original;
  return {
    changes: [{ file, before, after, ...(!isKnown && { original: { text: original } }) }],
    notes,
  };
}

function isNothing(text: string): boolean {
  return /^\s*(?:\{\s*\}\s*)?$/u.test(text);
}

function tell(
  { into, also = [], ...done }: Installed,
  hasDiff = false,
  told = new Set<string>(),
): void {
  const { file, events, diff, notes } = done;
  const names = [into, ...also].map((each) => dialects[each].agent).join(' and ');
  printLine(toOneLine(describe(names, also.length > 0, file, events.length, done)));
  if (hasDiff) for (const line of diff) printLine(paintDiff(line));
  for (const note of notes.filter((each) => !told.has(each))) {
    told.add(note);
    printNotice('note', toOneLine(note, MAX_NOTE));
  }
}

/** In characters. */
const MAX_NOTE = 1000;

/** The project, or the home directory. */
async function directoryOf(
  agents: readonly DialectName[],
  { scope, cwd }: Choices,
): Promise<string> {
  const home = await realpath(requireHome()).catch(requireHome);
  if (scope === 'user') return home;
  const markers = agents.flatMap(foreignMarkers);
  const directory = await resolveWorkingDir(cwd, [...PROJECT_MARKERS, ...markers]);
  if (directory !== home) return directory;
  throw new UsageError(
    'The home directory is no project; to write your own settings, add --scope user',
  );
}

/** The file, or the folder, of an agent. */
async function placeOf(into: DialectName, directory: string, scope: ForeignScope): Promise<string> {
  const [place] = foreignPlaces(directory, into, scope);
  if (place === undefined) {
    const whose = scope === 'user' ? 'of a user' : 'of one person in a project';
    throw new UsageError(
      `${dialects[into].agent} has no settings ${whose}: leave --scope out${scope === 'user' ? '' : ', or write --scope user'}`,
    );
  }
  const file = place.replace('*', 'hookstack');
  if (scope !== 'user') await requireInside(directory, file);
  requireOwnFolders(directory, file);
  return file;
}

/** Agents of this machine or this project, by what is there; those that read one file together. */
function agentsHere(directory: string, scope: ForeignScope): DialectName[][] {
  const homes = [...new Set([directory, requireHome()])];
  const byFile = new Map<string, DialectName[]>();
  for (const name of DIALECT_NAMES) {
    const { files, userFiles = files, directoryVariable, ...form } = dialects[name].settings;
    const [place] = foreignPlaces(directory, name, scope);
    const folders = [...files, ...userFiles].map((file) => file.split('/')[0] ?? '');
    const isMoved = directoryVariable && hostEnvironment()[directoryVariable.name];
    const isHere = homes.some((home) =>
      (form.foundBy ?? folders).some((each) => isThere(path.join(home, each))),
    );
    if (place === undefined || !(isHere || isMoved)) continue;
    byFile.set(place, [...(byFile.get(place) ?? []), name]);
  }
  if (byFile.size > 0) return [...byFile.values()];
  throw new UsageError('No agent has a folder here: name one with --into');
}

/** A package of the project is not on the search path of the agent. */
function entryFor(
  agents: readonly [DialectName, ...DialectName[]],
  event: string,
  { scope, strict }: Choices,
  directory: string,
): OwnEntry {
  const [into] = agents;
  const { projectVariable, tellsNoEvent, installedAs = into, settings: form } = dialects[into];
  const sender = tellsNoEvent ? `${into}_${event}` : installedAs;
  const program = process.platform === 'win32' ? 'hookstack' : CLIENT;
  const isLocal = scope !== 'user' && isExecutable(path.join(directory, LOCAL_PROGRAMS, program));
  const isCommon = agents.every((each) => dialects[each].projectVariable === projectVariable);
  const variable = isCommon && projectVariable ? `"$${projectVariable}"/` : undefined;
  // A module knows where it stands itself.
  const root = form.form === 'plugin' ? '' : variable;
  const place = isLocal && root !== undefined ? `${root}${LOCAL_PROGRAMS}/` : '';
  const limits = agents.flatMap((each) => {
    const { settings, timeoutUnit } = dialects[each];
    const { timeoutKey = 'timeout' } = settings;
    return timeoutKey === null ? [] : [[timeoutKey, TIMEOUT_MS / timeoutUnit.ms] as const];
  });
  return {
    // The one shows it in its list of hooks, and the other one does not know it.
    ...(into === 'gemini' && { name: 'hookstack' }),
    command: `${place}${program}${program === CLIENT ? '' : ' hook --from'} ${sender}${strict ? ' || exit 2' : ''}`,
    limits: Object.fromEntries(limits),
  };
}

const LOCAL_PROGRAMS = 'node_modules/.bin';

function describe(
  names: string,
  areMany: boolean,
  file: string,
  count: number,
  { undo, dryRun, changed }: Pick<Installed, 'undo' | 'dryRun' | 'changed'>,
): string {
  if (!changed) return `${file}: nothing to do`;
  const run = areMany ? 'run' : 'runs';
  const would = dryRun ? 'would run' : run;
  if (undo) return `${file}: ${names} ${would} hooks of hookstack no more`;
  return `${file}: ${names} ${would} all hooks of the project, at ${plural(count, 'event')}; start ${areMany ? 'them' : 'it'} anew`;
}

/** Of a command that starts ours, and something else as well. */
function tellMixed(command: string, undo: boolean): string {
  const next = undo
    ? 'take it out yourself if you do not need it'
    : 'if it runs all hooks too, they run twice: take that part out of it';
  return `"${command}" is left as it is, as it does more than the command of install; ${next}`;
}

/** Of an event that has an entry for a part of it already. */
function tellPartial(event: string): string {
  return `the entry that ${event} had does not count for all of it (matcher, if, async, once), so that another one is added; take the old one out, or hooks may run twice`;
}

/** What keeps hooks from running, or makes them run twice. */
async function notesOn(
  into: DialectName,
  directory: string,
  entry: OwnEntry,
  { scope, cwd }: Choices,
): Promise<string[]> {
  const { agent, settings } = dialects[into];
  const missing = missingProgram(entry.command);
  const { off, notAllowed } = scope === 'user' ? {} : await findObstacles(directory, cwd);
  const { present, sources } = await planMove(directory, into, scope);
  const files = sources.map((source) => source.file).join(', ');
  return [
    ...(settings.afterInstall === undefined ? [] : [`${agent}: ${settings.afterInstall}`]),
    ...(missing
      ? [
          `${missing} is not on the search path, so that no ${settings.form === 'plugin' ? 'tool would run' : 'hooks would run, or all be blocked with --strict'}: npm install --global hookstack, or install it in the project`,
        ]
      : []),
    ...(present > 0
      ? [
          `${plural(present, 'hook')} of ${files} would run twice, as ${agent} runs them itself, and they are in .llxprt/settings.json too: take them out of one of the two`,
        ]
      : []),
    ...(await tellTwice(into, scope, directory)),
    ...(await tellSwitches(into, scope, directory, entry)),
    ...[off, notAllowed].filter((each) => each !== undefined),
  ];
}

/** Of agents that run the files for Claude Code as well, and have an entry in their own. */
async function tellTwice(
  into: DialectName,
  scope: ForeignScope,
  directory: string,
): Promise<string[]> {
  const others = into === 'claude' ? DIALECT_NAMES.filter((each) => each !== into) : [into];
  const notes: string[] = [];
  for (const name of others) {
    const { agent, settings } = dialects[name];
    const { scopes = [], ifOn } = settings.runsClaude ?? {};
    if (into === 'claude' && !scopes.includes(scope)) continue;
    const known = into === 'claude' ? SCOPES : scopes;
    const looked = known.filter((each) => scope !== 'user' || each === 'user');
    const files = looked.flatMap((each) =>
      foreignSettingsIn(
        each === 'user' ? requireHome() : directory,
        into === 'claude' ? name : 'claude',
        each,
      ),
    );
    const file = scopes.length > 0 && (await findOwn(files, into === 'claude' ? name : 'claude'));
    if (!file) continue;
    notes.push(
      `${agent} runs hooks twice${ifOn === undefined ? '' : `, where ${ifOn} is on`}, for the entry in ${file} as well: take it out of one of the two with --undo`,
    );
  }
  return notes;
}

const SCOPES = ['project', 'local', 'user'] as const;

/** The first file that has an entry of ours. */
async function findOwn(files: readonly string[], name: DialectName): Promise<string | undefined> {
  for (const file of files) {
    const reading = await readJsonFile(file, { groupMayWrite: true });
    if (reading.status !== 'read') continue;
    const handlers = handlersIn(reading.value, dialects[name].settings);
    if (handlers.some(({ hook }) => isOwnHook(hook))) return file;
  }
  return undefined;
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
    const key = into === 'gemini' ? 'hooksConfig' : 'disableAllHooks';
    notes.push(
      `hooks are switched off, so that ${agent} does not run them: see "${key}" in ${file}`,
    );
  }
  return notes;
}
