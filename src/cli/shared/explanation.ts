import {
  createExecutionPlan,
  isConcerned,
  isOfMoment,
  MatcherBudget,
  planContext,
  type PlanContext,
} from '../../middleware/planner.js';
import type { FileProblem, SettingsOrigins } from '../config/settings/settings.js';
import { dialects, theirEventName, theirSubject } from '../dialects/words.js';
import { events } from '../protocol/events.js';
import { buildHookEnvironment } from '../run/hookEnvironment.js';
import type { HookRegistryEntry } from '../hooks/hookRegistry.js';
import { commandLine, hookIdentity } from '../protocol/identity.js';
import { findGuards, findSubstitutes } from '../protocol/sameCommand.js';
import { startOptions } from '../run/preparedInput.js';
import type { HookEventName, Moment } from '../protocol/types.js';
import { environmentOf } from '../process/startCommand.js';
import { CliLogger } from './cliLogger.js';
import { requireNamedEvent } from './eventName.js';
import { completeFields, decodeFields } from './firePayload.js';
import { formatExplanation } from './explainText.js';
import { describeEntry, findReason, openRegistry, type ListedHook } from './hookEntries.js';
import { printJson, printLine, printNotice } from './terminal.js';
import { openWorkspace, type Workspace, type WorkspaceOptions } from './workspace.js';

/** The options of `hookstack explain`. */
export interface ExplainOptions extends WorkspaceOptions {
  readonly tool?: string;
  readonly json?: boolean;
}

/** Which hooks an event would run, as `explain --json` writes it. */
export interface Explanation {
  readonly event: HookEventName;
  /** The moment of it that another agent has an event of its own for. */
  readonly moment: Moment | null;
  /** What matchers are tested against; `null` where none is given, or the event has none. */
  readonly tool: string | null;
  /** At an event without a tool, what matchers of other agents are tested against. */
  readonly subject: string | null;
  readonly enableHooks: boolean;
  /** The settings file that says so. */
  readonly enableHooksFile: string | null;
  readonly sequential: boolean;
  /** Those that run, in their order, then the others. */
  readonly hooks: readonly ExplainedHook[];
  /** What was left out of the settings: a hook that is missing may be in there. */
  readonly problems: readonly FileProblem[];
  /** Names of the variables that all hooks get. */
  readonly environment: readonly string[];
  /** Names of the variables of this process that hooks do not get. */
  readonly withheld: readonly string[];
}

/** One hook of an event. */
export interface ExplainedHook extends Omit<ListedHook, 'enabled' | 'duplicateOf' | 'sequential'> {
  /** Whether it would run for the event while hooks are on. */
  readonly runs: boolean;
  /** From 1, for one that runs. */
  readonly order: number | null;
  /** Why it does not run. */
  readonly reason: string | null;
  /** What the shell is given; of a program without a shell, its words. */
  readonly resolvedCommand: string;
  /** Also `deny` for one that runs in the place of a guard. */
  readonly onFailure: 'allow' | 'deny';
  /** Names of the variables that it has besides those of all hooks. */
  readonly environment: readonly string[];
}

/**
 * `hookstack explain`: which hooks an event would run, and why not the others, on stdout. Starts nothing.
 *
 * @throws UsageError
 */
export async function explain(eventName: string, options: ExplainOptions): Promise<void> {
  const { event, moment } = requireNamedEvent(eventName);
  const workspace = await openWorkspace(options, { needsAllFiles: false });
  if (options.tool !== undefined && !events[event].matchOn) {
    printNotice('note', 'cyan', `--tool has no effect on ${event}`);
  }
  const context = events[event].matchOn ? { toolName: options.tool, moment } : sampleContext(event);
  const explanation = await explainEvent(workspace, event, context);
  if (options.json) printJson(explanation);
  else printLine(formatExplanation(explanation));
}

/** What `fire` plans with when it is told nothing. */
function sampleContext(event: HookEventName): PlanContext | undefined {
  return planContext({ event, payload: decodeFields(event, completeFields(event, {})) });
}

