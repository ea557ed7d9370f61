import { MAX_ROUNDS } from './askAgain.js';
import { isDeepStrictEqual } from 'node:util';
import type { GenerateContentResponse } from '@google/genai';
import type { Next } from '../src/compose.js';
import { isAsking, refusalOf, type AskPerson } from '../src/approvals/question.js';
import {
  cancelled,
  copyArguments,
  takeResult,
  takeStream,
  type Author,
  type CallOptions,
  type ModelCall,
  type ToolCall,
} from '../src/context.js';
import {
  rankOf,
  readInPlace,
  withToolInput,
  withToolOutput,
  type ProcessedHookResult,
} from '../src/protocol/hookOutput.js';
import {
  asHookContext,
  asSystemNote,
  notesOf,
  withMessage,
  withNotes,
} from '../src/protocol/llmContent.js';
import {
  readAfterModel,
  readBeforeModel,
  readToolSelection,
  type AfterModelHookResult,
} from './modelResults.js';
import type { LateAnswer } from '../src/protocol/lateAnswer.js';
import { withinTools } from '../src/protocol/allowedTools.js';
import { collectResponse } from '../src/protocol/response.js';
import {
  HookEventName,
  type CallSession,
  type HookOutput,
  type HookPayload,
  type ToolOutput,
} from '../src/protocol/types.js';
import type { ToolResult } from '../src/tools/tools.js';
import { DebugLogger } from '../src/util/debugLogger.js';
import { mayReplaceApproval } from './scopes.js';

/** How a call reaches its hooks. `undefined`, synchronously, where there is nothing to do. Never rejects. */
export type FireHook = <E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
  options?: CallOptions,
) => Promise<ProcessedHookResult> | undefined;

/** What the stages of the tool stack ask of the host. */
export interface ToolHost {
  readonly askPerson: AskPerson;
  /** Whether there is a person to ask. */
  readonly canAsk?: boolean | undefined;
  /** Whether an event may have to be fired, as far as is known before there is a payload. */
  mayBeRead(event: HookEventName): boolean;
}

