import { lstatSync, realpathSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { extensionsIn, findSettingsFiles } from '../../config/settings/settingsPlaces.js';
import { allNamesOf } from '../../dialects/eventNames.js';
import { readTextSync } from '../../util/guardedRead.js';
import { findHome } from '../../util/surroundings.js';
import { isRecord } from '../../util/records.js';
import { findProjectRoot, isThere, PROJECT_MARKERS } from '../shared/projectRoot.js';
import type { HookOptions } from './hookArguments.js';
import { projectDirectory } from './projectDirectory.js';
import { readInput, type HookInputReading } from './readInput.js';

/**
 * Answers one event of an agent. What runs hooks is loaded once it is known that there may be some: most events have
 * none, and an agent waits for each answer.
 *
 * @returns the exit code
 */
export async function answerEvent(options: HookOptions): Promise<number> {
  const input = await readInput();
  const { directory, source } = projectDirectory(options, input, process.cwd());
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
