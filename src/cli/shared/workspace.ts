import type { Approver } from '../../protocol/approval.js';
import { realpath, stat } from 'node:fs/promises';
import type { ConsentReview, Extension } from '../../hooks/entry.js';
import { Config, type ConfigOptions, type ReloadedOptions } from '../../config/config.js';
import type { loadExtensions } from '../../extensions/extensions.js';
import type { UseExtensionMiddlewareOptions } from '../../extensions/extensionMiddleware.js';
import {
  loadSettings,
  loadSettingsFile,
  type LoadedSettings,
  type SettingsOrigins,
} from '../../config/settings/settings.js';
import type { Settings } from '../../config/settings/settingsKeys.js';
import { formatProblem, type FileProblem } from '../../util/fileProblem.js';
import { HookRegistry } from '../../hooks/hookRegistry.js';
import type { DebugLogger } from '../../util/debugLogger.js';
import { CliLogger } from './cliLogger.js';
import type { WorkspaceOptions } from './options.js';
import { findProjectRoot, PROJECT_MARKERS } from './projectRoot.js';
import { tellForeignHooks } from './foreignSettings.js';
import { whyHooksAreOff } from './hookColumns.js';
import { printNotice, toVisible } from './terminal.js';
import { orUsageError, UsageError } from './usageError.js';
import { hostEnvironment } from '../../util/requester.js';

export interface Workspace {
  readonly config: Config;
  /** Another one of the same files, with nobody to be asked. */
  readonly configOfNobody: () => Config;
  readonly settings: Settings;
  readonly origins: SettingsOrigins;
  /** What was left out of settings and extensions, and why. */
  readonly problems: readonly FileProblem[];
  readonly isTrusted: boolean;
  /** What the user's consent says of the project's keys besides `hooks`, where one of them needs it. */
  readonly review?: ConsentReview;
  /** Whether a file that counts could not be read, so that hooks may be missing. */
  readonly isIncomplete: boolean;
  /** Has changes of the files count at the next event. */
  readonly watch: () => Promise<unknown>;
}

/** Who answers hooks that want a person to be asked. */
export interface Asking {
  readonly approver?: Approver;
  /** In place of what the settings say. */
  readonly whenNobody?: 'allow' | 'deny';
}

interface WorkspaceNeeds {
  /** Default: nobody. */
  readonly asking?: Asking;
  /** Run hooks even where the settings say otherwise. Default false. */
  readonly forceHooks?: boolean;
  /** End the command for an unreadable file that counts. Default true; one that the user named always does. */
  readonly needsAllFiles?: boolean;
  /** No more than one event comes. Default false. */
  readonly firesOnce?: boolean;
  /** What becomes of async hooks. Default: they are started, and where no more than one event comes, waited for. */
  readonly asyncHooks?: ConfigOptions['asyncHooks'];
  /** Default: makes a new one. */
  readonly makeConfig?: (options: ConfigOptions) => Config;
  /** Gives what was read of the project's files, where that need not be read anew. Default: reads. */
  readonly remember?: (
    workingDir: string,
    read: () => Promise<FilesOfProject>,
  ) => Promise<FilesOfProject>;
  /** What becomes of long texts of hooks. Default: they are cut. */
  readonly longHookTexts?: ConfigOptions['longHookTexts'];
  /** Where it is kept what hooks that are prompts have used. Default: in this process. */
  readonly promptMemory?: ConfigOptions['promptMemory'];
  /** Start persistent hooks for each event. Default: where no more than one comes. */
  readonly startsEachHook?: boolean;
  /** Import the middleware of extensions. Default false. */
  readonly withMiddleware?: boolean;
  /** Ignore --trust and the environment: only what the user has allowed runs. Default false. */
  readonly asksForConsent?: boolean;
  /** Default: one that writes to stderr. */
  readonly logger?: DebugLogger;
  /** Tell of hooks that stand in the settings of another agent only. Default: where problems are printed. */
  readonly tellsForeign?: boolean;
  /** Print no problems, as they have been told. Default false. */
  readonly isQuiet?: boolean;
}

