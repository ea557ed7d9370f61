import type { DebugLogger } from '../util/debugLogger.js';
import type { CommandOutcome } from '../process/command/outcome.js';
import { events, failsClosed, isBlockRead, withWithheld } from '../protocol/events.js';
import { explainStderr, outlineStderr } from './explainStderr.js';
import { maskSecrets, type HookEnvironmentPolicy } from './hookEnvironment.js';
import { hasFailed, isBlocking } from '../protocol/hookOutput.js';
import { hookIdentity, shortIdentity } from '../protocol/identity.js';
import { parseAnswer } from '../protocol/readHookOutput.js';
import { removeControls, sanitizeText } from '../protocol/sanitizeText.js';
import {
  type HookEventName,
  type CommandHookConfig,
  type HookExecutionResult,
  type HookOutput,
} from '../protocol/types.js';

/** What can go wrong with a hook, for the one warning about it. */
export type FailureKind =
  | 'exit'
  | 'signal'
  | 'timeout'
  | 'aborted'
  | 'spawn'
  | 'output'
  | 'protocol'
  | 'refused'
  | 'input'
  | 'ambiguous'
  | 'untrusted';

/** A hook that did not do what it was started for. */
export interface HookFailure {
  readonly kind: FailureKind;
  /** Completes "The hook …". */
  readonly what: string;
  /** What its author can do, where that is known without its stderr. */
  readonly advice?: string;
}

/** Why a hook of the type `prompt` is refused where it is to be a guard. */
export const NO_GUARD =
  'a model\'s judgement is no guard, as what it reads may talk it into anything: remove "onFailure": "deny", or use a command or a rule';

/**
 * What went wrong with a command, if anything did. A block by exit code 2 is what it was started for.
 *
 * @param isGuard for a guard, an empty stdout that another process still held is a failure, not a yes
 */
export function findFailure(
  outcome: CommandOutcome,
  timeoutMs: number,
  isGuard: boolean,
): HookFailure | undefined {
  const { ending, exitCode, signal, error, stdout, stdoutTruncated, stdoutHeld } = outcome;
  switch (ending) {
    case 'exit':
      if (error) return { kind: 'protocol', what: error.message };
      if (exitCode === 0 && stdoutTruncated && isPartOfJson(stdout)) {
        return { kind: 'output', what: 'printed more than is read of an answer: print less' };
      }
      if (isGuard && exitCode === 0 && stdoutHeld && !parseAnswer(stdout.trim())) {
        return { kind: 'output', what: NO_ANSWER };
      }
      if (exitCode === 0 || exitCode === 2) return undefined;
      return { kind: 'exit', what: `exited with code ${exitCode}` };
    case 'signal':
      return { kind: 'signal', what: `was ended by ${signal ?? 'a signal'}` };
    case 'timeout':
      return {
        kind: 'timeout',
        what: `timed out after ${timeoutMs} ms`,
        advice: error?.message ?? 'make it faster, or raise its "timeout"',
      };
    case 'aborted':
      return { kind: 'aborted', what: 'was aborted' };
    case 'broken':
      return { kind: 'protocol', what: error?.message ?? 'gave no answer' };
    default:
      return { kind: 'spawn', what: `could not be started: ${error?.message ?? 'unknown reason'}` };
  }
}

const NO_ANSWER =
  'left a process running that held its stdout, and no answer came: let it wait for its filters, and redirect the output of jobs that are to go on';

/** The beginning of a plain text can still be used; the beginning of JSON cannot. */
function isPartOfJson(text: string): boolean {
  return text.trimStart().startsWith('{');
}

/**
 * Whether a failure blocks the operation, or withholds its result: that of a guard; and of any hook where the model has
 * given one argument twice, as that would be its way past all of them.
 */
export function blocksByFailing(
  hook: CommandHookConfig,
  event: HookEventName,
  { kind }: HookFailure,
): boolean {
  return failsClosed(hook, event) || kind === 'ambiguous';
}

/**
 * The output that takes the place of a failed guard's. A model reads it. Where something is withheld, stderr is not
 * quoted, since it may quote just that.
 *
 * @param stderr of a hook that has ended by itself
 */