/** @param context what matchers are tested against; without it, hooks count as matching */
export async function explainEvent(
  { config, settings, origins, problems }: Workspace,
  event: HookEventName,
  context: PlanContext | undefined,
): Promise<Explanation> {
  const registry = await openRegistry(config);
  const logger = new CliLogger('llxprt:core:hooks:planner');
  const entries = registry.getAllHooks().filter(({ eventName }) => eventName === event);
  const budget = new MatcherBudget();
  const substitutes = findSubstitutes(
    entries
      .filter(({ enabled }) => enabled)
      .filter((entry) => isConcerned(registry, entry, context, logger, budget)),
  );
  const workingDir = config.getWorkingDir();
  const environment = buildHookEnvironment(config.getHookEnvironment(), workingDir);
  const guards = findGuards(substitutes);
  const hooks = entries.map((entry) => {
    const counted = substitutes.get(entry);
    const reason =
      reasonToSkip(entry, origins) ??
      whyNotNow(entry, context) ??
      (counted ? null : whyNotMatched(entry, context)) ??
      (counted === entry
        ? null
        : `runs once, as "${hookIdentity((counted ?? entry).config)}": it is the same command`);
    return explainHook(entry, reason, guards.has(entry), workingDir, environment);
  });
  const running = hooks.filter(({ runs }) => runs);
  const common = namesOf(environmentOf({ env: environment }, ''));
  return {
    event,
    moment: context?.moment ?? null,
    tool: context?.toolName ?? null,
    subject: context?.subject ?? null,
    enableHooks: settings.enableHooks,
    enableHooksFile: origins.enableHooks?.file ?? null,
    sequential: createExecutionPlan(registry, logger, event, context)?.sequential ?? false,
    hooks: [
      ...running.map((hook, index) => ({ ...hook, order: index + 1 })),
      ...hooks.filter(({ runs }) => !runs),
    ],
    problems,
    environment: common,
    withheld: namesOf(process.env).filter((name) => !common.includes(name)),
  };
}

function whyNotMatched(
  { matcher, config }: HookRegistryEntry,
  { toolName, subject = '' }: PlanContext = {},
): string {
  const spoken = config.dialect && dialects[config.dialect];
  const tested = toolName ?? (spoken ? theirSubject(spoken, subject) : subject);
  return `its matcher ${quote(matcher)} does not match ${tested}`;
}

function reasonToSkip(entry: HookRegistryEntry, origins: SettingsOrigins): string | null {
  const reason = findReason(entry, true);
  if (entry.skipped !== 'disabled') return reason;
  const files = origins.disabledHooks.get(hookIdentity(entry.config)) ?? [];
  return [reason, ...files.map(({ file }) => file)].join(' in ');
}

function explainHook(
  entry: HookRegistryEntry,
  reason: string | null,
  isGuard: boolean,
  workingDir: string,
  environment: NodeJS.ProcessEnv,
): ExplainedHook {
  const described = describeEntry(entry, true);
  const { event, hook, command, source, file, extension, matcher, dialect, moment, timeoutMs } =
    described;
  const { extraEnv, ...started } = startOptions(entry.config, {
    input: { cwd: workingDir, session_id: '' },
    env: environment,
  });
  return {
    event,
    hook,
    order: null,
    runs: reason === null,
    reason,
    command,
    args: described.args,
    resolvedCommand: commandLine(started),
    source,
    file,
    extension,
    matcher,
    dialect,
    moment,
    timeoutMs,
    class: described.class,
    onFailure: isGuard ? 'deny' : (entry.config.onFailure ?? 'allow'),
    environment: Object.keys(extraEnv ?? {}).toSorted(),
  };
}

/** Why a hook does not run at this moment of the event; `null` where the moment is no reason. */
function whyNotNow(
  { config, eventName }: HookRegistryEntry,
  context: PlanContext | undefined,
): string | null {
  if (isOfMoment(config, context?.moment)) return null;
  const spoken = config.dialect && dialects[config.dialect];
  if (!spoken) return `runs at ${eventName} alone`;
  return `runs at ${theirEventName(spoken, eventName, config.moment)} of ${spoken.agent} alone`;
}

function quote(text: string | undefined): string {
  return JSON.stringify(text ?? '');
}

function namesOf(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => env[name] !== undefined)
    .toSorted();
}
