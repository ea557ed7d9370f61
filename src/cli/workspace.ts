import { realpath, stat } from 'node:fs/promises';
import { Config } from '../config/config.js';
import {
  formatProblem,
  loadSettings,
  loadSettingsFile,
  type FileProblem,
  type Settings,
  type SettingsOrigins,
} from '../config/settings.js';
import { CliLogger } from './cliLogger.js';
import { printNotice } from './terminal.js';
import { UsageError } from './usageError.js';

/** The options that every sub-command has. */
export interface WorkspaceOptions {
  /** The project. Default the current directory. */
  readonly cwd?: string;
  /** A settings file to use in place of the project's, the user's and the system's. */
  readonly settings?: string;
  /** Lets the hooks of the project's own settings file run. */
  readonly trust?: boolean;
}

/** A project with its settings. */
export interface Workspace {
  readonly config: Config;
  readonly settings: Settings;
  /** Where the settings come from. */
  readonly origins: SettingsOrigins;
  readonly isTrusted: boolean;
}

/**
 * Reads the settings of a project, and tells on stderr what is wrong with them and which hooks are not trusted.
 *
 * @param forceHooks let hooks run even where the settings say otherwise
 * @param needsAllFiles whether a file that counts and cannot be read ends the command, as whoever runs hooks wants;
 *   one that the user named always does
 * @param firesOnce no more than one event comes
 * @throws UsageError when `cwd` is no directory, or `settings` cannot be read
 */
export async function openWorkspace(
  options: WorkspaceOptions,
  { forceHooks = false, needsAllFiles = true, firesOnce = false } = {},
): Promise<Workspace> {
  const workingDir = await resolveWorkingDir(options.cwd ?? process.cwd());
  const isTrusted = options.trust === true || process.env['HOOKSTACK_TRUST_WORKSPACE'] === 'true';
  const { settings, problems, origins } =
    options.settings === undefined
      ? await loadSettings({ workingDir, trustProject: isTrusted })
      : await loadSettingsFile(options.settings);
  const isNeeded = ({ scope }: FileProblem) =>
    scope === 'file' || (needsAllFiles && (isTrusted || scope !== 'project'));
  reportProblems(problems, isNeeded);

  const enableHooks = settings.enableHooks || forceHooks;
  if (forceHooks && !settings.enableHooks) {
    printNotice('note', 'cyan', 'enableHooks is not true in the settings; here hooks run anyway');
  }
  if (enableHooks && !isTrusted) announceUntrusted(settings);
  const config = new Config({
    ...settings,
    workingDir,
    enableHooks,
    trustedFolder: isTrusted,
    // One event and no next one: nothing to keep ready for.
    ...(firesOnce && { hooksRunner: { warmShells: 0 } }),
    debugLogger: new CliLogger('llxprt:core:hooks'),
  });
  return { config, settings, origins, isTrusted };
}

/** The real path of a project.
 *
 * @throws UsageError when it is no directory
 */
export async function resolveWorkingDir(directory: string): Promise<string> {
  try {
    const path = await realpath(directory);
    if ((await stat(path)).isDirectory()) return path;
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--cwd ${directory} cannot be used (${detail}); name a directory`, {
      cause,
    });
  }
  throw new UsageError(`--cwd ${directory} is no directory; name one`);
}

/** A file of which nothing can be read ends the command: the agent would run without the guards that are in it. */
function reportProblems(
  problems: readonly FileProblem[],
  isNeeded: (problem: FileProblem) => boolean,
): void {
  for (const problem of problems) {
    const line = formatProblem(problem);
    if (problem.severity === 'error' && isNeeded(problem)) throw new UsageError(line);
    printNotice('warning', 'yellow', line);
  }
}

function announceUntrusted({ hooks }: Settings): void {
  const count = Object.values(hooks)
    .flat()
    .filter(({ origin }) => origin?.scope === 'project')
    .reduce((total, group) => total + group.hooks.length, 0);
  if (count === 0) return;
  const [what, them] = count === 1 ? ['1 hook', 'it'] : [`${count} hooks`, 'them'];
  printNotice(
    'warning',
    'yellow',
    `${what} of this project skipped, as the project is not trusted; allow ${them} with --trust or HOOKSTACK_TRUST_WORKSPACE=true`,
  );
}