export function denyForFailure(
  hook: CommandHookConfig,
  event: HookEventName,
  { kind, what }: HookFailure,
  stderr = '',
): HookOutput {
  const name = shortIdentity(hook);
  const { withhold, withheldAs } = events[event];
  if (withhold) {
    const begin = withheldAs === undefined ? 'What was given here is withheld: the' : 'The';
    const withheld = sanitizeText(`${begin} hook "${name}" must not be bypassed, and it ${what}`);
    return withWithheld(event, { decision: 'deny', reason: withheld, foreign: { withheld } });
  }
  const isExplained = kind === 'exit' || kind === 'protocol';
  const outline = isExplained ? outlineStderr(stderr) : undefined;
  const cause = outline === undefined ? '' : ` (${outline})`;
  const reason = `The hook "${name}" must not be bypassed, and it ${what}${cause}`;
  return { decision: 'deny', reason: sanitizeText(reason) };
}

/** Where failures are reported, and which values are masked. */
interface Reporting {
  readonly logger: DebugLogger;
  readonly environment: HookEnvironmentPolicy;
}

const reported = new WeakSet<HookExecutionResult>();

/** Writes the one warning about a failed hook. */
export function reportFailure(
  result: HookExecutionResult,
  failure: HookFailure,
  outcome: CommandOutcome | undefined,
  reporting: Reporting,
): void {
  const { hookConfig: hook, eventName: event, why } = result;
  reported.add(result);
  // The consent gate has warned already, once; but a block is reported each time.
  if (failure.kind === 'untrusted' && !failsClosed(hook, event)) return;
  const { exitCode, signal, durationMs, bytesRead, truncated, stderr } = outcome ?? {};
  // The author may have meant 1 as the code that blocks.
  const isUnclear = failure.kind === 'exit' && exitCode === 1 && why === undefined;
  const consequence = consequenceOf(hook, event, failure, isUnclear);
  warnOf(result, `${failure.what}; ${consequence}`, reporting, {
    kind: failure.kind,
    exitCode,
    signal,
    durationMs: durationMs && Math.round(durationMs),
    bytesRead,
    truncated,
    why,
    stderr,
  });
}

/** Writes the warning about a failed hook where its runner has not: a runner of a host may write none. */
export function reportUnreportedFailure(result: HookExecutionResult, reporting: Reporting): void {
  if (!hasFailed(result) || reported.has(result)) return;
  const { eventName: event, error, exitCode, output, stderr } = result;
  const what = error ? `failed: ${error.message}` : `exited with code ${exitCode ?? 'unknown'}`;
  const blocks = events[event].canBlock && isBlocking(output?.decision);
  const why = stderr && explainStderr({ stderr, exitCode }, reporting.environment);
  const text = `${what}; the operation ${blocks ? 'is blocked' : 'goes on without it'}`;
  warnOf(result, text, reporting, { exitCode, why, stderr });
}

/** @param text completes "The hook …" */
function warnOf(
  { hookConfig: hook, eventName: event }: HookExecutionResult,
  text: string,
  { logger, environment }: Reporting,
  { stderr, ...facts }: { readonly stderr?: string | undefined; readonly [fact: string]: unknown },
): void {
  const mask = (each: string) => maskSecrets(each, environment);
  // A server, or whatever has started, may have said a part of it.
  const line = removeControls(text).replaceAll('\n', ' ');
  logger.warn(mask(`The hook "${shortIdentity(hook)}" ${line}`), {
    event,
    hook: hookIdentity(hook),
    ...facts,
    stderr: stderr && mask(removeControls(stderr)).slice(0, 1024),
  });
}

/** The warning for a block at an event that nothing can block, and whose reason no model reads. */
export function ineffectiveBlock(
  event: HookEventName,
  { ending, exitCode, stderr }: Pick<CommandOutcome, 'ending' | 'exitCode' | 'stderr'>,
  output: HookOutput | undefined,
): string[] {
  if (ending !== 'exit' || exitCode !== 2 || isBlockRead(event) || output?.continue === false)
    return [];
  const reason = sanitizeText(stderr.trim());
  return [`exited with code 2, which blocks nothing at ${event}${reason && `: ${reason}`}`];
}

function consequenceOf(
  hook: CommandHookConfig,
  event: HookEventName,
  failure: HookFailure,
  isUnclear: boolean,
): string {
  if (failure.kind === 'aborted') return 'nobody waits for its answer any more';
  if (blocksByFailing(hook, event, failure)) {
    const why = failsClosed(hook, event) ? ' (onFailure: "deny")' : '';
    const { canBlock, withheldAs = 'its result is withheld' } = events[event];
    return `${canBlock ? 'the operation is blocked' : withheldAs}${why}`;
  }
  const hint = isUnclear && events[event].canBlock ? ', as only exit code 2 blocks' : '';
  return `the operation goes on without it${hint}`;
}