/** The stages of the tool stack, by name. */
export function toolStages(fire: FireHook, host: ToolHost) {
  const { askPerson, canAsk } = host;

  /** Outermost stage: BeforeTool hooks may block the call, stop the agent, or change the arguments. */
  async function beforeTool(call: ToolCall, next: Next): Promise<void> {
    if (isRefused(call)) return;
    const { toolName, input: toolInput, callId } = call;
    const firing = fire(HookEventName.BeforeTool, { toolName, toolInput, callId, canAsk }, call);
    if (!firing) return next();
    const fired = await firing;
    const goesOn = hasEffect(fired) ? await decideAbout(call, fired) : !isRefused(call);
    if (!goesOn) return;
    call.seenInput = call.input;
    await next();
  }

  /**
   * The operation itself. If a middleware changed the arguments after the hooks had seen them, BeforeTool is fired
   * again first. After an abort nothing runs, although hooks that the abort ended have not objected.
   */
  async function execute(call: ToolCall, next: Next): Promise<void> {
    if (isRefused(call)) return;
    if (call.seenInput && call.seenInput !== call.input) {
      // Where no hook is left to see them, nothing else would end this.
      call.seenInput = call.input;
      return beforeTool(call, () => execute(call, next));
    }
    if (call.signal?.aborted) {
      call.result = cancelled(call.toolName);
      return;
    }
    // The tool may write into them. What cannot be copied can be written for no hook either.
    const isRead = host.mayBeRead(HookEventName.AfterTool);
    const copied = isRead ? copyArguments(call.toolName, call.input) : undefined;
    const startedAt = performance.now();
    const result = await call.execute(copied && !copied.refusal ? copied.input : call.input);
    call.durationMs = Math.round(performance.now() - startedAt);
    takeResult(call, result);
    await next();
  }

  /**
   * Inside of `beforeTool`: lets the tool run, then AfterTool hooks may annotate, hide, or stop the agent. If the call was
   * refused before its tool ran, there is nothing to look at; after an abort, no more hooks run.
   */
  async function afterTool(call: ToolCall, next: Next): Promise<void> {
    await next();
    const { toolName, input: toolInput, callId, durationMs, result } = call;
    if (!result || call.signal?.aborted || (isRefused(call) && !call.executed)) return;
    let toolResponse: Partial<ToolResult> = result;
    try {
      const { llmContent, returnDisplay, metadata, error } = result;
      toolResponse = { llmContent, returnDisplay, metadata, error };
    } catch {
      // A getter of the result may throw; then the hooks that would read it fail.
    }
    const payload = { toolName, toolInput, toolResponse, callId, durationMs };
    const firing = fire(HookEventName.AfterTool, payload, call);
    if (!firing) return;
    const fired = await firing;
    if (hasEffect(fired)) applyAfterTool(call, result, fired);
  }

  /** @returns whether the call goes on */
  async function decideAbout(call: ToolCall, fired: ProcessedHookResult): Promise<boolean> {
    if (!applyBeforeTool(call, fired)) return false;
    return fired.aggregated.finalOutput?.decision !== 'ask' || isPermitted(call, fired);
  }

  /**
   * Hooks of the moment `asked` may decide in place of a person. The person is asked last, about the arguments that
   * will really run.
   *
   * @param round how often hooks have changed them since they decided
   */
  async function isPermitted(
    call: ToolCall,
    asked: ProcessedHookResult,
    round = 0,
  ): Promise<boolean> {
    const { toolName, input: toolInput, callId } = call;
    const fireBeforeTool = (payload: HookPayload<HookEventName.BeforeTool>) =>
      fire(HookEventName.BeforeTool, payload, call);
    const decidedInstead = await fireBeforeTool({ toolName, toolInput, callId, isAsked: true });
    if (decidedInstead && !applyBeforeTool(call, decidedInstead)) return false;
    // Other arguments than those that the hooks of the call have seen are put to them as well.
    const seen = call.input;
    const isSame = isDeepStrictEqual(seen, toolInput);
    const again = isSame
      ? undefined
      : await fireBeforeTool({ toolName, toolInput: seen, callId, canAsk });
    if (again && !applyBeforeTool(call, again)) return false;
    const last = again && isAsking(again.aggregated) ? again : asked;
    if (!isDeepStrictEqual(call.input, seen)) {
      if (round < MAX_ROUNDS) return isPermitted(call, last, round + 1);
      call.block(UNSETTLED, { hooks: last.aggregated.decidedBy });
      return false;
    }
    const isAnswered = decidedInstead && last === asked;
    if (isAnswered && mayReplaceApproval(decidedInstead.aggregated, asked.aggregated)) return true;
    const { input, originalInput } = call;
    const { aggregated } = last;
    const subject = { toolName, input, originalInput, callId };
    const answer = await askPerson(HookEventName.BeforeTool, aggregated, subject, call);
    if (answer.decision === 'allow') return true;
    if (call.signal?.aborted) call.result = cancelled(toolName);
    else call.block(refusalOf(answer), { hooks: aggregated.decidedBy });
    return false;
  }

  return { beforeTool, afterTool, execute };
}

const UNSETTLED =
  'Hooks changed the arguments again and again after the hooks that decide in place of a person had seen them: let only one hook change them.';

/** Whether hooks have said more to a call than that it may go on. */
function hasEffect({ aggregated, ...fired }: ProcessedHookResult): boolean {
  const { decision, hookSpecificOutput, foreign }: HookOutput = aggregated.finalOutput ?? {};
  const isVerdict = fired.shouldStop || rankOf(decision) > rankOf('allow');
  return Boolean(
    isVerdict || hookSpecificOutput || foreign || fired.systemMessage || fired.suppressOutput,
  );
}

/** Applies what BeforeTool hooks decided; says whether the call goes on. */
function applyBeforeTool(call: ToolCall, fired: ProcessedHookResult): boolean {
  const { finalOutput: output } = fired.aggregated;
  if (output?.foreign?.contextOfResult)
    noteForModel(call, asHookContext(output.foreign.contextOfResult));
  if (fired.systemMessage) noteForModel(call, asSystemNote(fired.systemMessage));
  applyVerdict(call, fired);
  if (isRefused(call)) return false;
  if (output?.hookSpecificOutput || output?.foreign) call.input = withToolInput(call.input, output);
  return true;
}

