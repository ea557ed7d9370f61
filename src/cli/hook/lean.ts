import { lstatSync, realpathSync, statSync, writeSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { extensionsIn, findSettingsFiles } from '../../config/settings/settingsPlaces.js';
import { allNamesOf } from '../../dialects/eventNames.js';
import type { DialectName } from '../../protocol/types.js';
import { errorCode } from '../../util/errorMessage.js';
import { readTextSync } from '../../util/guardedRead.js';
import { findHome } from '../../util/home.js';
import { isRecord } from '../../util/records.js';
import { findProjectRoot, isThere, PROJECT_MARKERS } from '../shared/projectRoot.js';
import type { HookOptions } from './hookArguments.js';
import { readInput, type HookInputReading } from './readInput.js';

/**
 * Answers one event of an agent. What runs hooks is loaded once it is known that there may be some: most events have
 * none, and an agent waits for each answer.
 *
 * @returns the exit code
 */
export async function answerEvent(options: HookOptions): Promise<number> {
  const input = await readInput();
  const { directory, source } = projectDirectory(options, input);
  const place = options.settings === undefined ? placeOfHooks(directory, input) : 'anywhere';
  if (place === 'nowhere') {
    // Streams take a while to load. Where stdout is empty, agents read stderr.
    if ('problem' in input) say(2, `note: ${input.problem}; no hooks are there\n`);
    say(1, '{}\n');
    return 0;
  }
  const { runHooks } = await import('./runHooks.js');
  return runHooks({ ...options, cwd: directory, cwdSource: source }, input, place === 'own');
}

/** What cannot be written here has nothing to say. */
function say(output: 1 | 2, text: string): void {
  try {
    writeSync(output, text);
  } catch {
    // No answer is the same as an empty one.
  }
}

/** Where agents say which project is open. The agent itself may be in another directory by now. */
const PROJECT_VARIABLES: Readonly<Record<DialectName, string>> = {
  claude: 'CLAUDE_PROJECT_DIR',
  gemini: 'GEMINI_PROJECT_DIR',
};

/** @returns what names the directory, where that is no option, in `source` */
function projectDirectory(
  { from, cwd }: HookOptions,
  input: HookInputReading,
): { readonly directory: string; readonly source?: string } {
  if (cwd !== undefined) return { directory: cwd };
  const fields = 'value' in input && isRecord(input.value) ? input.value : {};
  const variable = PROJECT_VARIABLES[from];
  const said = [
    { value: process.env[variable], source: variable },
    { value: fields['cwd'], source: 'the "cwd" of the event,' },
  ];
  for (const { value, source } of said) {
    if (isPath(value)) return { directory: nearestFolder(value), source };
  }
  return { directory: process.cwd(), source: 'the current directory' };
}

/** The system has no longer ones, and each folder of it costs a look. */
const MAX_PATH = 4096;

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_PATH && isAbsolute(value);
}

/** Agents may go on in a folder that is gone by now, and it was part of the project. */
function nearestFolder(directory: string): string {
  const above = dirname(directory);
  return above === directory || isFolder(directory) ? directory : nearestFolder(above);
}

function isFolder(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch (error) {
    return errorCode(error) === 'EACCES';
  }
}

/**
 * Where hooks of an event may be: nowhere; in settings that are the user's or the system's, and nobody else says what is
 * looked at; or anywhere. They are in no settings whose text has no name of the event, as long as nothing in it is written
 * with escapes. Nothing else goes on meanwhile, so that files are read at once.
 */
function placeOfHooks(directory: string, input: HookInputReading): 'nowhere' | 'own' | 'anywhere' {
  try {
    const { root } = findProjectRoot(realpathSync(directory), PROJECT_MARKERS, isThereItself);
    const names = namesIn(input);
    const home = findHome();
    if (isThereItself(extensionsIn(root))) return 'anywhere';
    if (home !== undefined && isThere(extensionsIn(home))) return 'anywhere';
    const files = findSettingsFiles({ workingDir: root });
    if (!files.some(({ file }) => mayName(file, names))) return 'nowhere';
    return files.some(({ scope, file }) => scope === 'project' && isThere(file))
      ? 'anywhere'
      : 'own';
  } catch {
    return 'anywhere';
  }
}

/** @throws Error at a link of a project, which may lead to a drive that never answers: nothing watches over this process yet */
function isThereItself(file: string): boolean {
  for (const each of [dirname(file), file]) {
    const stats = lstatSync(each, { throwIfNoEntry: false });
    if (!stats) return false;
    if (stats.isSymbolicLink()) throw new Error('a link is followed under watch only');
  }
  return true;
}

/**
 * Of an event that is not known, nothing is known but that hooks stand under this key. At the start of a session, the
 * person is told of all hooks that do not run, whatever their event.
 */
function namesIn(input: HookInputReading): readonly string[] {
  const event = 'value' in input && isRecord(input.value) && input.value['hook_event_name'];
  const names = typeof event === 'string' && event !== 'SessionStart' ? allNamesOf(event) : [];
  return names.length > 0 ? names : ['hooks'];
}

function mayName(file: string, names: readonly string[]): boolean {
  if (!isThere(file)) return false;
  const text = readTextSync(file);
  return [String.raw`\u`, ...names].some((each) => text.includes(each));
}
