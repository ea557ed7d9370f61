import { MAX_KEPT_ANSWER_BYTES } from '../process/command/limits.js';
import { NOT_RUN, type CommandOutcome } from '../process/command/outcome.js';
import { requireNoReferences } from './httpHook.js';
import { events, failsClosed } from '../protocol/events.js';
import { parseAnswer } from '../protocol/readHookOutput.js';
import type { CommandHookConfig, HookEventName } from '../protocol/types.js';
import { inherited, type HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import type { HookRun } from '../run/hookRun.js';
import { currentSpanId, currentTrace } from '../trace/span.js';
import { errorMessage } from '../util/errorMessage.js';
import { parseFleetAddress } from './address.js';
import { forbids, refusalIn, type ReadAnswer } from './answerMark.js';
import { ask } from './ask.js';
import { withFiles } from './files.js';
import { newQuestionId, QuestionFailed, QuestionLate, type Asking } from './question.js';
import { readSecret, withoutSecret } from './secret.js';
import { hostEnvironment } from '../util/requester.js';

export { closeIdle } from './ask.js';

export interface AskOptions {
  readonly signal?: AbortSignal;
  /** Which variables of this process reach the hooks of a project. */
  readonly environment: HookEnvironmentPolicy;
}

/** What came of a question, as of a command, and what the answer says. */
type Answered = Pick<HookRun, 'outcome' | 'said'>;

/**
 * Puts an event to the server of a remote hook, and waits for the answer until the hook's deadline.
 *
 * @returns what a command that prints the same would have come to. Never rejects: a server that cannot be asked, or
 *   gives no answer, is an outcome like any other
 */
export async function askServer(
  run: HookRun,
  input: Uint8Array,
  { signal, environment }: AskOptions,
): Promise<Answered> {
  const { timeoutMs } = run;
  const startedAt = performance.now();
  let secret: string | undefined;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const { hook, address, ...prepared } = await prepare(run.hook, environment);
    secret = prepared.secret;
    const over = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const answer = await ask(address, askingOf({ ...run, hook }, input, secret, over));
    return toAnswered(answer, run, since(startedAt));
  } catch (error) {
    const durationMs = since(startedAt);
    if (signal?.aborted) return { outcome: { ...NOT_RUN, ending: 'aborted', durationMs } };
    // The question has a clock of its own, which may be a millisecond ahead.
    const isLate = deadline.aborted || error instanceof QuestionLate;
    const advice = error instanceof QuestionFailed ? error.advice : undefined;
    const told = advice !== undefined && { error: new Error(advice) };
    if (isLate) return { outcome: { ...NOT_RUN, ending: 'timeout', durationMs, ...told } };
    const why = new Error(withoutSecret(errorMessage(error), secret), { cause: error });
    return { outcome: { ...NOT_RUN, ending: 'broken', durationMs, error: why } };
  }
}

/** @throws Error that says why nobody was asked */
async function prepare(configured: CommandHookConfig, environment: HookEnvironmentPolicy) {
  try {
    const hook = withFiles(configured);
    const variables =
      hook.scope === 'project' ? inherited(environment, hostEnvironment()) : hostEnvironment();
    if (hook.dialect) requireNoReferences(hook.headers);
    const address = parseFleetAddress(hook.url ?? '', (name) => variables[name]);
    return { hook, address, secret: await readSecret(hook, variables) };
  } catch (error) {
    throw new Error(`was not asked: ${errorMessage(error)}`, { cause: error });
  }
}

function askingOf(
  { hook, event, facts, timeoutMs }: HookRun,
  body: Uint8Array,
  secret: string | undefined,
  signal: AbortSignal,
): Asking {
  const { callId } = facts;
  const span = currentSpanId();
  const trace = currentTrace();
  const { caFile, certFile, keyFile, headers, dialect } = hook;
  return {
    body,
    question: {
      id: newQuestionId(),
      timeoutMs,
      ...(span !== undefined && { span }),
      ...(trace !== undefined && { trace }),
      ...(callId !== undefined && { call: callId }),
    },
    secret,
    tls: { caFile, certFile, keyFile },
    ...(headers && { headers }),
    ...(dialect && { format: dialect }),
    maxAnswerBytes: Math.max(MAX_KEPT_ANSWER_BYTES, 2 * body.byteLength),
    mayBeUnmarked: dialect !== undefined && !failsClosed(hook, event),
    signal,
  };
}

/** A server that refuses, or is broken, has not answered. */
function toAnswered(
  { status, text: answered, said, foreign, server, fault }: ReadAnswer,
  { event }: HookRun,
  durationMs: number,
): Answered {
  if (status < 200 || status > 299) {
    const why = refusalIn(answered);
    throw new Error(`was answered with status ${status}${why === undefined ? '' : `: ${why}`}`);
  }
  const failed = fault !== undefined && !stands(said, event) ? fault : undefined;
  const outcome: CommandOutcome = {
    ...NOT_RUN,
    ending: 'exit',
    exitCode: 0,
    stdout: answered,
    inputTaken: true,
    bytesRead: Buffer.byteLength(answered),
    durationMs,
    ...(failed !== undefined && { error: new Error(failed) }),
  };
  const more = { ...(foreign && { foreign }), ...(server && { server }) };
  return { outcome, said: { ...outcome, stdout: said, ...more } };
}

/** Whether an answer prevents all that a failure would. */
function stands(said: string, event: HookEventName): boolean {
  return events[event].canBlock && forbids(parseAnswer(said) ?? {});
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
