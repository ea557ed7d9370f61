import { composeTrusted, type Middleware, type Next } from '../src/compose.js';
import type { AnyHookContext, HookContext } from '../src/context.js';
import type { DebugLogger } from '../src/util/debugLogger.js';
import { errorMessage } from '../src/util/errorMessage.js';
import { events, failsClosed } from '../src/protocol/events.js';
import { deadlineOf } from '../src/run/deadline.js';
import { explainStderr } from '../src/run/exception.js';
import { maskSecrets, type HookEnvironmentPolicy } from '../src/run/hookEnvironment.js';
import {
  AmbiguousInput,
  MAX_HOOK_DEPTH,
  hookDepth,
  prepareInput,
  startOptions,
  type Surroundings,
  type PreparedInput,
  type Stdin,
} from '../src/run/preparedInput.js';
import {
  blocksByFailing,
  denyForFailure,
  findFailure,
  reportFailure,
  unheardReason,
  type HookFailure,
} from '../src/run/hookFailure.js';
import type { HookRun, Runner, Said } from '../src/run/hookRun.js';
import { askRemote } from '../src/fleet/remoteHooks.js';
import { hookIdentity, shortIdentity } from '../src/protocol/identity.js';
import {
  convertPlainTextToHookOutput,
  readHookOutput,
  type ReadOutput,
} from '../src/protocol/readHookOutput.js';
import type {
  CommandHookConfig,
  HookEventInput,
  HookEventName,
  HookExecutionResult,
  HookInput,
  HookOutput,
} from '../src/protocol/types.js';
import type { PersistentHooks } from '../src/process/persistent/persistentHooks.js';
import { MAX_KEPT_ANSWER_BYTES } from '../src/process/command/limits.js';
import { runCommand, type CommandOutcome } from '../src/process/command/runCommand.js';
import { runInSpawner } from '../src/process/spawner/spawner.js';
import { runKept } from '../src/run/keptHooks.js';
import type { FindObjection, StartAhead } from '../src/run/startAhead.js';
import { traceHook } from '../src/trace/hookSpans.js';
import { channels } from '../src/trace/span.js';
import { createSpecificHookOutput } from './aggregator.js';
import { askAgain } from './askAgain.js';
import { dialect } from './dialect.js';

export type { Runner } from '../src/run/hookRun.js';

/** Fourth stage: runs the plan, all hooks at once or one after the other. */
export function runner(hooks: Runner) {
  return async function runner(ctx: AnyHookContext, next: Next): Promise<void> {
    const { plan, input } = ctx;
    if (!plan || !input) return;
    ctx.results = plan.sequential
      ? await hooks.executeHooksSequential(plan.hookConfigs, ctx.event, input, ctx.signal)
      : await hooks.executeHooksParallel(plan.hookConfigs, ctx.event, input, ctx.signal);
    if (ctx.results.length > 1) ctx.results = await askAgain(ctx as HookContext, hooks);
    await next();
  };
}

/** What all hooks of a run have in common. */
export interface RunOptions extends Surroundings {
  readonly logger: DebugLogger;
  /** Processes at a time; the others wait, and their timeouts with them. */
  readonly maxParallelHooks: number;
  /** How many hooks may be started ahead of their event; 0 starts each when it is needed. */
  readonly warmShells: number;
  /** Whether the spawner may run them. Default false. */
  readonly spawner?: boolean;
  /** Keeps the processes of hooks that say `persistent`; without it, they are started for each event. */
  readonly persistent?: PersistentHooks;
  readonly signal?: AbortSignal;
  /** Stands next to the process of each hook: sees what it reads and how it ends, as they are. */
  readonly probe?: Middleware<HookRun>;
  /** Asked right before a hook of a project starts: why it must not, as the end of "The hook …". */
  readonly findObjection?: FindObjection;
  /** What was told once and is not told again; without it, everything is told each time. */
  readonly told?: Set<string>;
  /** Makes ready for the next event. */
  readonly ahead?: StartAhead;
}

