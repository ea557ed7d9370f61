import { MAX_KEPT_ANSWER_BYTES } from '../process/limits.js';
import { NOT_RUN, type CommandOutcome } from '../process/runCommand.js';
import { requireNoReferences } from '../dialects/httpHook.js';
import { callFactsOf, failsClosed } from '../protocol/events.js';
import { parseAnswer } from '../protocol/readHookOutput.js';
import { sanitizeText } from '../protocol/sanitizeText.js';
import type { CommandHookConfig, ForeignEffects, ToolOutput } from '../protocol/types.js';
import { inherited, type HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import type { HookRun, Said } from '../run/hookRun.js';
import { currentSpanId } from '../trace/span.js';
import { flag, listOfText, objectOf, text } from '../util/checks.js';
import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import { parseFleetAddress } from './address.js';
import { ask } from './ask.js';
import { withFiles } from './files.js';
import { newQuestionId, NOTE_KEY, type Asking, type ServerAnswer } from './question.js';
import { answerWithoutSecret, readSecret, withoutSecret } from './secret.js';
import { QuestionLate } from './waiting.js';

export { closeIdle } from './ask.js';

export interface AskOptions {
  readonly signal?: AbortSignal;
  /** Which variables of this process reach the hooks of a project. */
  readonly environment: HookEnvironmentPolicy;
}

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
): Promise<CommandOutcome> {
  const { timeoutMs } = run;
  const startedAt = performance.now();
  let secret: string | undefined;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const { hook, address, ...prepared } = await prepare(run.hook, environment);
    secret = prepared.secret;
    const asking = askingOf(
      { ...run, hook },
      input,
      secret,
      signal ? AbortSignal.any([signal, deadline]) : deadline,
    );
    const answer = await ask(address, asking);
    return { ...toOutcome(answer, secret, run), durationMs: since(startedAt) };
  } catch (error) {
    const durationMs = since(startedAt);
    if (signal?.aborted) return { ...NOT_RUN, ending: 'aborted', durationMs };
    // The question has a clock of its own, which may be a millisecond ahead.
    const isLate = deadline.aborted || error instanceof QuestionLate;
    if (isLate) return { ...NOT_RUN, ending: 'timeout', durationMs };
    const why = new Error(withoutSecret(errorMessage(error), secret), { cause: error });
    return { ...NOT_RUN, ending: 'broken', durationMs, error: why };
  }
}

/** @throws Error that says why nobody was asked */
async function prepare(configured: CommandHookConfig, environment: HookEnvironmentPolicy) {
  try {
    const hook = withFiles(configured);
    const variables = hook.ofProject ? inherited(environment, process.env) : process.env;
    if (hook.dialect) requireNoReferences(hook.headers);
    const address = parseFleetAddress(hook.url ?? '', (name) => variables[name]);
    return { hook, address, secret: await readSecret(hook, variables) };
  } catch (error) {
    throw new Error(`was not asked: ${errorMessage(error)}`, { cause: error });
  }
}

function askingOf(
  { hook, input, timeoutMs }: HookRun,
  body: Uint8Array,
  secret: string | undefined,
  signal: AbortSignal,
): Asking {
  const { callId } = callFactsOf(input);
  const span = currentSpanId();
  const { caFile, certFile, keyFile, headers, dialect } = hook;
  return {
    body,
    question: {
      id: newQuestionId(),
      timeoutMs,
      ...(span !== undefined && { span }),
      ...(callId !== undefined && { call: callId }),
    },
    secret,
    tls: { ...(caFile && { caFile }), ...(certFile && { certFile }), ...(keyFile && { keyFile }) },
    ...(headers && { headers }),
    ...(dialect && { format: dialect }),
    maxAnswerBytes: Math.max(MAX_KEPT_ANSWER_BYTES, 2 * body.byteLength),
    signal,
  };
}

/** A server that refuses, or is broken, has not answered. */
function toOutcome(
  { status, text: answered, isCut }: ServerAnswer,
  secret: string | undefined,
  { hook, event }: HookRun,
): CommandOutcome {
  const said = answerWithoutSecret(answered, secret);
  if (status < 200 || status > 299) throw new Error(refusalOf(status, said));
  if (isCut) throw new Error('was answered with more than it reads');
  // A proxy, and a server that ends, say nothing where a policy says `{}`. Other agents take nothing for a yes.
  if (said.trim() === '' && hook.dialect === undefined) {
    throw new Error(
      `was answered with status ${status} and nothing else: "{}" would say that all is well`,
    );
  }
  // For other agents text is no objection. It may be that of a proxy.
  if (said.trim() !== '' && hook.dialect && failsClosed(hook, event) && !parseAnswer(said)) {
    throw new Error(`was answered with status ${status} and a text that is no JSON object`);
  }
  return {
    ...NOT_RUN,
    ending: 'exit',
    exitCode: 0,
    stdout: said,
    inputTaken: true,
    bytesRead: Buffer.byteLength(said),
  };
}

/** In the server's own words, where it has some. */
function refusalOf(status: number, answered: string): string {
  const { error } = parseAnswer(answered) ?? {};
  const said = typeof error === 'string' ? `: ${sanitizeText(error).slice(0, MAX_SHOWN)}` : '';
  return `was answered with status ${status}${said}`;
}

/** In characters. */
const MAX_SHOWN = 500;

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

const foreignEffects = objectOf<ForeignEffects>('effects of hooks of other agents', {
  droppedArguments: listOfText,
  toolOutput: objectOf<ToolOutput>('a text', { text, isDenial: flag }),
  contextOfResult: text,
  prevents: flag,
});

/**
 * Takes the note of a policy server out of its answer: what is left is the answer of a hook.
 *
 * @returns what the hook said; the outcome itself where there is no note
 */
export function readNote(outcome: CommandOutcome): Said {
  if (outcome.ending !== 'exit' || !outcome.stdout.includes(`"${NOTE_KEY}"`)) return outcome;
  const { [NOTE_KEY]: note, ...said } = parseAnswer(outcome.stdout) ?? {};
  if (!isRecord(note)) return outcome;
  const foreign = note['foreign'];
  return {
    ...outcome,
    stdout: JSON.stringify(said),
    ...(foreignEffects.is(foreign) && { foreign: cleaned(foreign) }),
  };
}

/** As the texts of a hook that says the same here. */
function cleaned({ droppedArguments, toolOutput, contextOfResult, prevents }: ForeignEffects) {
  const isDenial = toolOutput?.isDenial ?? false;
  // It is a result, and as long as that has to be.
  const limit = isDenial ? undefined : Infinity;
  return {
    ...(droppedArguments && { droppedArguments }),
    ...(toolOutput && { toolOutput: { text: sanitizeText(toolOutput.text, limit), isDenial } }),
    ...(contextOfResult !== undefined && { contextOfResult: sanitizeText(contextOfResult) }),
    ...(prevents !== undefined && { prevents }),
  };
}
