import type { FunctionDeclaration, PartListUnion } from '@google/genai';

/** Error types that the hook system itself puts on a tool result. */
export enum ToolErrorType {
  /** A hook or a middleware blocked the call. */
  Blocked = 'blocked_by_hook',
  /** The agent is to end, and the tool itself has not failed; `message` is the reason to show to the user. */
  StopExecution = 'stop_execution',
  /** The model asked for a tool outside the names that BeforeToolSelection hooks allow. */
  NotAllowed = 'tool_not_allowed',
  UnknownTool = 'unknown_tool',
  InvalidParams = 'invalid_tool_params',
  Failed = 'tool_failed',
  Cancelled = 'cancelled',
}

/** What a tool gives back. */
export interface ToolResult {
  /** What the model sees. */
  llmContent: PartListUnion;
  /** What the user sees. */
  returnDisplay: string;
  metadata?: Record<string, unknown>;
  /** Present when the call failed, was blocked, or stopped the agent. */
  error?: { message: string; type?: string };
  /** Present when the agent is to end: why. Where the tool has failed as well, `error` says so. */
  stopReason?: string;
  /** True when a hook asked not to show the result to the user. The model still receives it. */
  suppressDisplay?: boolean;
}

/** What a tool may use while it runs. */
export interface ToolContext {
  /** Absolute path that the tool is confined to. */
  readonly workingDir: string;
  /** Absolute real paths of folders outside of it whose files may be read as well. */
  readonly readable?: ReadonlySet<string>;
  readonly signal?: AbortSignal;
}

/** A tool of the reference agent. */
export interface Tool {
  readonly name: string;
  /** What the model is told; `parametersJsonSchema` describes `input`. */
  readonly declaration: FunctionDeclaration;
  /**
   * Runs the tool. An expected failure (file not found, bad argument, non-zero exit) is a result
   * with `error`, never a throw.
   */
  execute(input: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
}
