import { requireKnown, type OptionNames } from '../util/requireKnown.js';
import type { Config } from '../config/config.js';
import { type CallOptions, createToolCall, type ExecuteTool } from '../context.js';
import { fireHook } from '../hooks/fireHook.js';
import type { DefaultHookOutput } from '../protocol/hookOutput.js';
import { HookEventName } from '../protocol/types.js';
import type { ToolResult } from '../tools/tools.js';
import { runToolCall } from './coreToolScheduler.js';
import { openHalf, unheeded } from './halves.js';

/**
 * Fires BeforeTool.
 *
 * @returns what the hooks said; `undefined` when none ran or the hook system failed. Never rejects.
 */
export async function fireBeforeToolHook(
  config: Config,
  toolName: string,
  toolInput: Record<string, unknown>,
  options?: CallOptions,
): Promise<DefaultHookOutput | undefined> {
  const payload = { toolName, toolInput, callId: options?.callId };
  const fired = await fireHook(config, HookEventName.BeforeTool, payload, options);
  return fired?.aggregated.finalOutput;
}

/**
 * Fires AfterTool.
 *
 * @param toolResponse the tool's result: `llmContent`, `returnDisplay`, `metadata`, `error`
 * @returns what the hooks said; `undefined` when none ran or the hook system failed. Never rejects. Where a hook of
 *   another agent replaced the result, `foreign.toolOutput.text` is what the model is to read instead.
 */
export async function fireAfterToolHook(
  config: Config,
  toolName: string,
  toolInput: Record<string, unknown>,
  toolResponse: Record<string, unknown>,
  options?: CallOptions,
): Promise<DefaultHookOutput | undefined> {
  const payload = { toolName, toolInput, toolResponse, callId: options?.callId };
  const fired = await fireHook(config, HookEventName.AfterTool, payload, options);
  return fired?.aggregated.finalOutput;
}

/**
 * Runs a tool with its hooks: BeforeTool, the tool, AfterTool, and everything that they decide.
 *
 * @param toolInput the arguments as the model gave them; never modified
 * @param executeFn runs the tool with the arguments that hooks and middleware left
 * @returns the tool's result with the effects of its hooks. Of a blocked call, `llmContent` is the reason and
 *   `error` says so; of one that stops the agent, `stopReason` is why, and where the tool itself has not failed,
 *   `error.type` is `stop_execution`.
 *   A call whose `signal` has fired before the tool ran has the error `cancelled`, and one whose arguments are nested
 *   deeper than 200 levels `invalid_tool_params`; in both cases the tool does not run.
 * @throws TypeError for an option that does not exist
 * @throws what `executeFn` throws, as it is
 */
export async function executeToolWithHooks(
  config: Config,
  toolName: string,
  toolInput: Record<string, unknown>,
  executeFn: ExecuteTool,
  options: CallOptions = {},
): Promise<ToolResult> {
  requireKnown('executeToolWithHooks()', options, CALL_OPTIONS);
  return runToolCall(config, createToolCall(toolName, toolInput, executeFn, options));
}

const CALL_OPTIONS: OptionNames<CallOptions> = {
  signal: true,
  onHooks: true,
  onApproval: true,
  callId: true,
  session: true,
};

/** A tool call that its hooks and middleware let pass, for a host that runs the tool itself. */
export interface OpenToolCall {
  /** The arguments to run the tool with. */
  readonly input: Record<string, unknown>;
  /**
   * Once the tool has run: AfterTool hooks see what it gave.
   *
   * @returns the result with all their effects, as `executeToolWithHooks` gives it
   */
  finish(result: ToolResult): Promise<ToolResult>;
  /**
   * Where the tool failed. A middleware may still make a result of it.
   *
   * @throws `error`, unless a middleware has caught it
   */
  fail(error: unknown): Promise<ToolResult>;
  /** To be called where the result of the tool will never be known. Never rejects. */
  abandon(): Promise<void>;
}

/** A tool call that does not take place, with what the model reads instead. */
export interface RefusedToolCall {
  readonly refused: ToolResult;
}

/**
 * A tool call in two halves, for hosts that have one callback before a tool and another after it. What stands around
 * the tool waits in between. The first of `finish`, `fail`, `abandon` and the abort of `signal` ends it; what comes later
 * gives the same result.
 *
 * @returns what to run the tool with, or why it must not run
 * @throws TypeError for an option that does not exist
 */
export async function openToolCall(
  config: Pick<Config, 'getToolStack'>,
  toolName: string,
  toolInput: Record<string, unknown>,
  options: CallOptions = {},
): Promise<OpenToolCall | RefusedToolCall> {
  requireKnown('openToolCall()', options, CALL_OPTIONS);
  const half = await openHalf<Record<string, unknown>, ToolResult, ToolResult>((middle) => {
    const execute: ExecuteTool = (input) => middle(input, options.signal);
    return runToolCall(config, createToolCall(toolName, toolInput, execute, options));
  });
  if ('ended' in half) return { refused: half.ended };
  const { given: input, finish, fail } = half;
  const abandon = () => unheeded(fail(new ToolCallAbandonedError(toolName)));
  return { input, finish, fail, abandon };
}

/** What middleware around an abandoned call sees as the failure of the tool. */
export class ToolCallAbandonedError extends Error {
  override readonly name = 'ToolCallAbandonedError';
  readonly code = 'TOOL_CALL_ABANDONED';

  constructor(toolName: string) {
    super(`The call of "${toolName}" was abandoned: its host does not know what became of it`);
  }
}
