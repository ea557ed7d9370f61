import type { AggregatedHookResult } from './protocol/hookOutput.js';
import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import { emptyResponse } from './protocol/response.js';
import type { ApprovalObserver } from './protocol/approval.js';
import { errorMessage } from './util/errorMessage.js';
import { copyData } from './util/records.js';
import {
  type CallSession,
  HookEventName,
  type HookEventInput,
  type HookExecutionPlan,
  type HookExecutionResult,
  type HookPayload,
} from './protocol/types.js';
import { ToolErrorType, type ToolResult } from './tools/tools.js';

/** Called after every event for which hooks ran, as soon as they have answered. */
export type HookObserver = (event: HookEventName, result: AggregatedHookResult) => void;

/** One fired event on its way through the hook stack. */
export interface HookContext<E extends HookEventName = HookEventName> {
  readonly event: E;
  /** What the caller handed in. Never modified. */
  readonly payload: HookPayload<E>;
  /** Ends the hooks that are running. */
  readonly signal: AbortSignal | undefined;
  readonly session: CallSession | undefined;
  /** For extensions, each under a symbol of its own. */
  readonly state: Map<symbol, unknown>;
  /** Which hooks run; written by the planner, where that was not known before. `null` when there is nothing to do. */
  plan: HookExecutionPlan | null;
  /** What the scripts read; written by the translator. */
  input: HookEventInput<E> | undefined;
  /** What became of each hook; written by the runner. */
  results: readonly HookExecutionResult[] | undefined;
  /** What the hooks said together; written by the aggregator. */
  aggregated: AggregatedHookResult | undefined;
  /** What a middleware decided, on top of what the hooks said. */
  verdict: Verdict;
  /** Blocks the operation, as a hook does; where the event can prevent it. */
  block(reason: string): void;
  /** Stops the agent. */
  stop(reason: string): void;
}

/** A hook context of any event; `ctx.event` narrows the rest. */
export type AnyHookContext = { [E in HookEventName]: HookContext<E> }[HookEventName];

/** A block or a stop: where, why, and by whom. */
export interface Decision {
  readonly event: HookEventName;
  readonly reason: string;
  /** Names of the hooks that decided so, else their commands. Absent where a middleware or the host did. */
  readonly hooks?: readonly string[];
}

/** What hooks and middleware decided about an operation. */
export type Verdict =
  | { readonly kind: 'allow' }
  | ({ readonly kind: 'block' } & Decision)
  | ({ readonly kind: 'stop' } & Decision);

/** For stages: the event that decided, where it is not the usual one, and the hooks. */
export type Author = Partial<Pick<Decision, 'event' | 'hooks'>>;

/** What was decided, where it is of this kind. */
export function decisionOf(verdict: Verdict, kind: 'block' | 'stop'): Decision | undefined {
  if (verdict.kind !== kind) return undefined;
  const { kind: _kind, ...decision } = verdict;
  return decision;
}

/** The verdict of a call that nobody objected to. */
export const ALLOW: Verdict = { kind: 'allow' };

/** Runs a tool with the arguments that hooks and middleware left. */
export type ExecuteTool = (input: Record<string, unknown>) => Promise<ToolResult>;

/** One tool execution on its way through the tool stack. Not calling `next()` blocks it. */
export interface ToolCall {
  readonly toolName: string;
  /** The arguments as the model gave them. */
  readonly originalInput: Readonly<Record<string, unknown>>;
  /** Runs the tool; called by the innermost layer with `input`. */
  readonly execute: ExecuteTool;
  readonly signal: AbortSignal | undefined;
  readonly onHooks: HookObserver | undefined;
  readonly onApproval: ApprovalObserver | undefined;
  /** The model's id of the call, where the host gave it. */
  readonly callId: string | undefined;
  readonly session: CallSession | undefined;
  readonly state: Map<symbol, unknown>;
  /** The arguments to execute with. Replace it, never modify it. */
  input: Record<string, unknown>;
  /** Those that BeforeTool hooks have answered for; `undefined` where none was asked. */
  seenInput: Record<string, unknown> | undefined;
  /** What the tool itself gave; `undefined` when it did not run. */
  executed: ToolResult | undefined;
  /** Milliseconds that the tool took; `undefined` when it did not run. */
  durationMs: number | undefined;
  /**
   * What the call gives in the end: set once the tool ran, or by the layer that blocked it. There from the beginning
   * for a call that is refused before any layer has seen it.
   */
  result: ToolResult | undefined;
  /** Text that the model is to read with the result. Left to the caller where the tool throws; else in `result`. */
  contextForModel: string[];
  verdict: Verdict;
  /** Blocks the call: the tool does not run, or what it gave is replaced by the reason. A stop stands all the same. */
  block(reason: string, by?: Author): void;
  /** Stops the agent. The tool does not run; what it has given already stays. */
  stop(reason: string, by?: Author): void;
}

