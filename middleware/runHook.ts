import type { Middleware } from '../src/compose.js';
import { MAX_KEPT_ANSWER_BYTES } from '../src/process/command/limits.js';
import { withoutHello } from '../src/process/persistent/lines.js';
import type { PersistentHooks } from '../src/process/persistent/persistentHooks.js';
import type { CommandOptions, CommandOutcome } from '../src/process/command/outcome.js';
import { runCommand } from '../src/process/command/runCommand.js';
import { runInSpawner } from '../src/process/spawner/spawner.js';
import { failsClosed, type CallFacts } from '../src/protocol/events.js';
import { hookIdentity, shortIdentity } from '../src/protocol/identity.js';
import type { TextBound } from '../src/protocol/sanitizeText.js';
import { readHookOutput } from '../src/protocol/readHookOutput.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionResult,
} from '../src/protocol/types.js';
import { maskSecrets } from '../src/run/hookEnvironment.js';
import { NO_GUARD, type HookFailure } from '../src/run/hookFailure.js';
import type { HookRun } from '../src/run/hookRun.js';
import {
  deadlineOf,
  MAX_HOOK_DEPTH,
  hookDepth,
  startOptions,
  type PreparedInput,
  type HookPlace,
} from '../src/run/preparedInput.js';
import { keptHook, type FindObjection } from '../src/run/startAhead.js';
import { loadedRules, loadRules } from '../src/rules/load.js';
import { traceHook } from '../src/trace/hookSpans.js';
import { channels } from '../src/trace/span.js';
import type { DebugLogger } from '../src/util/debugLogger.js';
import { errorMessage } from '../src/util/errorMessage.js';
import { dialect } from '../src/run/dialect.js';
import { askHook, type Answering } from './askHook.js';
import { ageOf, faultOfInput, readFailedRun, toResult } from './readRun.js';

/** How a hook is run. */
export interface RunOptions extends HookPlace, Answering {
  readonly logger: DebugLogger;
  /** How many hooks may be started ahead of their event; 0 starts each when it is needed. */
  readonly warmShells: number;
  /** Whether the spawner may run them. Default false. */
  readonly spawner?: boolean;
  /** Keeps the processes of hooks that say `persistent`; without it, they are started for each event. */
  readonly persistent?: PersistentHooks | undefined;
  /** What is known of the call besides what hooks of ours read. */
  readonly facts?: CallFacts | undefined;
  /** Stands next to the process of each hook: sees what it reads and how it ends, as they are. */
  readonly probe?: Middleware<HookRun>;
  /**
   * Why a hook of a project must not start, as the end of "The hook …". Asked before a start ahead of its event as well.
   * Whoever objects tells the user.
   */
  readonly findObjection?: FindObjection;
  /**
   * The same for a hook of a project that is to start now: switches it off where the objection lasts. Without it,
   * `findObjection` is asked about every hook.
   */
  readonly enforceConsent?: FindObjection;
  /** How long texts of hooks may be, and what becomes of longer ones. Default: 10,000 characters, and a cut. */
  readonly textBound?: SessionTextBound | undefined;
  /** What was told once and is not told again; without it, everything is told each time. */
  readonly warned?: Set<string> | undefined;
}

/** A bound whose longer texts are kept for a session. */
export interface SessionTextBound {
  readonly max: number;
  readonly shorten?: (text: string, max: number, sessionId: string) => string | undefined;
}

/**
 * Runs one hook to its end. Never rejects: a hook that fails is a result like any other, and a fault around one hook is
 * no reason to lose what the others say.
 */
