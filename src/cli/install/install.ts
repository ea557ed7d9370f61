import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import { receivableEvents } from '../../dialects/reverse.js';
import { isExecutable } from '../../process/command/findProgram.js';
import { DIALECT_NAMES, type DialectName } from '../../protocol/types.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { requireHome } from '../../util/homeDirectory.js';
import { carryOver } from '../migrate/carryOver.js';
import { planMove } from '../migrate/plan.js';
import { diffSettings, editSettings, paintDiff, planSettings } from '../shared/editSettings.js';
import {
  type ForeignScope,
  foreignSettings,
  foreignSettingsIn,
} from '../shared/foreignSettings.js';
import { findObstacles } from '../shared/obstacles.js';
import { CLIENT, missingProgram } from '../shared/ownHook.js';
import { requireInside } from '../shared/projectFile.js';
import { PROJECT_MARKERS } from '../shared/projectRoot.js';
import { plural, printJson, printLine, printNotice, toOneLine } from '../shared/terminal.js';
import { UsageError, orUsageError } from '../shared/usageError.js';
import { resolveWorkingDir } from '../shared/workspace.js';
import { type OwnEntry, additions, mixedCommands, partialEvents, removals } from './entries.js';

interface InstallOptions {
  readonly into?: DialectName;
  readonly scope: ForeignScope;
  readonly undo?: boolean;
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
}

/** Ms that an agent gives the entry: hooks have time limits of their own, and may run one after the other. */
const TIMEOUT_MS = 600_000;

/** @throws UsageError when settings cannot be read, or the project's would be written elsewhere */
export async function install({ into, ...options }: InstallOptions): Promise<void> {
  if (into === undefined) {
    const commands = DIALECT_NAMES.map((name) => `hookstack install --into ${name}`);
    throw new UsageError(`Say whose settings to write: ${commands.join(', or ')}`);
  }
  const { scope, undo = false, dryRun = false } = options;
  const { directory, file } = await placeOf(into, options);
  const entry = entryFor(into, options, directory);
  const events = receivableEvents(into);
  let settings: Readonly<Record<string, unknown>> = {};
  const decide = (current: typeof settings) => {
    settings = current;
    return undo ? removals(current) : additions(current, events, entry);
  };
  const { before, after } = await orUsageError(planSettings(file, decide), (detail) => detail);
  const changed = before !== after;
  if (changed && !dryRun) await editSettings(file, decide);
  const notes = [
    ...mixedCommands(settings).map((command) => tellMixed(command, undo)),
    ...(undo ? [] : partialEvents(settings, events).map(tellPartial)),
    ...(undo ? [] : await notesOn(into, scope, directory, entry, options.cwd)),
  ];
  const diff = diffSettings(before, after);
  if (options.json) {
    const asked = { into, scope, file, undo, dryRun };
    printJson({ ...asked, changed, command: entry.command, events, diff, notes });
    return;
  }
  printLine(toOneLine(describe(into, file, events.length, { undo, dryRun, changed })));
  if (dryRun) for (const line of diff) printLine(paintDiff(line));
  for (const note of notes) printNotice('note', toOneLine(note, MAX_NOTE));
}

/** In characters. */
const MAX_NOTE = 1000;

async function placeOf(into: DialectName, { scope, cwd }: Omit<InstallOptions, 'into'>) {
  const home = await realpath(requireHome()).catch(requireHome);
  const { files, localFiles = [] } = foreignSettings[into];
  const directory =
    scope === 'user'
      ? home
      : await resolveWorkingDir(cwd, [...PROJECT_MARKERS, ...files, ...localFiles]);
  if (scope !== 'user' && directory === home) {
    throw new UsageError(
      'The home directory is no project; to write your own settings, add --scope user',
    );
  }
  const [file] = foreignSettingsIn(directory, into, scope);
  if (file === undefined) {
    throw new UsageError(
      `${dialects[into].agent} has no settings of one person in a project: leave --scope out, or write --scope user`,
    );
  }
  if (scope !== 'user') await requireInside(directory, file);
  return { directory, file };
}

/** A package of the project is not on the search path of the agent. */
function entryFor(
  into: DialectName,
  { scope, strict }: Omit<InstallOptions, 'into'>,
  directory: string,
): OwnEntry {
  const { timeoutUnit } = dialects[into];
  const program = process.platform === 'win32' ? 'hookstack' : CLIENT;
  const isLocal = scope !== 'user' && isExecutable(path.join(directory, LOCAL_PROGRAMS, program));
  const place = isLocal ? `"$${into.toUpperCase()}_PROJECT_DIR"/${LOCAL_PROGRAMS}/` : '';
  return {
    type: 'command',
    // The one shows it in its list of hooks, and the other one does not know it.
    ...(into === 'gemini' && { name: 'hookstack' }),
    command: `${place}${program}${program === CLIENT ? '' : ' hook --from'} ${into}${strict ? ' || exit 2' : ''}`,
    timeout: TIMEOUT_MS / timeoutUnit.ms,
  };
}

const LOCAL_PROGRAMS = 'node_modules/.bin';

function describe(
  into: DialectName,
  file: string,
  count: number,
  { undo, dryRun, changed }: { undo: boolean; dryRun: boolean; changed: boolean },
): string {
  const { agent } = dialects[into];
  if (!changed) return `${file}: nothing to do`;
  const would = dryRun ? 'would run' : 'runs';
  if (undo) return `${file}: ${agent} ${would} hooks of hookstack no more`;
  return `${file}: ${agent} ${would} all hooks of the project, at ${plural(count, 'event')}; start it anew`;
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