/** What runs plans in the same way, each as one event's. */
export function hookRunner(options: RunOptions): Runner {
  return {
    async executeHooksParallel(hookConfigs, event, input, signal) {
      const results = await executeParallel(hookConfigs, event, input, { ...options, signal });
      prepareForNext(results, input, hookConfigs, options);
      return results;
    },
    async executeHooksSequential(hookConfigs, event, input, signal) {
      const results = await executeSequential(hookConfigs, event, input, { ...options, signal });
      prepareForNext(results, input, hookConfigs, options);
      return results;
    },
  };
}

/** Of a hook that was not started there is not even an empty output. */
function prepareForNext(
  results: readonly HookExecutionResult[],
  input: HookInput,
  hookConfigs: readonly CommandHookConfig[],
  { ahead }: RunOptions,
): void {
  for (const { stdout } of results) {
    if (stdout !== undefined) return ahead?.prepare(hookConfigs, input);
  }
}

/** Runs all hooks at once on the same input. Results come in plan order. */
export async function executeParallel(
  hookConfigs: readonly CommandHookConfig[],
  event: HookEventName,
  input: HookInput,
  options: RunOptions,
): Promise<HookExecutionResult[]> {
  const prepared = prepareInput(input, options);
  const [only] = hookConfigs;
  return only && hookConfigs.length === 1
    ? [await executeHook(only, event, prepared, options)]
    : executeSideBySide(hookConfigs, event, prepared, options);
}

