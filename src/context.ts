import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { Config } from './config/config.js';
import { emptyResponse } from './core/response.js';
import { copyData } from './hooks/merge.js';
import {
  HookEventName,
  type AggregatedHookResult,
  type HookEventInput,
  type HookExecutionPlan,
  type HookExecutionResult,
  type HookPayload,
} from './hooks/types.js';
import { ToolErrorType, type ToolResult } from './tools/tools.js';

/** Is told of every event for which hooks ran, as soon as they have answered. */
export type HookObserver = (event: HookEventName, result: AggregatedHookResult) => void;

/** One fired event on its way through the hook stack. */
export interface HookContext<E extends HookEventName = HookEventName> {
  readonly event: E;
  /** What the caller handed in. Never modified. */
  readonly payload: HookPayload<E>;
  /** Ends the hooks that are running. */
  readonly signal: AbortSignal | undefined;
  /** For extensions, each under a symbol of its own. */
  readonly state: Map<symbol, unknown>;
  /** Which hooks run; written by the planner. `null` when there is nothing to do. */
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

/** What hooks and middleware decided about an operation. */
export type Verdict =
  | { readonly kind: 'allow' }
  | { readonly kind: 'block'; readonly event: HookEventName; readonly reason: string }
  | { readonly kind: 'stop'; readonly event: HookEventName; readonly reason: string };

/** The verdict of a call that nobody objected to. */
export const ALLOW: Verdict = { kind: 'allow' };

/** Runs a tool with the arguments that hooks and middleware left. */
export type ExecuteTool = (input: Record<string, unknown>) => Promise<ToolResult>;

/** One tool execution on its way through the tool stack. Not calling `next()` blocks it. */
export interface ToolCall {
  readonly config: Config;
  readonly toolName: string;
  /** The arguments as the model gave them. */
  readonly originalInput: Readonly<Record<string, unknown>>;
  /** Runs the tool; called by the innermost layer with `input`. */
  readonly execute: ExecuteTool;
  readonly signal: AbortSignal | undefined;
  readonly onHooks: HookObserver | undefined;
  readonly state: Map<symbol, unknown>;
  /** The arguments to execute with. Replace it, never modify it. */
  input: Record<string, unknown>;
  /** What the tool itself gave; `undefined` when it did not run. */
  executed: ToolResult | undefined;
  /** What the call gives in the end: set once the tool ran, or by the layer that blocked it. */
  result: ToolResult | undefined;
  verdict: Verdict;
  /** Blocks the call: the tool does not run, or what it gave is replaced by the reason. */
  block(reason: string): void;
  /** Stops the agent. The tool does not run; what it has given already stays. */
  stop(reason: string): void;
}

/** Starts one streamed call of the model. */
export type OpenStream = (
  request: GenerateContentParameters,
) => Promise<AsyncIterable<GenerateContentResponse>>;

/** One model call on its way through the model stack. Not calling `next()` blocks it. */
export interface ModelCall {
  readonly config: Config;
  /** The request as the chat assembled it. */
  readonly originalRequest: GenerateContentParameters;
  /** Opens the SDK's stream; called by the innermost layer with `request`. */
  readonly open: OpenStream;
  readonly signal: AbortSignal | undefined;
  readonly onHooks: HookObserver | undefined;
  readonly state: Map<symbol, unknown>;
  /** The request to send. Replace it, never modify it. */
  request: GenerateContentParameters;
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
  block(reason: string): void;
  /** Stops the agent. The model is not asked; what it says already is kept. */
  stop(reason: string): void;
}

/** How a call may be ended and watched. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onHooks?: HookObserver;
}

/** A tool call at the beginning of its way. */
export function createToolCall(
  config: Config,
  toolName: string,
  input: Record<string, unknown>,
  execute: ExecuteTool,
  options: CallOptions = {},
): ToolCall {
  return Object.seal(new ToolCallContext(config, toolName, input, execute, options));
}

class ToolCallContext implements ToolCall {
  readonly signal: AbortSignal | undefined;
  readonly onHooks: HookObserver | undefined;
  readonly state = new Map<symbol, unknown>();
  input: Record<string, unknown>;
  executed: ToolResult | undefined = undefined;
  result: ToolResult | undefined = undefined;
  verdict: Verdict = ALLOW;

