import { realpath, stat } from 'node:fs/promises';
import { Config } from '../config/config.js';
import type { UseExtensionMiddlewareOptions } from '../extensions/extensionMiddleware.js';
import type { LoadedExtensions } from '../extensions/extensions.js';
import {
  formatProblem,
  loadSettings,
  loadSettingsFile,
  type FileProblem,
  type Settings,
  type SettingsOrigins,
} from '../config/settings/settings.js';
import { CliLogger } from './cliLogger.js';
import { printNotice } from './terminal.js';
import { UsageError } from './usageError.js';

/** The options that every sub-command has. */
export interface WorkspaceOptions {
  /** The project. Default the current directory. */
  readonly cwd?: string;
  /** A settings file to use in place of the project's, the user's and the system's, and of all extensions. */
  readonly settings?: string;
  /** Lets everything of the project run, whether it was allowed or not. */
  readonly trust?: boolean;
}

/** A project with its settings. */
export interface Workspace {
  readonly config: Config;
  readonly settings: Settings;
  /** Where the settings come from. */
  readonly origins: SettingsOrigins;
  /** What was left out of the files of settings and extensions, and why. */
  readonly problems: readonly FileProblem[];
  readonly isTrusted: boolean;
}

/** What a sub-command needs of a project. */
export interface WorkspaceNeeds {
  /** Let hooks run even where the settings say otherwise. Default false. */
  readonly forceHooks?: boolean;
  /**
   * Whether a file that counts and cannot be read ends the command, as whoever runs hooks wants; one that the user
   * named always does. Default true.
   */
  readonly needsAllFiles?: boolean;
  /** No more than one event comes. Default false. */
  readonly firesOnce?: boolean;
  /** Whether the middleware of extensions is imported, as whoever fires events wants. Default false. */
  readonly withMiddleware?: boolean;
  /** What the user has allowed is what runs, whatever the environment says. Default false. */
  readonly asksForConsent?: boolean;
}

/**
 * Reads the settings of a project, and tells on stderr what is wrong with them.
 *
 * @throws UsageError when `cwd` is no directory, or `settings` cannot be read
 */
export async function openWorkspace(
  options: WorkspaceOptions,
  needs: WorkspaceNeeds = {},
): Promise<Workspace> {
  const { forceHooks = false, needsAllFiles = true, firesOnce = false } = needs;
  const workingDir = await resolveWorkingDir(options.cwd ?? process.cwd());
  const isTrusted = !needs.asksForConsent && isTrustedRun(options);
  const { settings, origins, ...loaded } =
    options.settings === undefined
      ? await loadSettings({ workingDir, trustProject: isTrusted })
      : await loadSettingsFile(options.settings);
  const found = await findExtensions(workingDir, options);
  const problems = [...loaded.problems, ...found.problems];
  const isBroken = problems.some(
    ({ scope, severity }) => scope === 'project' && severity === 'error',
  );
  const countsProject = isTrusted || (isBroken && needsAllFiles && (await isAllowed(workingDir)));
  reportProblems(
    problems,
    ({ scope }) => scope === 'file' || (needsAllFiles && (countsProject || scope !== 'project')),
  );

  const enableHooks = settings.enableHooks || forceHooks;
  if (forceHooks && !settings.enableHooks) {
    printNotice('note', 'cyan', 'enableHooks is not true in the settings; here hooks run anyway');
  }
  const config = new Config({
    ...settings,
    extensions: found.extensions,
    workingDir,
    enableHooks,
    ...(isTrusted && { trustedFolder: true }),
    // One event and no next one: nothing to keep ready for.
    ...(firesOnce && { hooksRunner: { warmShells: 0 } }),
    debugLogger: new CliLogger('llxprt:core:hooks'),
  });
  if (needs.withMiddleware) await addMiddleware(config);
  return { config, settings, origins, problems, isTrusted };
}

/** Whether the user has allowed anything of a project: then a guard may be in a file of it that cannot be read. */
async function isAllowed(project: string): Promise<boolean> {
  if (process.env['HOOKSTACK_TRUST_LOCK']) return true;
  const { consentFileIn, readConsents } = await import('../trust/consentStore.js');
  const { content } = await readConsents(consentFileIn());
  return content?.has(project) === true;
}

/** A settings file that was named is all there is. */
async function findExtensions(
  workingDir: string,
  { settings }: WorkspaceOptions,
): Promise<LoadedExtensions> {
  if (settings !== undefined) return { extensions: [], problems: [] };
  const { loadExtensions } = await import('../extensions/extensions.js');
  return loadExtensions({ workingDir });
}

/**
 * Adds the middleware of all extensions that may run.
 *
 * @param onRefused is told of each module that is not imported, for want of trust. Default: a warning
 */
export async function addMiddleware(
  config: Config,
  onRefused?: UseExtensionMiddlewareOptions['onRefused'],
): Promise<void> {
  const extensions = config.getExtensions();
  if (!extensions.some(({ middleware = [] }) => middleware.length > 0)) return;
  const { useExtensionMiddleware } = await import('../extensions/extensionMiddleware.js');
  await useExtensionMiddleware(config, extensions, { onRefused, onProblem: printProblem });
}

/** Whether the project's own hooks may run this time. */
export function isTrustedRun({ trust }: Pick<WorkspaceOptions, 'trust'>): boolean {
  return trust === true || process.env['HOOKSTACK_TRUST_WORKSPACE'] === 'true';
}

/**
 * The real path of a project.
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
    if (problem.severity === 'error' && isNeeded(problem)) {
      throw new UsageError(formatProblem(problem));
    }
    printProblem(problem);
  }
}

function printProblem(problem: FileProblem): void {
  const text = formatProblem(problem);
  if (problem.kind === 'unsupported') printNotice('error', 'red', text);
  else printNotice('warning', 'yellow', text);
}
