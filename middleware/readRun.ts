import { failsClosed } from '../src/protocol/events.js';
import {
  convertPlainTextToHookOutput,
  readHookOutput,
  type ReadOutput,
} from '../src/protocol/readHookOutput.js';
import type { HookExecutionResult, HookOutput, ProcessAge } from '../src/protocol/types.js';
import type { CommandOutcome } from '../src/process/command/outcome.js';
import { explainStderr } from '../src/run/explainStderr.js';
import { maskSecrets, type HookEnvironmentPolicy } from '../src/run/hookEnvironment.js';
import {
  blocksByFailing,
  denyForFailure,
  findFailure,
  reportFailure,
  ineffectiveBlock,
  type HookFailure,
} from '../src/run/hookFailure.js';
import type { TextBound } from '../src/protocol/sanitizeText.js';
import type { HookRun, RawAnswer } from '../src/run/hookRun.js';
import { AmbiguousInput } from '../src/run/preparedInput.js';
import type { DebugLogger } from '../src/util/debugLogger.js';

/** Where it is told what is wrong with a hook, and which variables keep secrets. */
interface Telling {
  readonly logger: DebugLogger;
  readonly environment: HookEnvironmentPolicy;
}

/** What the end of a run means. */
interface Reading {
  readonly read: Partial<ReadOutput>;
  readonly failure?: HookFailure | undefined;
  /** Whether the hook has answered, as its format has it; else the exit code says so. */
  readonly isAnswer?: boolean;
}

/** A hook that has ended. Without an outcome, nothing was started. */
type Ended = Pick<HookRun, 'hook' | 'event' | 'outcome' | 'said'>;

/** Reads a run that did not end well, or whose answer cannot be read, and warns of what is wrong. */
export function readFailedRun(run: HookRun, options: Telling): HookExecutionResult {
  const { hook, event, outcome, said = outcome, warn } = run;
  // Another agent may take an answer for one whatever the exit code is.
  const isAnswer = said?.exitCode === 0 && outcome?.exitCode !== 2;
  const ended = outcome && (isAnswer ? { ...outcome, exitCode: 0 } : outcome);
  const failure = ended
    ? findFailure(ended, run.timeoutMs, failsClosed(hook, event))
    : run.stdin instanceof Error
      ? faultOfInput(run.stdin)
      : undefined;
  const read =
    failure?.kind === 'output' || !said ? {} : readMasked(said, options.environment, run.textBound);
  const left = outcome?.stragglers && !failure ? [LEFT_RUNNING] : [];
  const unheard = said ? ineffectiveBlock(event, said, read.output) : [];
  for (const each of [...(read.problems ?? []), ...left, ...unheard]) warn(each);
  const what = failsClosed(hook, event) ? read.unreadable : undefined;
  const misread: HookFailure | undefined =
    what === undefined
      ? what
      : { kind: 'output', what: `gave an answer that cannot be read: ${what}` };
  const fault = failure ?? misread;
  const result = toResult(run, { read, failure: fault, isAnswer }, options);
  if (!fault && outcome?.exitCode === 2 && result.why !== undefined) warn(result.why);
  return result;
}

const LEFT_RUNNING =
  'left a process running that held its stdout or stderr, and that is ended where it can be found; redirect both of them for a job that is to go on';

/** What a hook said. Problems quote it in the log, cut to a length, so they are found in the masked text. */
function readMasked(
  said: RawAnswer,
  environment: HookEnvironmentPolicy,
  bound: TextBound | undefined,
): Partial<ReadOutput> {
  const read = readSaid(said, bound);
  if (!read.problems?.length && !read.unreadable) return read;
  const stdout = maskSecrets(said.stdout, environment);
  const { problems, unreadable = read.unreadable } = readSaid({ ...said, stdout });
  return { ...read, problems, ...(read.unreadable && { unreadable }) };
}

