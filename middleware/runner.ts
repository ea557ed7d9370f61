import type { Next } from '../src/compose.js';
import type { AnyHookContext } from '../src/context.js';
import type { DebugLogger } from '../src/debugLogger.js';
import { createSpecificHookOutput } from './aggregator.js';
import { events } from '../src/hooks/events.js';
import { hookIdentity } from '../src/hooks/identity.js';
import { convertPlainTextToHookOutput, readHookOutput } from '../src/hooks/readHookOutput.js';
import { removeControls } from '../src/hooks/sanitizeText.js';
import {
  HookType,
  type CommandHookConfig,
  type HookEventInput,
  type HookEventName,
  type HookExecutionResult,
  type HookInput,
  type HookOutput,
} from '../src/hooks/types.js';
import { expandCommand } from '../src/process/expandCommand.js';
import { normalizeTimeout } from '../src/process/normalizeTimeout.js';
import { runCommand, type CommandOutcome } from '../src/process/runCommand.js';

/** Anything that runs hooks; usually a `HookRunner`. */
export interface Runner {
  executeHooksParallel(
    hookConfigs: readonly CommandHookConfig[],
    event: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult[]>;
  executeHooksSequential(
    hookConfigs: readonly CommandHookConfig[],
    event: HookEventName,
    input: HookInput,
    signal?: AbortSignal,
  ): Promise<HookExecutionResult[]>;
}

/** Fourth stage: runs the plan, all hooks at once or one after the other. */
export function runner(hooks: Runner) {
  return async function runner(ctx: AnyHookContext, next: Next): Promise<void> {
    const { plan, input } = ctx;
    if (!plan || !input) return;
    ctx.results = plan.sequential
      ? await hooks.executeHooksSequential(plan.hookConfigs, ctx.event, input, ctx.signal)
      : await hooks.executeHooksParallel(plan.hookConfigs, ctx.event, input, ctx.signal);
    await next();
  };
}

/** One hook to run: what it is, what it reads, and how it may be ended. */
export interface HookRun {
  readonly hook: CommandHookConfig;
  readonly event: HookEventName;
  /** The JSON object for stdin, encoded. One buffer may serve many hooks. */
  readonly stdin: Uint8Array;
  readonly cwd: string;
  readonly signal?: AbortSignal;
}

/** Runs all hooks at once on the same input. Results come in plan order. */
export async function executeParallel(
  hookConfigs: readonly CommandHookConfig[],
  event: HookEventName,
  input: HookInput,
  logger: DebugLogger,
  signal?: AbortSignal,
): Promise<HookExecutionResult[]> {
  const stdin = encodeInput(input);
  return Promise.all(
    hookConfigs.map((hook) => executeHook({ hook, event, stdin, cwd: input.cwd, signal }, logger)),
  );
}

/**
 * Runs hooks one after the other. What a healthy hook changed is what the next one reads; a block or a stop ends
 * the chain.
 */
export async function executeSequential(
  hookConfigs: readonly CommandHookConfig[],
  event: HookEventName,
  input: HookInput,
  logger: DebugLogger,
  signal?: AbortSignal,
): Promise<HookExecutionResult[]> {
  const results: HookExecutionResult[] = [];
  let current = input;
  for (const hook of hookConfigs) {
    const stdin = encodeInput(current);
    const result = await executeHook({ hook, event, stdin, cwd: input.cwd, signal }, logger);
    results.push(result);
    if (!result.output) continue;
    if (endsChain(result.output, event)) break;
    if (result.success) current = applyHookOutputToInput(current, result.output, event);
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
 * The bytes that a script reads.
 *
 * @throws TypeError when the input is no JSON: cyclic, holding a BigInt, nested too deeply
 */
export function encodeInput(input: HookInput): Buffer {
  return Buffer.from(JSON.stringify(input));
}

/** Runs one hook to its end. Never throws: a hook that cannot run is a result like any other. */
export async function executeHook(run: HookRun, logger: DebugLogger): Promise<HookExecutionResult> {
  const { hook, event } = run;
  if (hook.type !== HookType.Command) return refuse(run, logger);
  const { timeoutMs, problem } = normalizeTimeout(hook.timeout);
  if (problem) logger.warn(`Hook "${hookIdentity(hook)}": ${problem}`);

  const outcome = await runCommand({
    command: expandCommand(hook.command),
    input: run.stdin,
    cwd: run.cwd,
    env: hookEnvironment(hook, run.cwd),
    timeoutMs,
    signal: run.signal,
  });
  const { output, problems } = readOutcome(outcome);
  for (const each of problems) logger.warn(`Hook "${hookIdentity(hook)}" (${event}): ${each}`);
  const result: HookExecutionResult = {
    hookConfig: hook,
    eventName: event,
    success: outcome.ending === 'exit' && outcome.exitCode === 0,
    ...(output && { output }),
    stdout: outcome.stdout,
    stderr: outcome.stderr,
    ...exitCodeOf(outcome),
    ...(outcome.signal && { signal: outcome.signal }),
    duration: outcome.durationMs,
    ...withError(describeFault(outcome, timeoutMs), outcome.error),
  };
  reportFailure(result, outcome, logger);
  return result;
}

function refuse({ hook, event }: HookRun, logger: DebugLogger): HookExecutionResult {
  const error = new Error(
    `Hook "${hookIdentity(hook)}" has the type "${hook.type}", which cannot be run: use "command"`,
  );
  logger.warn(error.message, { event });
  return { hookConfig: hook, eventName: event, success: false, duration: 0, error };
}

function hookEnvironment(hook: CommandHookConfig, cwd: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...hook.env,
    LLXPRT_PROJECT_DIR: cwd,
    GEMINI_PROJECT_DIR: cwd,
    CLAUDE_PROJECT_DIR: cwd,
  };
}

/** The exit code decides what an ended hook said: stdout counts for 0 only, and only 2 blocks. */
function readOutcome(outcome: CommandOutcome): ReturnType<typeof readHookOutput> {
  const { ending, exitCode, stderr } = outcome;
  if (ending === 'exit' && exitCode === 0) return readHookOutput(outcome.stdout);
  if (ending === 'exit' && exitCode === 2) {
    return { output: convertPlainTextToHookOutput(stderr, 2), problems: [] };
  }
  if ((ending === 'exit' || ending === 'signal') && stderr.trim() !== '') {
    return { output: convertPlainTextToHookOutput(stderr, exitCode ?? 1), problems: [] };
  }
  return { problems: [] };
}

/** A hook that a signal ended has the code 0, as its format has always had it; `signal` and `success` tell. */
function exitCodeOf({ ending, exitCode }: CommandOutcome): { exitCode?: number } {
  return ending === 'exit' || ending === 'signal' ? { exitCode: exitCode ?? 0 } : {};
}

function describeFault(outcome: CommandOutcome, timeoutMs: number): string | undefined {
  switch (outcome.ending) {
    case 'timeout':
      return `timed out after ${timeoutMs} ms`;
    case 'signal':
      return `was ended by ${outcome.signal ?? 'a signal'}`;
    case 'aborted':
      return 'was aborted';
    case 'spawn-failed':
      return `could not be started: ${outcome.error?.message ?? 'unknown reason'}`;
    default:
      return undefined;
  }
}

function withError(fault: string | undefined, cause: Error | undefined): { error?: Error } {
  return fault === undefined ? {} : { error: new Error(`The hook ${fault}`, { cause }) };
}

/** One warning a failed hook. A block by exit code 2 is no failure. */
function reportFailure(
  result: HookExecutionResult,
  outcome: CommandOutcome,
  logger: DebugLogger,
): void {
  if (result.success || (outcome.ending === 'exit' && outcome.exitCode === 2)) return;
  const hook = hookIdentity(result.hookConfig);
  const what = result.error?.message ?? `The hook exited with code ${outcome.exitCode}`;
  logger.warn(`${what}; the operation goes on without it: "${hook}" (${result.eventName})`, {
    event: result.eventName,
    hook,
    kind: outcome.ending,
    exitCode: outcome.exitCode,
    signal: outcome.signal,
    durationMs: Math.round(outcome.durationMs),
    bytesRead: outcome.bytesRead,
    truncated: outcome.truncated,
    stderr: removeControls(outcome.stderr).slice(0, 1024),
  });
}