async function executeSideBySide(
  hookConfigs: readonly CommandHookConfig[],
  event: HookEventName,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<HookExecutionResult[]> {
  const results: HookExecutionResult[] = [];
  const waiting = hookConfigs.entries();
  const work = async () => {
    for (const [index, hook] of waiting) {
      results[index] = await executeHook(hook, event, prepared, options);
    }
  };
  const workers = Math.min(Math.max(1, options.maxParallelHooks), hookConfigs.length);
  await Promise.all(Array.from({ length: workers }, work));
  warnOfLostOutputs(results, event, options);
  return results;
}

/** Each of them read what the tool gave, so that what one has filtered out is back in what the other made of it. */
function warnOfLostOutputs(
  results: readonly HookExecutionResult[],
  event: HookEventName,
  { logger, told }: RunOptions,
): void {
  const replacing = results.filter(({ output }) => output?.foreign?.toolOutput);
  const isLost = replacing.some(({ output }) => !output?.foreign?.toolOutput?.isDenial);
  if (replacing.length < 2 || !isLost) return;
  const names = replacing.map(({ hookConfig }) => `"${shortIdentity(hookConfig)}"`).join(', ');
  const message = `${event}: several hooks replaced the same result at the same time (${names}), and one replacement counts: that of a denial, else the last; add "sequential": true to their group, so that each reads what the one before it left`;
  if (!told?.has(message)) logger.warn(message);
  told?.add(message);
}

/**
 * Runs hooks one after the other. What a healthy hook changed is what the next one reads; a block or a stop ends
 * the chain, that of a project's hook for the project's others.
 */
export async function executeSequential(
  hookConfigs: readonly CommandHookConfig[],
  event: HookEventName,
  input: HookInput,
  options: RunOptions,
): Promise<HookExecutionResult[]> {
  const results: HookExecutionResult[] = [];
  let current = input;
  let isEnded = false;
  for (const hook of hookConfigs) {
    if (isEnded && hook.scope === 'project') continue;
    const result = await executeHook(hook, event, prepareInput(current, options), options);
    results.push(result);
    if (!result.output) continue;
    if (endsChain(result.output, event)) {
      if (hook.scope !== 'project') break;
      // What a project says keeps nobody else from being asked.
      isEnded = true;
    } else if (result.success) current = applyHookOutputToInput(current, result.output, event);
  }
  return results;
}

/** What the next hook of a chain reads after `output`. The same input where the event does not chain. */
export function applyHookOutputToInput(
  input: HookInput,
  output: HookOutput,
  event: HookEventName,
): HookInput {
  const chain = events[event].chain as
    | ((input: HookInput, output: HookOutput) => HookEventInput<HookEventName>)
    | undefined;
  return chain ? chain(input, output) : input;
}

function endsChain(output: HookOutput, event: HookEventName): boolean {
  const verdict = createSpecificHookOutput(output, event);
  return verdict.isBlockingDecision() || verdict.shouldStopExecution();
}

/**
 * Runs one hook to its end. Never rejects: a hook that fails is a result like any other, and a fault around one hook is
 * no reason to lose what the others say.
 */
export function executeHook(
  hook: CommandHookConfig,
  event: HookEventName,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<HookExecutionResult> {
  if (!channels.hook.hasSubscribers) return runHook(hook, event, prepared, options);
  return traceHook(hook, event, prepared, () => runHook(hook, event, prepared, options));
}

async function runHook(
  hook: CommandHookConfig,
  event: HookEventName,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<HookExecutionResult> {
  try {
    const objection = options.findObjection?.(hook);
    const refusal = findRefusal(hook, prepared.stdin, objection && (await objection));
    if (refusal) return refuse(hook, event, refusal, options);
    const run = newRun(hook, event, prepared, options);
    const isAlone = hook.dialect === undefined && !options.probe;
    await (isAlone ? startProcess : startSurrounded)(run, prepared, options);
    return readRun(run, options);
  } catch (error) {
    const failure = refused(`could not be run: ${errorMessage(error)}`);
    return toResult({ hook, event, read: {}, failure }, options);
  }
}

/** What may not be started may not go on either. */
function refuse(
  hook: CommandHookConfig,
  event: HookEventName,
  failure: HookFailure,
  options: RunOptions,
): HookExecutionResult {
  options.persistent?.drop(hook);
  return toResult({ hook, event, read: {}, failure }, options);
}

function newRun(
  hook: CommandHookConfig,
  event: HookEventName,
  { input, stdin }: PreparedInput,
  { logger, environment, told }: RunOptions,
): HookRun {
  const { timeoutMs, problem } = deadlineOf(hook, event);
  if (problem) logger.warn(`Hook "${shortIdentity(hook)}": ${problem}`);
  const warn = (message: string) =>
    logger.warn(`Hook "${shortIdentity(hook)}" (${event}): ${maskSecrets(message, environment)}`);
  const warnOnce = warnNewly.bind(undefined, hook, event, told, warn);
  return { hook, event, input, timeoutMs, warn, warnOnce, stdin };
}

function warnNewly(
  hook: CommandHookConfig,
  event: HookEventName,
  told: Set<string> | undefined,
  warn: (message: string) => void,
  message: string,
): void {
  const key = JSON.stringify([hookIdentity(hook), event, message]);
  if (!told?.has(key)) warn(message);
  told?.add(key);
}

/** A process with what stands around it: a dialect, and what looks at what goes in and comes out. */
async function startSurrounded(
  run: HookRun,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<void> {
  const startAlone = () => startProcess(run, prepared, options);
  const start = async () => (options.probe ? options.probe(run, startAlone) : startAlone());
  await inDialect(run, start);
}

/** What stands around the process of a hook of another agent, from the outside in; composed once. */
const inDialect = composeTrusted<HookRun>([dialect]);

/** The innermost layer: the process itself. Its answer may hold all of the input, changed. */
async function startProcess(
  run: HookRun,
  prepared: PreparedInput,
  options: RunOptions,
): Promise<void> {
  const { hook, event, stdin } = run;
  if (stdin instanceof Error || hook.type === 'remote') return askServer(run, options);
  const command = Object.assign(startOptions(hook, prepared), {
    input: stdin,
    keepStdoutBytes: Math.max(MAX_KEPT_ANSWER_BYTES, 2 * stdin.byteLength),
    timeoutMs: run.timeoutMs,
    signal: options.signal,
    mustAnswer: failsClosed(hook, event),
    warmShells: options.warmShells,
    prestart: hook.prestart,
  });
  const kept = hook.persistent && runKept(run, command, options);
  const spawned = kept || (options.spawner && runInSpawner(command));
  run.said = run.outcome = (await spawned) || (await runCommand(command));
}

/** In place of a process; where there is something to ask. */
async function askServer(run: HookRun, options: RunOptions): Promise<void> {
  if (!(run.stdin instanceof Error)) await askRemote(run, run.stdin, options);
}

/** Makes a result of a run that has ended. Most hooks end well, and say what can be read. */
function readRun(run: HookRun, options: RunOptions): HookExecutionResult {
  const { hook, event, outcome, said } = run;
  if (outcome && said === outcome && hasEndedWell(outcome)) {
    const read = readHookOutput(outcome.stdout);
    const isReadable = read.problems.length === 0 && read.unreadable === undefined;
    if (isReadable) return toResult({ hook, event, outcome, read, failure: undefined }, options);
  }
  return readWithCare(run, options);
}

function hasEndedWell(outcome: CommandOutcome): boolean {
  const { ending, exitCode, stdoutTruncated, stragglers } = outcome;
  return ending === 'exit' && exitCode === 0 && !stdoutTruncated && !stragglers;
}

/** Tells what is wrong with a run that did not end well, or said what cannot be read. */
function readWithCare(run: HookRun, options: RunOptions): HookExecutionResult {
  const { hook, event, outcome, said = outcome, warn } = run;
  // Another agent may take an answer for one whatever the exit code is.
  const isAnswer = said?.exitCode === 0 && outcome?.exitCode !== 2;
  const ended = outcome && (isAnswer ? { ...outcome, exitCode: 0 } : outcome);
  const failure = ended
    ? findFailure(ended, run.timeoutMs, failsClosed(hook, event))
    : findFaultOf(run.stdin);
  const read = failure?.kind === 'output' || !said ? {} : readMasked(said, options.environment);
  const left = outcome?.stragglers && !failure ? [LEFT_RUNNING] : [];
  const unheard = said ? unheardReason(event, said, read.output) : [];
  for (const each of [...(read.problems ?? []), ...left, ...unheard]) warn(each);
  const what = failsClosed(hook, event) ? read.unreadable : undefined;
  const misread: HookFailure | undefined = what === undefined ? what : { kind: 'output', what };
  const fault = failure ?? misread;
  const result = toResult({ hook, event, outcome, isAnswer, read, failure: fault }, options);
  if (!fault && outcome?.exitCode === 2 && result.why !== undefined) warn(result.why);
  return result;
}

const LEFT_RUNNING =
  'left a process running that held its stdout or stderr, and that is ended where it can be found; redirect both of them for a job that is to go on';

/** What a hook said. Problems quote it in the log, cut to a length, so they are found in the masked text. */
function readMasked(said: Said, environment: HookEnvironmentPolicy): Partial<ReadOutput> {
  const read = readSaid(said);
  if (!read.problems?.length && !read.unreadable) return read;
  const stdout = maskSecrets(said.stdout, environment);
  const { problems, unreadable = read.unreadable } = readSaid({ ...said, stdout });
  return { ...read, problems, ...(read.unreadable && { unreadable }) };
}

/** The exit code decides what an ended hook said: stdout counts for 0 only, and only 2 blocks. */
function readSaid(said: Said): Partial<ReadOutput> {
  const { ending, exitCode, stdout, foreign, theirNames } = said;
  if (ending !== 'exit' || exitCode !== 0) return readStderr(said);
  const read = readHookOutput(stdout, theirNames);
  return foreign ? { ...read, output: { ...read.output, foreign } } : read;
}

function readStderr({ ending, exitCode, stderr }: Said): Partial<ReadOutput> {
  const isBlock = ending === 'exit' && exitCode === 2;
  const hasSpoken = (ending === 'exit' || ending === 'signal') && stderr.trim() !== '';
  if (!isBlock && !hasSpoken) return {};
  return { output: convertPlainTextToHookOutput(stderr, exitCode ?? 1) };
}

function findRefusal(
  hook: CommandHookConfig,
  stdin: Stdin,
  objection: string | undefined,
): HookFailure | undefined {
  if (objection !== undefined) return { kind: 'untrusted', what: objection };
  if (hook.type === 'plugin') return refused(NO_PLUGINS);
  if (hookDepth() >= MAX_HOOK_DEPTH) {
    return refused(`was not started: hooks that start agents are ${MAX_HOOK_DEPTH} deep already`);
  }
  return findFaultOf(stdin);
}

const NO_PLUGINS = 'has the type "plugin", which cannot be run: use "command"';

function findFaultOf(stdin: Stdin): HookFailure | undefined {
  return stdin instanceof Error ? inputFault(stdin) : undefined;
}

function inputFault(error: Error): HookFailure {
  const kind = error instanceof AmbiguousInput ? 'ambiguous' : 'input';
  return { kind, what: `was not started, because ${error.message}` };
}

function refused(what: string): HookFailure {
  return { kind: 'refused', what };
}

/** One hook's run, as far as it came. */
interface EndedRun {
  readonly hook: CommandHookConfig;
  readonly event: HookEventName;
  /** Absent when nothing was started. */
  readonly outcome?: CommandOutcome;
  /** Whether it has answered, as its format has it; else the exit code says so. */
  readonly isAnswer?: boolean;
  readonly read: Partial<ReadOutput>;
  readonly failure: HookFailure | undefined;
}

function toResult(ended: EndedRun, options: RunOptions): HookExecutionResult {
  const { hook, event, outcome, isAnswer, read, failure } = ended;
  const hasEnded = outcome?.ending === 'exit' || outcome?.ending === 'signal';
  const result: HookExecutionResult = {
    hookConfig: hook,
    eventName: event,
    success: outcome?.ending === 'exit' && (isAnswer ?? outcome.exitCode === 0),
    ...(read.output && { output: read.output }),
    ...(outcome && { stdout: outcome.stdout, stderr: outcome.stderr }),
    ...(hasEnded && { exitCode: outcome.exitCode ?? 0 }),
    ...(outcome?.signal && { signal: outcome.signal }),
    duration: outcome?.durationMs ?? 0,
  };
  const isFaultless = !failure && outcome?.exitCode !== 2 && read.unreadable === undefined;
  return isFaultless ? result : explain(result, ended, options);
}

function explain(
  result: HookExecutionResult,
  ended: EndedRun,
  options: RunOptions,
): HookExecutionResult {
  const { outcome, failure } = ended;
  const why = whyOf(ended, options);
  const explained = { ...result, ...(why !== undefined && { why }) };
  return failure ? withFault(explained, failure, outcome, options) : explained;
}

/** A failure that is no exit says itself what went wrong. */
function whyOf(
  { outcome, read, failure }: EndedRun,
  { environment }: RunOptions,
): string | undefined {
  if (outcome?.ending !== 'exit') return failure?.advice;
  if (outcome.exitCode !== 0) return explainStderr(outcome, environment);
  const isMisread = !failure && read.unreadable !== undefined;
  return (isMisread && read.problems?.join('; ')) || undefined;
}

function withFault(
  ended: HookExecutionResult,
  fault: HookFailure,
  outcome: CommandOutcome | undefined,
  options: RunOptions,
): HookExecutionResult {
  const { hookConfig: hook, eventName: event } = ended;
  const result = {
    ...ended,
    ...(blocksByFailing(hook, event, fault) && {
      output: { ...stopOf(ended.output), ...denyForFailure(hook, event, fault, outcome?.stderr) },
    }),
    ...(fault.kind !== 'exit' && errorOf(fault, outcome)),
  };
  reportFailure(result, fault, outcome, options);
  return result;
}

/** A stop is never taken back, whatever else is wrong with an answer. */
function stopOf(output: HookOutput | undefined): HookOutput {
  return output?.continue === false ? { continue: false, stopReason: output.stopReason } : {};
}

function errorOf({ what }: HookFailure, outcome: CommandOutcome | undefined): { error: Error } {
  return { error: new Error(`The hook ${what}`, { cause: outcome?.error }) };
}
