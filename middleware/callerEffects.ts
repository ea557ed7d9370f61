import { isDeepStrictEqual } from 'node:util';
import type { GenerateContentResponse } from '@google/genai';
import type { Next } from '../src/compose.js';
import {
  cancelled,
  takeResult,
  takeStream,
  type ModelCall,
  type ToolCall,
} from '../src/context.js';
import {
  askAfterModel,
  askBeforeModel,
  askBeforeToolSelection,
  type AfterModelHookResult,
  type BeforeModelHookResult,
} from '../src/core/geminiChatHookTriggers.js';
import { asHookContext, asSystemNote, withMessage, withNotes } from '../src/protocol/llmContent.js';
import { collectResponse } from '../src/protocol/response.js';
import { fireHook, hasHooks } from '../src/hooks/hookEventHandler.js';
import {
  BeforeToolHookOutput,
  DEFAULT_BLOCK_REASON,
  DEFAULT_STOP_REASON,
  withToolInput,
  withToolOutput,
} from '../src/protocol/hookOutput.js';
import type { ProcessedHookResult } from '../src/protocol/processedResult.js';
import { HookEventName, type HookPayload, type ToolOutput } from '../src/protocol/types.js';
import type { ToolResult } from '../src/tools/tools.js';

/** Outermost stage of a tool call: BeforeTool hooks may block it, stop the agent, or change its arguments. */
async function beforeTool(call: ToolCall, next: Next): Promise<void> {
  if (isRefused(call)) return;
  const payload = { toolName: call.toolName, toolInput: call.input, callId: call.callId };
  const firing = fireHook(call.config, HookEventName.BeforeTool, payload, call);
  if (!firing) return next();

  const fired = await firing;
  if (heed(call, fired) && (await isPermitted(call, fired))) await next();
}

/** Applies what BeforeTool hooks decided; says whether the call goes on. */
function heed(call: ToolCall, fired: ProcessedHookResult): boolean {
  const { finalOutput: output, decidedBy: hooks } = fired.aggregated;
  const context = fenced(output?.foreign?.contextOfResult);
  const notes = [...(context ? [context] : []), ...notesOf(fired)];
  call.contextForModel.push(...notes.filter((note) => !call.contextForModel.includes(note)));
  if (fired.shouldStop) call.stop(fired.stopReason ?? DEFAULT_STOP_REASON, { hooks });
  else if (output?.isBlockingDecision()) call.block(output.getBlockReason(), { hooks });
  if (isRefused(call)) return false;
  if (output) call.input = withToolInput(call.input, output);
  return true;
}

/** Where hooks want the user to be asked, others may decide in place of the user. Without them, the tool runs. */
async function isPermitted(call: ToolCall, { aggregated }: ProcessedHookResult): Promise<boolean> {
  const { finalOutput } = aggregated;
  if (!(finalOutput instanceof BeforeToolHookOutput && finalOutput.isAsking())) return true;
  const { toolName, input: toolInput, callId } = call;
  const ask = async (payload: HookPayload<HookEventName.BeforeTool>) => {
    const fired = await fireHook(call.config, HookEventName.BeforeTool, payload, call);
    return !fired || heed(call, fired);
  };
  if (!(await ask({ toolName, toolInput, callId, isAsked: true }))) return false;
  // Other arguments than those that the hooks of the call have seen are put to them as well.
  const isSeen = isDeepStrictEqual(call.input, toolInput);
  return isSeen || ask({ toolName, toolInput: call.input, callId });
}

/** Inside of `beforeTool`: lets the tool run, then AfterTool hooks may annotate, hide, or stop the agent. */
async function afterTool(call: ToolCall, next: Next): Promise<void> {
  await next();
  // Of a call that was refused before its tool ran, there is nothing to look at; one that is aborted runs no more hooks.
  if (!call.result || call.signal?.aborted || (isRefused(call) && !call.executed)) return;
  const { llmContent, returnDisplay, metadata, error } = call.result;
  const toolResponse = { llmContent, returnDisplay, metadata, error };
  const { toolName, input: toolInput, callId, durationMs } = call;
  const payload = { toolName, toolInput, toolResponse, callId, durationMs };
  const firing = fireHook(call.config, HookEventName.AfterTool, payload, call);
  if (!firing) return;
  const fired = await firing;
  const { finalOutput: output, decidedBy: hooks } = fired.aggregated;

  const replacement = output?.foreign?.toolOutput;
  if (replacement) replaceResult(call, call.result, replacement);
  // The tool has run, so a block comes too late; its reason is still of use to the model, which reads it once.
  const reason = output?.isBlockingDecision() ? output.getBlockReason() : undefined;
  const objection = reason === replacement?.text ? undefined : reason;
  call.result = withNotes(call.result, [
    fenced(output?.getAdditionalContext()),
    fenced(objection),
    ...notesOf(fired),
  ]);
  if (fired.suppressOutput) call.result = { ...call.result, suppressDisplay: true };
  if (fired.shouldStop) call.stop(fired.stopReason ?? DEFAULT_STOP_REASON, { hooks });
}

/** A stop that was decided before stands. */
function replaceResult(call: ToolCall, result: ToolResult, replacement: ToolOutput): void {
  call.result = withToolOutput(result, replacement);
  if (call.verdict.kind === 'stop') call.stop(call.verdict.reason, call.verdict);
}

/** A middleware that blocked or stopped the call may still call `next()`; its word stands. */
function isRefused({ verdict }: ToolCall | ModelCall): boolean {
  return verdict.kind !== 'allow';
}

