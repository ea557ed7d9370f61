import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { Config } from './config/config.js';
import type {
  AggregatedHookResult,
  HookEventInput,
  HookEventName,
  HookExecutionPlan,
  HookExecutionResult,
  HookPayload,
} from './hooks/types.js';
import type { ToolResult } from './tools/tools.js';

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
  { signal, onHooks }: CallOptions = {},
): ToolCall {
  return Object.seal<ToolCall>({
    config,
    toolName,
    originalInput: input,
    execute,
    signal,
    onHooks,
    state: new Map(),
    input: copyOf(input),
    executed: undefined,
    result: undefined,
    verdict: ALLOW,
  });
}

/** A model call at the beginning of its way. */
export function createModelCall(
  config: Config,
  request: GenerateContentParameters,
  open: OpenStream,
  { signal, onHooks }: CallOptions = {},
): ModelCall {
  return Object.seal<ModelCall>({
    config,
    originalRequest: request,
    open,
    signal,
    onHooks,
    state: new Map(),
    request,
    stream: undefined,
    response: undefined,
    synthetic: false,
    suppressDisplay: false,
    contextForModel: [],
    verdict: ALLOW,
  });
}

/** A tool may modify what it is given, and the caller's object is not ours to lend. */
function copyOf(input: Record<string, unknown>): Record<string, unknown> {
  try {
    return structuredClone(input);
  } catch {
    return { ...input };
  }
}