/** Prints problems to stderr. Throws UsageError when `cwd` is not a directory, or `settings` cannot be read. */
export async function openWorkspace(
  options: WorkspaceOptions,
  needs: WorkspaceNeeds = {},
): Promise<Workspace> {
  const { approver, whenNobody } = needs.asking ?? {};
  const { forceHooks = false, needsAllFiles = true, firesOnce = false } = needs;
  const { startsEachHook = firesOnce } = needs;
  const workingDir = await resolveWorkingDir(options.cwd, PROJECT_MARKERS, options.cwdSource);
  const isTrusted = !needs.asksForConsent && isTrustedRun(options);
  const read = () => readFiles(workingDir, options.settings, isTrusted);
  const { settings, origins, review, extensions, problems } = await (needs.remember
    ? needs.remember(workingDir, read)
    : read());
  const isBroken = unreadableFiles(problems).length > 0;
  const countsProject = isTrusted || (isBroken && (await isAllowed(workingDir)));
  let isIncomplete = false;
  for (const problem of problems) {
    const { scope, severity } = problem;
    const counts = severity === 'error' && (countsProject || scope !== 'project');
    // The agent would run without the guards that may be in this file.
    if (counts && (needsAllFiles || scope === 'file')) throw new UsageError(formatProblem(problem));
    isIncomplete ||= counts;
    // Whoever is asked sees it.
    const isAsked = needs.asksForConsent === true && problem.kind === 'untrusted';
    if (!isAsked && !needs.isQuiet) printProblem(problem);
  }
  if (forceHooks && !settings.enableHooks) {
    const why = whyHooksAreOff(origins.enableHooks?.file);
    printNotice('note', `hooks are off for agents, as ${why}; here they run anyway`);
  }
  const hasHooks = Object.keys(settings.hooks ?? {}).length > 0 || extensions.length > 0;
  const tellsForeign = needs.tellsForeign ?? !needs.isQuiet;
  if (!hasHooks && !isIncomplete && tellsForeign && options.settings === undefined)
    await tellForeignHooks(workingDir);
  const ofFleet = await approverOfFleet(settings);
  const { makeConfig: make = (given) => new Config(given) } = needs;
  const optionsOf = (now: Settings, found: readonly Extension[]): ReloadedOptions => ({
    ...now,
    extensions: found,
    enableHooks: now.enableHooks || forceHooks,
    hookEnvironment: { ...now.hookEnvironment, host: hostEnvironment() },
    approvals: { ...now.approvals, ...(whenNobody && { whenNobody }) },
    // Also where they are not said any more.
    afterModelDisplay: now.afterModelDisplay,
    maxParallelHooks: now.maxParallelHooks,
    maxAsyncHooks: now.maxAsyncHooks,
    maxHookText: now.maxHookText,
    promptModel: now.promptModel,
    promptBudget: now.promptBudget,
  });
  const makeConfig = (asked?: Approver) =>
    make({
      ...optionsOf(settings, extensions),
      workingDir,
      approver: ofFleet ?? asked,
      ...(isTrusted && { trustedFolder: true }),
      // No next event, so nothing to keep ready.
      ...(firesOnce && { hooksRunner: { warmShells: 0, spawner: false } }),
      longHookTexts: needs.longHookTexts,
      promptMemory: needs.promptMemory,
      keepHooks: !startsEachHook,
      asyncHooks: needs.asyncHooks ?? (firesOnce ? 'wait' : 'start'),
      debugLogger: needs.logger ?? new CliLogger('llxprt:core:hooks'),
    });
  const config = makeConfig(approver);
  if (needs.withMiddleware) await addMiddleware(config);
  const configOfNobody = () => makeConfig();
  const watch = () =>
    config.watch({
      ...(options.settings === undefined
        ? { trustProject: isTrusted || undefined, loadExtensions: findExtensions }
        : { file: options.settings }),
      toOptions: optionsOf,
    });
  const found = { settings, origins, problems, isTrusted, review, isIncomplete };
  return { config, configOfNobody, watch, ...found };
}