/** Has the model read a note with what comes of the call, once. */
function noteForModel(call: ToolCall | ModelCall, note: string): void {
  if (!call.contextForModel.includes(note)) call.contextForModel.push(note);
}

/** The one place where the verdict of hooks becomes that of a call. */
function applyVerdict(
  call: ToolCall | ModelCall,
  { aggregated }: ProcessedHookResult,
  by?: Author,
): void {
  const { finalOutput: output, decidedBy: hooks } = aggregated;
  if (output?.shouldStopExecution()) call.stop(output.getStopReason(), { hooks, ...by });
  else if (output?.isBlockingDecision()) call.block(output.getBlockReason(), { hooks, ...by });
}

/** A middleware that blocked or stopped the call may still call `next()`; its verdict stays. */
function isRefused({ verdict }: ToolCall | ModelCall): boolean {
  return verdict.kind !== 'allow';
}

/** Applies what AfterTool hooks decided. The tool has run, so a block only tells the model why, once. */
function applyAfterTool(call: ToolCall, result: ToolResult, fired: ProcessedHookResult): void {
  const { finalOutput: output } = fired.aggregated;
  const replacement = output?.foreign?.toolOutput;
  if (replacement) replaceResult(call, call.result ?? result, replacement);
  const reason = output?.isBlockingDecision() ? output.getBlockReason() : undefined;
  const isReplaced = replacement && reason === readInPlace(replacement);
  const objection = isReplaced ? undefined : reason;
  const context = output?.getAdditionalContext();
  if (context || objection || fired.systemMessage) {
    const texts = [context, objection].map((text) => text && asHookContext(text));
    const note = fired.systemMessage && asSystemNote(fired.systemMessage);
    call.result = withNotes(call.result ?? result, [...texts, note]);
  }
  if (fired.suppressOutput) call.result = { ...(call.result ?? result), suppressDisplay: true };
  if (fired.shouldStop) applyVerdict(call, fired);
}

/** A stop that was decided before stands. */
function replaceResult(call: ToolCall, result: ToolResult, replacement: ToolOutput): void {
  call.result = withToolOutput(result, replacement);
  if (call.verdict.kind === 'stop') call.stop(call.verdict.reason, call.verdict);
}

/** What the stages of the model stack ask of the host. */
export interface ModelHost {
  /** Leaves out an event without a tool, where there is nothing to do for it; says whether it does. */
  skipIdle(event: HookEventName): boolean;
  /** Whether an event may have to be fired, as far as is known before there is a payload. */
  mayBeRead(event: HookEventName): boolean;
  /** Whether the answer is shown once AfterModel hooks have seen all of it, and not as it comes. */
  holdsAnswers(): boolean;
  /** What async hooks of a session have said, which the model has not read yet. */
  takeLate?(session: CallSession | undefined): readonly LateAnswer[];
  /** Gives it back, as the model was not asked. */
  giveBackLate?(session: CallSession | undefined, answers: readonly LateAnswer[]): void;
  readonly askPerson: AskPerson;
  getDebugLogger(): DebugLogger;
}