/** Starts one streamed call of the model. */
export type OpenStream = (
  request: GenerateContentParameters,
) => Promise<AsyncIterable<GenerateContentResponse>>;

/** One model call on its way through the model stack. Not calling `next()` blocks it. */
export interface ModelCall {
  /** The request as the chat assembled it. */
  readonly originalRequest: GenerateContentParameters;
  /** Opens the SDK's stream; called by the innermost layer with `request`. */
  readonly open: OpenStream;
  readonly signal: AbortSignal | undefined;
  readonly onHooks: HookObserver | undefined;
  readonly onApproval: ApprovalObserver | undefined;
  readonly session: CallSession | undefined;
  readonly state: Map<symbol, unknown>;
  /** The request to send. Replace it, never modify it. */
  request: GenerateContentParameters;
  /** The one that hooks have answered for; `undefined` where none was asked. */
  seenRequest: GenerateContentParameters | undefined;
  /** The one that BeforeToolSelection hooks left: more tools than it has are not offered. */
  selected: GenerateContentParameters | undefined;
  /**
   * The answer's chunks, for display. Still to be read when `next()` returns, because a stream is only
   * opened then: to see or change chunks, wrap it.
   */
  stream: AsyncIterable<GenerateContentResponse> | undefined;
  /**
   * The answer to store and act upon, where it is not simply the chunks put together: a synthetic one, or
   * what AfterModel hooks made of it. Final when `stream` has ended.
   */
  response: GenerateContentResponse | undefined;
  /** Whether `response` was given by a hook instead of the model. */
  synthetic: boolean;
  /** Whether the answer is kept from the user. */
  suppressDisplay: boolean;
  /** Text that the model is to read with the next message. */
  contextForModel: string[];
  verdict: Verdict;
  /** Blocks the call: the model is not asked, or what it said is dropped. */
  block(reason: string, by?: Author): void;
  /** Stops the agent. The model is not asked; what it says already is kept. */
  stop(reason: string, by?: Author): void;
}

/** What passes through each stack. */
export interface StackContexts {
  tool: ToolCall;
  model: ModelCall;
  hook: AnyHookContext;
}

/** How a call may be ended and watched. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onHooks?: HookObserver | undefined;
  /** Called when a person is asked about the call, and again with the answer. */
  readonly onApproval?: ApprovalObserver | undefined;
  /** The model's id of a tool call, by which hooks of other agents know it before and after the tool. */
  readonly callId?: string | undefined;
  /** For whom the call is made. Default: for the session of the `Config`. */
  readonly session?: CallSession | undefined;
}

/**
 * A tool call at the beginning of its way. It has its `result` already where nothing is to run at all: the call was
 * aborted, or its arguments are nested too deeply for hooks to read. Put together by `Object.assign`, because V8 takes
 * a hundred times as long to seal what was spread into a literal.
 */
export function createToolCall(
  toolName: string,
  originalInput: Record<string, unknown>,
  execute: ExecuteTool,
  { signal, onHooks, onApproval, callId, session }: CallOptions = {},
): ToolCall {
  const { input, refusal } = copyArguments(toolName, originalInput);
  const result = refusal ?? (signal?.aborted ? cancelled(toolName) : undefined);
  const given = { toolName, originalInput, execute, signal, onHooks, onApproval, callId, session };
  const slots = { input, result, ...UNFILLED_CALL };
  const call: ToolCall = Object.assign(given, slots, {
    state: new Map<symbol, unknown>(),
    contextForModel: [],
    block: (reason: string, by?: Author) => blockTool(call, reason, by),
    stop: (reason: string, by?: Author) => stopTool(call, reason, by),
  });
  return Object.seal(call);
}

/** The slots of a tool call that its layers fill. */
const UNFILLED_CALL = {
  seenInput: undefined,
  executed: undefined,
  durationMs: undefined,
  verdict: ALLOW,
} as const;

function blockTool(call: ToolCall, reason: string, by?: Author): void {
  if (call.verdict.kind === 'stop') {
    call.result = stopped(undefined, call.verdict.reason);
    return;
  }
  call.verdict = decisionAbout(call, 'block', reason, by);
  call.result = errorResult(ToolErrorType.Blocked, reason);
}

function stopTool(call: ToolCall, reason: string, by?: Author): void {
  const { verdict, executed } = call;
  const isGiven = verdict.kind === 'allow' || (verdict.kind === 'stop' && executed);
  const given = isGiven ? call.result : undefined;
  call.verdict = decisionAbout(call, 'stop', reason, by);
  call.result = stopped(given, reason);
}

function decisionAbout(
  { result }: ToolCall,
  kind: 'block' | 'stop',
  reason: string,
  by?: Author,
): Verdict {
  const event = result ? HookEventName.AfterTool : HookEventName.BeforeTool;
  return { kind, event, reason, ...by };
}

