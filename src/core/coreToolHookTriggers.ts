import type { Config } from '../config/config.js';
import { fireHook, type FireOptions } from '../hooks/hookEventHandler.js';
import type { DefaultHookOutput } from '../hooks/hookOutput.js';
import { HookEventName } from '../hooks/types.js';
import { createToolCall, type ExecuteTool } from '../context.js';
import type { ToolResult } from '../tools/tools.js';

/**
 * Fires BeforeTool.
 *
 * @returns what the hooks said; `undefined` when none ran or the hook system failed. Never rejects.
 */
export async function fireBeforeToolHook(
  config: Config,
  toolName: string,
  toolInput: Record<string, unknown>,
  options?: FireOptions,
): Promise<DefaultHookOutput | undefined> {
  const fired = await fireHook(config, HookEventName.BeforeTool, { toolName, toolInput }, options);
  return fired?.aggregated.finalOutput;
}

/**
 * Fires AfterTool.
 *
 * @param toolResponse the tool's result: `llmContent`, `returnDisplay`, `metadata`, `error`
 * @returns what the hooks said; `undefined` when none ran or the hook system failed. Never rejects.
 */
export async function fireAfterToolHook(
  config: Config,
  toolName: string,
  toolInput: Record<string, unknown>,
  toolResponse: Record<string, unknown>,
  options?: FireOptions,
): Promise<DefaultHookOutput | undefined> {
  const payload = { toolName, toolInput, toolResponse };
  const fired = await fireHook(config, HookEventName.AfterTool, payload, options);
  return fired?.aggregated.finalOutput;
}

/**
 * Runs a tool with its hooks: BeforeTool, the tool, AfterTool, and everything that they decide.
 *
 * @param toolInput the arguments as the model gave them; never modified
 * @param executeFn runs the tool with the arguments that hooks and middleware left
 * @returns the tool's result with the effects of its hooks. Of a blocked call, `llmContent` is the reason and
 *   `error` says so; of one that stops the agent, `error.type` is `stop_execution` and `error.message` the reason.
 * @throws what `executeFn` throws, as it is
 */
export async function executeToolWithHooks(
  config: Config,
  toolName: string,
  toolInput: Record<string, unknown>,
  executeFn: ExecuteTool,
  options: FireOptions = {},
): Promise<ToolResult> {
  const call = createToolCall(config, toolName, toolInput, executeFn, options);
  await config.getToolStack().run(call);
  if (!call.result) {
    throw new Error(
      `A middleware ended the call of "${toolName}" without a result: set call.result`,
    );
  }
  return call.result;
}