/** The stages of the model stack, by name. */
export function modelStages(fire: FireHook, host: ModelHost) {
  /** Outermost stage: BeforeToolSelection hooks may restrict the tools, or stop the agent. */
  async function beforeToolSelection(call: ModelCall, next: Next): Promise<void> {
    if (isRefused(call)) return;
    const late = host.takeLate?.(call.session) ?? [];
    if (late.length > 0) return withLate(call, host, late, () => selectTools(call, next));
    await selectTools(call, next);
  }

  async function selectTools(call: ModelCall, next: Next): Promise<void> {
    const firing = fire(HookEventName.BeforeToolSelection, { llmRequest: call.request }, call);
    if (firing) select(call, await firing);
    if (!isRefused(call)) await next();
  }

  /** Inside of it: BeforeModel hooks may answer in place of the model, block the call, stop the agent, or change the request. */
  async function beforeModel(call: ModelCall, next: Next): Promise<void> {
    if (isRefused(call)) return;
    const firing = fire(HookEventName.BeforeModel, { llmRequest: call.request }, call);
    if (firing) await decide(call, await firing);
    if (!isRefused(call)) await next();
  }

  function select(call: ModelCall, fired: ProcessedHookResult): void {
    const { request } = call;
    const read = () => readToolSelection(fired, request);
    const { toolConfig } = readOrWarn(HookEventName.BeforeToolSelection, host, read, {});
    if (fired.shouldStop) applyVerdict(call, fired, { event: HookEventName.BeforeToolSelection });
    else if (toolConfig && !forbidsTools(request)) {
      // Where the host itself forbids all tools, there is nothing left for hooks to restrict.
      const selected = { ...request, config: { ...request.config, toolConfig } };
      call.request = withinTools(selected, request);
    }
    addNote(call, fired);
    call.request = call.seenRequest = withinSelection(call);
    call.selected = call.request;
  }

  async function decide(call: ModelCall, fired: ProcessedHookResult): Promise<void> {
    const { request } = call;
    const read = () => readBeforeModel(fired, request);
    const said = readOrWarn(HookEventName.BeforeModel, host, read, { blocked: false });
    applyVerdict(call, fired);
    const { aggregated } = fired;
    if (!isRefused(call) && isAsking(aggregated)) {
      const input = { ...(said.modifiedRequest ?? request) };
      const subject = { input, originalInput: { ...request } };
      const answer = await host.askPerson(HookEventName.BeforeModel, aggregated, subject, call);
      call.signal?.throwIfAborted();
      if (answer.decision !== 'allow') {
        call.block(refusalOf(answer), { hooks: aggregated.decidedBy });
      }
    }
    if (isRefused(call)) useHookAnswer(call, said.syntheticResponse, fired.suppressOutput);
    else if (said.modifiedRequest) call.request = said.modifiedRequest;
    addNote(call, fired);
    call.request = call.seenRequest = withinSelection(call);
  }

  /** The operation itself. It is not begun after an abort, as above. */
  async function openStream(call: ModelCall, next: Next): Promise<void> {
    if (isRefused(call)) return;
    call.signal?.throwIfAborted();
    if (!isSeen(call)) await seeAgain(call);
    if (isRefused(call)) return;
    takeStream(call, await answerOf(call));
    await next();
  }

  /** Hooks are told of a failure, and may have the call made again. */
  async function answerOf(call: ModelCall): ReturnType<ModelCall['open']> {
    const open = () => call.open(call.request);
    if (!host.mayBeRead(HookEventName.ModelError)) return open();
    const { openWithRetries } = await import('./modelErrors.js');
    return openWithRetries(fire, call, open);
  }

  /** A middleware inside has changed the request, or the tools that it offers, after the hooks had seen it. */
  async function seeAgain(call: ModelCall): Promise<void> {
    const offersOthers = call.selected && !hasSameTools(call.selected, call.request);
    if (offersOthers) await beforeToolSelection(call, nothing);
    call.request = withinSelection(call);
    await beforeModel(call, nothing);
  }

  /** AfterModel hooks may change or hide the answer, or stop the agent, once all of it has arrived. */
  async function afterModel(call: ModelCall, next: Next): Promise<void> {
    await next();
    if (call.stream && !host.skipIdle(HookEventName.AfterModel)) {
      call.stream = throughAfterModel(fire, host, call, call.stream);
    }
  }

  return { beforeToolSelection, beforeModel, afterModel, openStream };
}

export type ModelStages = ReturnType<typeof modelStages>;

async function nothing(): Promise<void> {
  // The rest of the stack has still to come.
}

/** Reads what hooks want changed. What cannot be read changes nothing; what they decided counts all the same. */
export function readOrWarn<R>(
  event: HookEventName,
  host: Pick<ModelHost, 'getDebugLogger'>,
  read: () => R,
  otherwise: R,
): R {
  try {
    return read();
  } catch (error) {
    const message = `${event}: what the hooks wanted changed could not be applied; what they decided counts`;
    DebugLogger.safeOf(host).warn(message, { error });
    return otherwise;
  }
}

