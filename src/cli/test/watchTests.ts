import { readdir } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findSettingsFiles } from '../../config/settings/settingsPlaces.js';
import { errorMessage } from '../../util/errorMessage.js';
import { stampOf, statsOf } from '../../util/paths.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { printLine, printNotice, toVisible } from '../shared/terminal.js';
import { resolveWorkingDir, type Workspace } from '../shared/workspace.js';
import { findTests } from './findTests.js';

/** Ms between two looks. Files are asked, as events of file systems differ, and get lost on those of a network. */
const POLL_MS = 300;

/** Runs the tests again and again, until a signal ends the process. */
export async function watchTests(
  paths: readonly string[],
  options: WorkspaceOptions,
  run: (onOpen: (workspace: Workspace) => void) => Promise<void>,
): Promise<never> {
  const project = await resolveWorkingDir(options.cwd);
  let words: readonly string[] = [];
  const look = () => takeStamps(paths.length > 0 ? paths : [project], project, options, words);
  for (let stamps = await look(); ;) {
    await run((workspace) => {
      words = wordsOf(workspace);
    }).catch((error: unknown) => printNotice('error', errorMessage(error)));
    // What the run has shown to be of interest; the others are compared with what they were before it.
    stamps = new Map([...(await look()), ...stamps]);
    printNotice('note', 'waiting for a change of a test, a script or settings; ^C ends');
    const changed = await waitForChange(stamps, look);
    printLine(`\n${toVisible(changed.join(', '))} changed`);
    stamps = await look();
  }
}

type Stamps = ReadonlyMap<string, string>;

async function waitForChange(before: Stamps, look: () => Promise<Stamps>): Promise<string[]> {
  for (;;) {
    const startedAt = performance.now();
    const now = await look();
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter(
      (file) => before.get(file) !== now.get(file),
    );
    if (changed.length > 0) return changed;
    // A large project is not looked through all the time.
    await delay(Math.max(POLL_MS, 10 * (performance.now() - startedAt)));
  }
}

/** Of the files that matter; those that are missing have an empty one. */
async function takeStamps(
  paths: readonly string[],
  project: string,
  { settings }: WorkspaceOptions,
  words: readonly string[],
): Promise<Stamps> {
  const tests = await findTests(paths).catch(() => []);
  const settingsFiles =
    settings === undefined
      ? findSettingsFiles({ workingDir: project }).map(({ file }) => file)
      : [resolve(settings)];
  const scripts = await findScripts(project, words);
  const files = [...tests, ...settingsFiles, ...scripts];
  return new Map(files.map((file) => [file, stampOf(statsOf(file))]));
}

/** The words of all commands, without references to the project. */
function wordsOf({ config, settings }: Workspace): string[] {
  const definitions = [settings.hooks, ...config.getExtensions().map(({ hooks }) => hooks)];
  const groups = definitions.flatMap((hooks) => Object.values(hooks ?? {}).flat());
  const commands = groups
    .flatMap((group) => group.hooks)
    .flatMap(({ command, args = [] }) => [command, ...args]);
  return commands.flatMap((command) => command.match(/[^\s'"`;&|()<>$={}]+/gu) ?? []);
}

/** Files of the project that commands name, and those beside them in the same language, which they may import. */
async function findScripts(project: string, words: readonly string[]): Promise<string[]> {
  const named = words
    .map((word) => join(project, word.replace(/^\w+_PROJECT_DIR/u, '')))
    .concat(words.filter((word) => word.startsWith('/')))
    .filter((file) => statsOf(file)?.isFile());
  const beside = named.map(async (file) => {
    const all = await readdir(dirname(file)).catch(() => []);
    return all
      .filter((name) => extname(name) !== '' && extname(name) === extname(file))
      .map((name) => join(dirname(file), name));
  });
  return [...named, ...(await Promise.all(beside)).flat()];
}
