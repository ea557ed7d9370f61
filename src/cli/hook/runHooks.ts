import { realpathSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { extensionsIn } from '../../config/settings/settingsPlaces.js';
import { closeIdleConnections } from '../../fleet/remoteHooks.js';
import { findHome } from '../../util/homeDirectory.js';
import { DIALECT_NAMES, readSender } from '../../protocol/names.js';
import { suggestName } from '../../util/suggestName.js';
import { LIMITS } from '../shared/limits.js';
import { UsageError } from '../shared/usageError.js';
import { findProjectRoot, isLinked, isThere, PROJECT_MARKERS } from '../shared/projectRoot.js';
import { Watchdog } from '../shared/watchdog.js';
import { openWorkspace } from '../shared/workspace.js';
import { answerEvent } from './answerEvent.js';
import { surviveCrashes } from './crash.js';
import type { HookOptions } from './hookArguments.js';
import {
  lastWords,
  namedDirectories,
  projectDirectory,
  readEvent,
  readInput,
  refusalBy,
  senderOf,
  type HookInputReading,
} from './event.js';
import { block, BLOCKED, keepStdout, surviveOutputs, writeAnswer } from './writeAnswer.js';

/** Ms until the watchdog is started where nothing is known that could hold up the main thread: mostly, all is over by then. */
const WATCH_DELAY_MS = 1000;

const GUESSED =
  'it was taken for Claude Code, as nothing tells who sent it: name the agent with --from';

type RunOptions = Omit<HookOptions, 'from'> & { readonly from?: string };

/**
 * Answers one event of an agent in a process of its own, which ends with it.
 *
 * @returns the exit code
 */
export async function runHooks({ from: said, ...given }: RunOptions): Promise<number> {
  const from = said ?? 'claude';
  const named = readSender(from);
  if (!named)
    throw new UsageError(`There is no agent "${from}"; ${suggestName(from, DIALECT_NAMES)}`);
  surviveOutputs();
  keepStdout();
  const input = await readInput();
  const options: HookOptions = senderOf({ ...given, ...named }, input);
  const read = readEvent(options, input);
  const isGuess = said === undefined && options.from === from && 'problem' in read;
  const event = isGuess ? { ...read, problem: `${read.problem}; ${GUESSED}` } : read;
  // The agent has waited since the process began.
  const left = LIMITS.blocked - performance.now();
  const watchdog = new Watchdog(lastWords(event, options.from), left, WATCH_DELAY_MS);
  if (isBehindLink(options, input)) watchdog.watch();
  const { directory, source } = projectDirectory(options, input, process.cwd());
  if (mayHang(options, directory)) watchdog.watch();
  const crash = surviveCrashes(watchdog);
  if (refusalBy(event, options.from)) crash.withholds();
  let exitCode = BLOCKED;
  try {
    const place = { cwd: directory, cwdSource: source };
    const answer = await answerEvent({ ...options, ...place }, event, { ...crash, openWorkspace });
    exitCode =
      'blocked' in answer
        ? block(answer.blocked)
        : await writeAnswer(answer, () => watchdog.watch());
    return exitCode;
  } finally {
    crash.over(exitCode);
    await closeIdleConnections();
  }
}

/** Whether the directory that the event names is behind a link: some lead to a drive that never answers. */
function isBehindLink(options: HookOptions, input: HookInputReading): boolean {
  const [named] = namedDirectories(options.from, input);
  const directory = options.cwd ?? named?.value ?? '/';
  try {
    let folder = path.parse(directory).root;
    for (const part of directory.slice(folder.length).split(path.sep)) {
      folder = path.join(folder, part);
      if (lstatSync(folder).isSymbolicLink()) return true;
    }
  } catch {
    // What is not there leads nowhere.
  }
  return false;
}

/**
 * Whether the main thread may not come back: from code of an extension, from a file that the user has named, or from what a
 * project has in its settings, or in their place, as all of that may name a drive that never answers.
 */
function mayHang({ settings }: HookOptions, directory: string): boolean {
  if (settings !== undefined) return true;
  try {
    const { marker } = findProjectRoot(realpathSync(directory), PROJECT_MARKERS, isThereItself);
    const home = findHome();
    return marker !== undefined || (home !== undefined && isThere(extensionsIn(home)));
  } catch {
    return true;
  }
}

/** @throws Error at a link, which is followed under watch only */
function isThereItself(file: string): boolean {
  if (isLinked(file)) throw new Error('a link');
  return isThere(file);
}