/** The exit code decides what an ended hook said: stdout counts for 0 only, and only 2 blocks. */
function readSaid(said: RawAnswer, bound?: TextBound): Partial<ReadOutput> {
  const { ending, exitCode, stdout, foreign, theirNames } = said;
  if (ending !== 'exit' || exitCode !== 0) return readStderr(said, bound);
  const read = readHookOutput(stdout, theirNames, bound);
  return foreign ? { ...read, output: { ...read.output, foreign } } : read;
}

function readStderr(
  { ending, exitCode, stderr }: RawAnswer,
  bound: TextBound | undefined,
): Partial<ReadOutput> {
  const isBlock = ending === 'exit' && exitCode === 2;
  const hasSpoken = (ending === 'exit' || ending === 'signal') && stderr.trim() !== '';
  if (!isBlock && !hasSpoken) return {};
  return { output: convertPlainTextToHookOutput(stderr, exitCode ?? 1, bound) };
}

export function faultOfInput(error: Error): HookFailure {
  const kind = error instanceof AmbiguousInput ? 'ambiguous' : 'input';
  return { kind, what: `was not started, because ${error.message}` };
}

export function ageOf({ isNew }: NonNullable<CommandOutcome['kept']>): ProcessAge {
  return isNew ? 'new' : 'kept';
}

/** The result of a hook. */
export function toResult(ended: Ended, reading: Reading, options: Telling): HookExecutionResult {
  const { hook, event, outcome, said } = ended;
  const { read, failure, isAnswer } = reading;
  const hasEnded =
    outcome?.ending === 'exit' ||
    outcome?.ending === 'signal' ||
    // A process that was to stay, and ended at its start.
    (outcome?.ending === 'broken' && outcome.exitCode !== null);
  const result: HookExecutionResult = {
    hookConfig: hook,
    eventName: event,
    success: outcome?.ending === 'exit' && (isAnswer ?? outcome.exitCode === 0),
    ...(read.output && { output: read.output }),
    ...(outcome && { stdout: outcome.stdout, stderr: outcome.stderr }),
    ...(hasEnded && { exitCode: outcome.exitCode ?? 0 }),
    ...(outcome?.signal && { signal: outcome.signal }),
    ...(outcome?.kept && { process: ageOf(outcome.kept) }),
    ...said?.server,
    duration: outcome?.durationMs ?? 0,
  };
  const isFaultless = !failure && outcome?.exitCode !== 2 && read.unreadable === undefined;
  if (isFaultless) return result;
  const why = whyOf(outcome, reading, options);
  const explained = { ...result, ...(why !== undefined && { why }) };
  return failure ? withFault(explained, failure, outcome, options) : explained;
}

/** For failures other than an exit code, the failure itself has the advice. */
function whyOf(
  outcome: CommandOutcome | undefined,
  { read, failure }: Reading,
  { environment }: Telling,
): string | undefined {
  if (outcome?.ending === 'broken') return explainStderr(outcome, environment);
  if (outcome?.ending !== 'exit') return failure?.advice;
  if (outcome.exitCode !== 0) return explainStderr(outcome, environment);
  const isMisread = !failure && read.unreadable !== undefined;
  return (isMisread && read.problems?.join('; ')) || undefined;
}

function withFault(
  ended: HookExecutionResult,
  fault: HookFailure,
  outcome: CommandOutcome | undefined,
  options: Telling,
): HookExecutionResult {
  const { hookConfig: hook, eventName: event } = ended;
  const result = {
    ...ended,
    ...(blocksByFailing(hook, event, fault) && {
      output: { ...stopOf(ended.output), ...denyForFailure(hook, event, fault, outcome?.stderr) },
    }),
    ...(fault.kind !== 'exit' && {
      error: new Error(`The hook ${fault.what}`, { cause: outcome?.error }),
    }),
  };
  reportFailure(result, fault, outcome, options);
  return result;
}

/** A stop is never taken back, whatever else is wrong with an answer. */
function stopOf(output: HookOutput | undefined): HookOutput {
  return output?.continue === false ? { continue: false, stopReason: output.stopReason } : {};
}