const findExtensions: typeof loadExtensions = async (places) =>
  (await import('../../extensions/extensions.js')).loadExtensions(places);

/** Who asks for the consent of the fleet's people is not content with that of whoever sits in front of the agent. */
async function approverOfFleet({ fleet }: Settings): Promise<Approver | undefined> {
  if (!fleet?.approvals) return undefined;
  const { fleetApprover } = await import('../../fleet/fleetApprover.js');
  return fleetApprover(fleet);
}

/** What the settings and extensions of a project say, with those of the user and the system. */
export interface FilesOfProject extends LoadedSettings {
  readonly extensions: readonly Extension[];
}

/** A `named` settings file replaces all others. */
async function readFiles(
  workingDir: string,
  named: string | undefined,
  isTrusted: boolean,
): Promise<FilesOfProject> {
  if (named !== undefined) return { ...(await loadSettingsFile(named)), extensions: [] };
  const loaded = await loadSettings({ workingDir, trustProject: isTrusted || undefined });
  const { extensions, problems } = await findExtensions({ workingDir });
  return { ...loaded, extensions, problems: [...loaded.problems, ...problems] };
}

export function unreadableFiles(problems: readonly FileProblem[]): string[] {
  return problems
    .filter(({ scope, severity }) => scope === 'project' && severity === 'error')
    .map(({ file }) => file);
}

/** If so, a guard may be in a file of the project that cannot be read. */
async function isAllowed(project: string): Promise<boolean> {
  if (hostEnvironment()['HOOKSTACK_TRUST_LOCK']) return true;
  const { consentFileIn, readConsents } = await import('../../trust/consentStore.js');
  const { content } = await readConsents(consentFileIn());
  return content?.has(project) === true;
}

/** @param onRefused called with each module that is not trusted. Default: a warning */
export async function addMiddleware(
  config: Config,
  onRefused?: UseExtensionMiddlewareOptions['onRefused'],
): Promise<void> {
  const extensions = config.getExtensions();
  if (!extensions.some(({ middleware = [] }) => middleware.length > 0)) return;
  const { useExtensionMiddleware } = await import('../../extensions/extensionMiddleware.js');
  await useExtensionMiddleware(config, extensions, { onRefused, onProblem: printProblem });
}

export function isTrustedRun({ trust }: Pick<WorkspaceOptions, 'trust'>): boolean {
  return trust === true || hostEnvironment()['HOOKSTACK_TRUST_WORKSPACE'] === 'true';
}

/**
 * The real path of the project's root, looked for from a directory upward. Says on stderr where it is another folder.
 *
 * @throws UsageError when `directory` is not a directory
 */
export async function resolveWorkingDir(
  directory = process.cwd(),
  markers = PROJECT_MARKERS,
  source?: string,
): Promise<string> {
  const start = await resolveDirectory(directory, source);
  const { root, marker } = findProjectRoot(start, markers);
  if (root !== start) {
    printNotice(
      'note',
      `the project is ${toVisible(root)}, the nearest folder above with ${marker}`,
    );
  }
  return root;
}

/**
 * The real path, as it is.
 *
 * @throws UsageError when it is not a directory
 */
export async function resolveDirectory(directory: string, source = '--cwd'): Promise<string> {
  const said = `${source} ${toVisible(directory)}`;
  const look = async () => {
    const path = await realpath(directory);
    return { path, isDirectory: (await stat(path)).isDirectory() };
  };
  const { path, isDirectory } = await orUsageError(
    look(),
    (detail) => `${said} cannot be used (${detail}); name a directory`,
  );
  if (isDirectory) return path;
  throw new UsageError(`${said} is not a directory; name one`);
}

function printProblem(problem: FileProblem): void {
  printNotice(problem.kind === 'unsupported' ? 'error' : 'warning', formatProblem(problem));
}

/** Also while hooks are off, when the hook system has none. */
export async function openRegistry(
  config: Config,
  logger: DebugLogger = new CliLogger('llxprt:core:hooks:registry'),
): Promise<HookRegistry> {
  const registry = new HookRegistry(config, logger);
  await registry.initialize();
  return registry;
}