export function runHook(
  hook: CommandHookConfig,
  event: HookEventName,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<HookExecutionResult> {
  if (!channels.hook.hasSubscribers) return runUntraced(hook, event, prepared, options);
  return traceHook(hook, event, prepared, () => runUntraced(hook, event, prepared, options));
}

async function runUntraced(
  hook: CommandHookConfig,
  event: HookEventName,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<HookExecutionResult> {
  try {
    const { findObjection, enforceConsent = findObjection } = options;
    const isAsked = hook.scope === 'project' || enforceConsent === findObjection;
    const objection = isAsked ? enforceConsent?.(hook) : undefined;
    const failure = findRefusal(hook, prepared, objection && (await objection));
    if (failure) {
      // What may not be started may not go on either.
      dropKept(hook, options);
      return toResult({ hook, event }, { read: {}, failure }, options);
    }
    if (hook.type === 'rule') return await answerByRule(hook, event, prepared, options);
    const run = newRun(hook, event, prepared, options);
    if (hook.dialect === undefined && !options.probe) await start(run, prepared, options);
    else await startWithDialect(run, prepared, options);
    return readRun(run, options);
  } catch (error) {
    const failure = refused(`could not be run: ${errorMessage(error)}`);
    return toResult({ hook, event }, { read: {}, failure }, options);
  }
}

function dropKept(hook: CommandHookConfig, { persistent, mcp }: RunOptions): void {
  persistent?.drop(hook);
  mcp?.drop(hook);
}

/** Nothing is started, and so there is nothing that could have ended badly. */
async function answerByRule(
  hook: CommandHookConfig,
  event: HookEventName,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<HookExecutionResult> {
  const startedAt = performance.now();
  const { answerRule } = loadedRules() ?? (await loadRules());
  const answer = answerRule(hook, event, prepared);
  const { output, matched, failure } = answer instanceof Promise ? await answer : answer;
  if (failure !== undefined) {
    return toResult({ hook, event }, { read: {}, failure: refused(failure) }, options);
  }
  const duration = performance.now() - startedAt;
  const said = { ...(output && { output }), ...(matched !== undefined && { matched }) };
  return { hookConfig: hook, eventName: event, success: true, duration, ...said };
}

/** Makes a result of a run that has ended. Most hooks end well, and say what can be read. */
function readRun(run: HookRun, options: RunOptions): HookExecutionResult {
  const { hook, event, outcome, said } = run;
  const hasEndedWell = outcome?.ending === 'exit' && outcome.exitCode === 0 && !said;
  if (hasEndedWell && !outcome.stdoutTruncated && !outcome.stragglers) {
    const { stdout, stderr, kept, durationMs: duration } = outcome;
    const { output, problems, unreadable } = readHookOutput(stdout, undefined, run.textBound);
    const answer = { ...(output && { output }), ...(kept && { process: ageOf(kept) }) };
    const result = { hookConfig: hook, eventName: event, success: true, stdout, stderr };
    const isReadable = problems.length === 0 && unreadable === undefined;
    // What comes after a spread takes V8 fifty times as long.
    if (isReadable) return { exitCode: 0, duration, ...result, ...answer };
  }
  return readFailedRun(run, options);
}

function findRefusal(
  hook: CommandHookConfig,
  prepared: PreparedInput,
  objection: string | undefined,
): HookFailure | undefined {
  if (objection !== undefined) return { kind: 'untrusted', what: objection };
  const refusal = refusalOf(hook);
  if (refusal || hook.type === 'rule') return refusal;
  if (hookDepth() >= MAX_HOOK_DEPTH) {
    return refused(`was not started: hooks that start agents are ${MAX_HOOK_DEPTH} deep already`);
  }
  const { stdin } = prepared;
  return stdin instanceof Error ? faultOfInput(stdin) : undefined;
}

function refusalOf(hook: CommandHookConfig): HookFailure | undefined {
  if (hook.type === 'plugin') return refused(NO_PLUGINS);
  if (hook.onFailure !== 'deny') return undefined;
  if (hook.type === 'prompt') return refused(`was not asked: ${NO_GUARD}`);
  return hook.async || hook.asyncRewake ? refused(ASYNC_GUARD) : undefined;
}

const NO_PLUGINS = 'has the type "plugin", which cannot be run: use "command"';

const ASYNC_GUARD = 'is a guard, and "async", so that nobody would wait for it: remove "async"';

function refused(what: string): HookFailure {
  return { kind: 'refused', what };
}

function newRun(
  hook: CommandHookConfig,
  event: HookEventName,
  { input, stdin }: PreparedInput,
  { logger, environment, warned, textBound, facts = {} }: RunOptions,
): HookRun {
  const { timeoutMs, problem } = deadlineOf(hook, event);
  if (problem) logger.warn(`Hook "${shortIdentity(hook)}": ${problem}`);
  const warn = (message: string) =>
    logger.warn(`Hook "${shortIdentity(hook)}" (${event}): ${maskSecrets(message, environment)}`);
  const warnOnce = (message: string) => {
    const key = JSON.stringify([hookIdentity(hook), event, message]);
    if (!warned?.has(key)) warn(message);
    warned?.add(key);
  };
  const bound = textBound && ofSession(textBound, input.session_id);
  return { hook, event, input, facts, textBound: bound, timeoutMs, warn, warnOnce, stdin };
}

function ofSession({ max, shorten }: SessionTextBound, sessionId: string): TextBound {
  return { max, shorten: (text) => shorten?.(text, max, sessionId) };
}

/** Around the process, from the outside in: a dialect, and what looks at what goes in and comes out. */
function startWithDialect(
  run: HookRun,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<void> {
  const startAlone = () => start(run, prepared, options);
  return dialect(run, async () => (options.probe ? options.probe(run, startAlone) : startAlone()));
}

/** Has the hook read its input and end, or a process of it that stays answer. Nothing is started where somebody around it left no input. */
async function start(run: HookRun, prepared: PreparedInput, options: RunOptions): Promise<void> {
  const { hook, event, stdin } = run;
  if (stdin instanceof Error) return;
  if (hook.type !== 'command') return askHook(run, stdin, prepared, options);
  const command: CommandOptions = Object.assign(startOptions(hook, prepared), {
    input: stdin,
    // An answer may hold all of the input, changed.
    keepStdoutBytes: Math.max(MAX_KEPT_ANSWER_BYTES, 2 * stdin.byteLength),
    timeoutMs: run.timeoutMs,
    signal: options.signal,
    mustAnswer: failsClosed(hook, event),
    warmShells: options.warmShells,
    prestart: hook.prestart,
  });
  const { persistent, findObjection, spawner } = options;
  const isKept = hook.persistent && persistent;
  const kept = isKept && persistent.run(hook, keptHook(hook, run.warnOnce, findObjection), command);
  run.outcome = await (kept || runOnce(command, hook, spawner));
}

/** By the spawner, unless it cannot take the command; else here. */
async function runOnce(
  command: CommandOptions,
  { persistent }: CommandHookConfig,
  spawner: boolean | undefined,
): Promise<CommandOutcome> {
  const outcome = (spawner && (await runInSpawner(command))) || (await runCommand(command));
  return persistent ? withoutHello(outcome) : outcome;
}