/** Takes what the tool gave. What was decided while it ran stands. */
export function takeResult(call: ToolCall, executed: ToolResult): void {
  const { verdict } = call;
  call.executed = executed;
  if (verdict.kind !== 'block') call.result = executed;
  if (verdict.kind === 'allow') return;
  call.verdict = { ...verdict, event: HookEventName.AfterTool };
  if (verdict.kind === 'stop') call.result = stopped(executed, verdict.reason);
}

/** The result of a call that failed or was refused, in the same words for the model and the user. */
export function errorResult(type: ToolErrorType, message: string): ToolResult {
  return { llmContent: message, returnDisplay: message, error: { type, message } };
}

/** The result of a call that was aborted before its tool ran. */
export function cancelled(toolName: string): ToolResult {
  const message = `The call of "${toolName}" was cancelled before it ran.`;
  return errorResult(ToolErrorType.Cancelled, message);
}

/** The result of a call that stops the agent. What went wrong with the tool itself stays to be read. */
function stopped(given: ToolResult | undefined, reason: string): ToolResult {
  const refusal = errorResult(ToolErrorType.StopExecution, reason);
  const isFailure = given?.error && given.error.type !== ToolErrorType.StopExecution;
  return {
    ...(given ?? refusal),
    error: isFailure ? given.error : refusal.error,
    stopReason: reason,
  };
}

/** A model call at the beginning of its way. */
export function createModelCall(
  originalRequest: GenerateContentParameters,
  open: OpenStream,
  { signal, onHooks, onApproval, session }: CallOptions = {},
): ModelCall {
  const call: ModelCall = {
    originalRequest,
    open,
    signal,
    onHooks,
    onApproval,
    session,
    state: new Map(),
    request: originalRequest,
    seenRequest: undefined,
    selected: undefined,
    stream: undefined,
    response: undefined,
    synthetic: false,
    suppressDisplay: false,
    contextForModel: [],
    verdict: ALLOW,
    block: (reason, by) => blockModel(call, reason, by),
    stop: (reason, by) => stopModel(call, reason, by),
  };
  return Object.seal(call);
}

function blockModel(call: ModelCall, reason: string, by?: Author): void {
  const { stream, verdict } = call;
  if (verdict.kind !== 'stop')
    call.verdict = { kind: 'block', event: eventOf(stream), reason, ...by };
  call.stream = undefined;
  call.response = emptyResponse();
  call.synthetic = false;
}

function stopModel(call: ModelCall, reason: string, by?: Author): void {
  call.verdict = { kind: 'stop', event: eventOf(call.stream), reason, ...by };
  if (!call.stream) call.response ??= emptyResponse();
}

function eventOf(stream: ModelCall['stream']): HookEventName {
  return stream ? HookEventName.AfterModel : HookEventName.BeforeModel;
}

/** Takes the stream that the model opened. What was decided meanwhile stands: a block drops it. */
export function takeStream(call: ModelCall, stream: AsyncIterable<GenerateContentResponse>): void {
  const { verdict } = call;
  if (verdict.kind !== 'block') call.stream = stream;
  if (verdict.kind === 'allow') return;
  call.verdict = { ...verdict, event: HookEventName.AfterModel };
  // It was empty, for a model that is not asked; this one has been.
  if (verdict.kind === 'stop') call.response = undefined;
}

/**
 * A fired event at the beginning of its way.
 *
 * @param plan where one was made to know whether there is anything to do; the planner takes it
 */
export function createHookContext<E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
  { signal, session }: CallOptions = {},
  plan: HookExecutionPlan | null = null,
): HookContext<E> {
  const block = (reason: string) => {
    if (ctx.verdict.kind !== 'stop') ctx.verdict = { kind: 'block', event, reason };
  };
  const stop = (reason: string) => {
    ctx.verdict = { kind: 'stop', event, reason };
  };
  const given = { event, payload, plan, signal, session, block, stop };
  const ctx: HookContext<E> = Object.assign(given, UNFILLED, { state: new Map() });
  return Object.seal(ctx);
}

/** The slots of a fired event that its stages fill. */
const UNFILLED = {
  input: undefined,
  results: undefined,
  aggregated: undefined,
  verdict: ALLOW,
} as const;

/**
 * A copy of a tool's arguments, which a tool may modify, and which are not ours to lend; or why the call is refused.
 * The limit is the same with and without hooks, so that none of them is what makes the difference.
 */
export function copyArguments(
  toolName: string,
  input: Record<string, unknown>,
): { readonly input: Record<string, unknown>; readonly refusal?: ToolResult } {
  try {
    return { input: copyData(input) };
  } catch (error) {
    const message = `The tool "${toolName}" was not run, as its arguments cannot be read: ${errorMessage(error)}`;
    return { input: {}, refusal: errorResult(ToolErrorType.InvalidParams, message) };
  }
}