  constructor(
    readonly config: Config,
    readonly toolName: string,
    readonly originalInput: Record<string, unknown>,
    readonly execute: ExecuteTool,
    { signal, onHooks }: CallOptions,
  ) {
    this.signal = signal;
    this.onHooks = onHooks;
    this.input = copyOf(originalInput);
  }

  block(reason: string): void {
    this.#decide('block', reason);
    this.result = refusal(ToolErrorType.Blocked, reason);
  }

  stop(reason: string): void {
    const given = this.verdict.kind === 'allow' ? this.result : undefined;
    this.#decide('stop', reason);
    const type = ToolErrorType.StopExecution;
    this.result = given ? { ...given, error: { type, message: reason } } : refusal(type, reason);
  }

  #decide(kind: 'block' | 'stop', reason: string): void {
    const event = this.result ? HookEventName.AfterTool : HookEventName.BeforeTool;
    this.verdict = { kind, event, reason };
  }
}

function refusal(type: ToolErrorType, reason: string): ToolResult {
  return { llmContent: reason, returnDisplay: reason, error: { type, message: reason } };
}

/** A model call at the beginning of its way. */
export function createModelCall(
  config: Config,
  request: GenerateContentParameters,
  open: OpenStream,
  options: CallOptions = {},
): ModelCall {
  return Object.seal(new ModelCallContext(config, request, open, options));
}

class ModelCallContext implements ModelCall {
  readonly signal: AbortSignal | undefined;
  readonly onHooks: HookObserver | undefined;
  readonly state = new Map<symbol, unknown>();
  request: GenerateContentParameters;
  stream: ModelCall['stream'] = undefined;
  response: GenerateContentResponse | undefined = undefined;
  synthetic = false;
  suppressDisplay = false;
  contextForModel: string[] = [];
  verdict: Verdict = ALLOW;

  constructor(
    readonly config: Config,
    readonly originalRequest: GenerateContentParameters,
    readonly open: OpenStream,
    { signal, onHooks }: CallOptions,
  ) {
    this.signal = signal;
    this.onHooks = onHooks;
    this.request = originalRequest;
  }

  block(reason: string): void {
    this.#decide('block', reason);
    this.stream = undefined;
    this.response = emptyResponse();
    this.synthetic = false;
  }

  stop(reason: string): void {
    this.#decide('stop', reason);
    if (!this.stream) this.response ??= emptyResponse();
  }

  #decide(kind: 'block' | 'stop', reason: string): void {
    const event = this.stream ? HookEventName.AfterModel : HookEventName.BeforeModel;
    this.verdict = { kind, event, reason };
  }
}

/** A fired event at the beginning of its way. */
export function createHookContext<E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
  signal: AbortSignal | undefined,
): HookContext<E> {
  return Object.seal(new FiredEvent(event, payload, signal));
}

class FiredEvent<E extends HookEventName> implements HookContext<E> {
  readonly state = new Map<symbol, unknown>();
  plan: HookExecutionPlan | null = null;
  input: HookEventInput<E> | undefined = undefined;
  results: readonly HookExecutionResult[] | undefined = undefined;
  aggregated: AggregatedHookResult | undefined = undefined;
  verdict: Verdict = ALLOW;

  constructor(
    readonly event: E,
    readonly payload: HookPayload<E>,
    readonly signal: AbortSignal | undefined,
  ) {}

  block(reason: string): void {
    this.verdict = { kind: 'block', event: this.event, reason };
  }

  stop(reason: string): void {
    this.verdict = { kind: 'stop', event: this.event, reason };
  }
}

/** A tool may modify what it is given, and the caller's object is not ours to lend. */
function copyOf(input: Record<string, unknown>): Record<string, unknown> {
  try {
    return copyData(input);
  } catch {
    // Cyclic, or nested deeper than the call stack.
    return { ...input };
  }
}