/** The model reads a message with the request, or where that is not sent, with the next one. */
function addNote(call: ModelCall, { systemMessage }: ProcessedHookResult): void {
  if (!systemMessage) return;
  const note = asSystemNote(systemMessage);
  if (isRefused(call)) call.contextForModel.push(note);
  else call.request = withMessage(call.request, note);
}

/** Before hooks look at the request, as they are to see what the model will read. What it has not read stays. */
async function withLate(
  call: ModelCall,
  host: ModelHost,
  answers: readonly LateAnswer[],
  goOn: () => Promise<void>,
): Promise<void> {
  call.request = withMessage(call.request, answers.flatMap(notesOf).join('\n\n'));
  try {
    await goOn();
  } finally {
    if (!call.stream || call.synthetic) host.giveBackLate?.(call.session, answers);
  }
}

/** Whether hooks have answered for the request as it is, as far as they were asked. */
function isSeen({ request, seenRequest, selected }: ModelCall): boolean {
  return (
    (!seenRequest || seenRequest === request) && (!selected || hasSameTools(selected, request))
  );
}

function hasSameTools(a: ModelCall['request'], b: ModelCall['request']): boolean {
  return a.config?.tools === b.config?.tools;
}

/** Tools that hooks have removed stay removed, whatever later hooks and middleware do to the request. */
function withinSelection({ request, selected }: ModelCall): ModelCall['request'] {
  const isSame = !selected || selected.config?.toolConfig === request.config?.toolConfig;
  return isSame ? request : withinTools(request, selected);
}

function forbidsTools({ config }: ModelCall['request']): boolean {
  return config?.toolConfig?.functionCallingConfig?.mode === 'NONE';
}

/** A hook that refuses the call may answer in the model's place. */
function useHookAnswer(
  call: ModelCall,
  response: GenerateContentResponse | undefined,
  isHidden: boolean,
): void {
  call.suppressDisplay = isHidden;
  if (!response) return;
  call.synthetic = true;
  call.response = response;
  if (!isHidden) call.stream = streamOf(response);
}

async function* throughAfterModel(
  fire: FireHook,
  host: ModelHost,
  call: ModelCall,
  chunks: AsyncIterable<GenerateContentResponse>,
): AsyncGenerator<GenerateContentResponse> {
  const isHeld = host.holdsAnswers();
  const seen: GenerateContentResponse[] = [];
  for await (const chunk of chunks) {
    if (isDropped(call)) return;
    seen.push(chunk);
    if (!isHeld) yield chunk;
  }
  if (isDropped(call)) return;
  const response = collectResponse(seen);
  const payload = { llmRequest: call.request, llmResponse: response };
  const fired = await fire(HookEventName.AfterModel, payload, call);
  if (fired && !isDropped(call)) {
    const read = () => readAfterModel(fired, response);
    applyAfterModel(call, fired, readOrWarn(HookEventName.AfterModel, host, read, { response }));
  }
  // Hooks that the abort ended have not seen the answer, so nobody else may see it as if they had.
  call.signal?.throwIfAborted();
  if (isHeld && !call.suppressDisplay && !isDropped(call)) yield call.response ?? response;
}

/** Whether somebody has blocked the call while its answer came. */
function isDropped({ stream }: ModelCall): boolean {
  return stream === undefined;
}

function applyAfterModel(
  call: ModelCall,
  fired: ProcessedHookResult,
  { response }: AfterModelHookResult,
): void {
  call.response = response;
  call.suppressDisplay ||= fired.suppressOutput;
  if (fired.shouldStop && !isRefused(call)) applyVerdict(call, fired);
  if (fired.systemMessage) call.contextForModel.push(asSystemNote(fired.systemMessage));
}

async function* streamOf(
  response: GenerateContentResponse,
): AsyncGenerator<GenerateContentResponse> {
  yield response;
}