/** The operation itself. Hooks that were ended by an abort did not object, but it is not wanted any more. */
async function execute(call: ToolCall, next: Next): Promise<void> {
  if (isRefused(call)) return;
  if (call.signal?.aborted) {
    call.result = cancelled(call.toolName);
    return;
  }
  const startedAt = performance.now();
  const result = await call.execute(call.input);
  call.durationMs = Math.round(performance.now() - startedAt);
  takeResult(call, result);
  await next();
}

/** The stages of the tool stack, by name. */
export const toolStages = { beforeTool, afterTool, execute };

/** Outermost stage of a model call: BeforeToolSelection hooks may restrict the tools, or stop the agent. */
async function beforeToolSelection(call: ModelCall, next: Next): Promise<void> {
  if (isRefused(call)) return;
  const asked = askBeforeToolSelection(call.config, call.request, call);
  if (!asked) return next();

  const { toolConfig, stopped, systemMessage, decidedBy: hooks, ...result } = await asked;
  if (stopped) {
    const { stopReason = DEFAULT_STOP_REASON } = result;
    call.stop(stopReason, { event: HookEventName.BeforeToolSelection, hooks });
    if (systemMessage) call.contextForModel.push(asSystemNote(systemMessage));
    return;
  }
  // Hooks restrict. Where the host wants no tool at all, there is nothing left to restrict.
  if (toolConfig && !forbidsTools(call.request)) {
    call.request = { ...call.request, config: { ...call.request.config, toolConfig } };
  }
  if (systemMessage) call.request = withMessage(call.request, asSystemNote(systemMessage));
  await next();
}

function forbidsTools({ config }: ModelCall['request']): boolean {
  return config?.toolConfig?.functionCallingConfig?.mode === 'NONE';
}

/** BeforeModel hooks may answer in place of the model, block the call, stop the agent, or change the request. */
async function beforeModel(call: ModelCall, next: Next): Promise<void> {
  if (isRefused(call)) return;
  const asked = askBeforeModel(call.config, call.request, call);
  if (!asked) return next();

  const result = await asked;
  const { systemMessage } = result;
  if (result.blocked) {
    refuse(call, result);
    if (systemMessage) call.contextForModel.push(asSystemNote(systemMessage));
    return;
  }
  if (result.modifiedRequest) call.request = result.modifiedRequest;
  if (systemMessage) call.request = withMessage(call.request, asSystemNote(systemMessage));
  await next();
}

/** A hook that refuses the call may answer in the model's place. */
function refuse(call: ModelCall, result: BeforeModelHookResult): void {
  const { reason = DEFAULT_BLOCK_REASON, decidedBy: hooks, syntheticResponse } = result;
  if (result.stopped) call.stop(reason, { hooks });
  else call.block(reason, { hooks });
  call.suppressDisplay = result.suppressOutput ?? false;
  if (!syntheticResponse) return;
  call.synthetic = true;
  call.response = syntheticResponse;
  if (!call.suppressDisplay) call.stream = streamOf(syntheticResponse);
}

/** AfterModel hooks may change or hide the answer, or stop the agent, once all of it has arrived. */
async function afterModel(call: ModelCall, next: Next): Promise<void> {
  await next();
  if (call.stream && hasHooks(call.config, HookEventName.AfterModel)) {
    call.stream = throughAfterModel(call, call.stream);
  }
}

/** The operation itself. It is not begun after an abort, as above. */
async function openStream(call: ModelCall, next: Next): Promise<void> {
  if (isRefused(call)) return;
  call.signal?.throwIfAborted();
  takeStream(call, await call.open(call.request));
  await next();
}

/** The stages of the model stack, by name. */
export const modelStages = { beforeToolSelection, beforeModel, afterModel, openStream };

async function* throughAfterModel(
  call: ModelCall,
  chunks: AsyncIterable<GenerateContentResponse>,
): AsyncGenerator<GenerateContentResponse> {
  const isHeld = call.config.getAfterModelDisplay() === 'hold';
  const seen: GenerateContentResponse[] = [];
  for await (const chunk of chunks) {
    if (isDropped(call)) return;
    seen.push(chunk);
    if (!isHeld) yield chunk;
  }
  if (isDropped(call)) return;
  const response = collectResponse(seen);
  applyAfterModel(call, await askAfterModel(call.config, call.request, response, call));
  // Hooks that the abort ended have not seen the answer, so nobody else may see it as if they had.
  call.signal?.throwIfAborted();
  if (isHeld && !call.suppressDisplay && !isDropped(call)) yield call.response ?? response;
}

/** Whether somebody has blocked the call while its answer came. */
function isDropped({ stream }: ModelCall): boolean {
  return stream === undefined;
}

function applyAfterModel(call: ModelCall, result: AfterModelHookResult | undefined): void {
  if (!result || isDropped(call)) return;
  const { stopReason = DEFAULT_STOP_REASON, decidedBy: hooks } = result;
  call.response = result.response;
  call.suppressDisplay ||= result.suppressOutput ?? false;
  if (result.stopped && !isRefused(call)) call.stop(stopReason, { hooks });
  if (result.systemMessage) call.contextForModel.push(asSystemNote(result.systemMessage));
}

async function* streamOf(
  response: GenerateContentResponse,
): AsyncGenerator<GenerateContentResponse> {
  yield response;
}

function fenced(text: string | undefined): string | undefined {
  return text && asHookContext(text);
}

function notesOf({ systemMessage }: ProcessedHookResult): string[] {
  return systemMessage === undefined ? [] : [asSystemNote(systemMessage)];
}
