import type {
  GenerateContentParameters,
  GenerateContentResponse,
  ToolConfig,
  ToolListUnion,
} from '@google/genai';
import type { Config } from '../config/config.js';
import { fireHook, type FireOptions } from '../hooks/hookEventHandler.js';
import { AfterModelHookOutput, BeforeModelHookOutput } from '../protocol/hookOutput.js';
import { applyHookLLMResponse } from '../protocol/hookTranslator.js';
import type { ProcessedHookResult } from '../protocol/processedResult.js';
import { HookEventName } from '../protocol/types.js';

/** What every model event may say besides its own. */
interface CommonHookResult {
  /** Whether the agent loop must end. */
  stopped?: boolean;
  stopReason?: string;
  /** Text for the model, never for the user. */
  systemMessage?: string;
  suppressOutput?: boolean;
  /** The names of the hooks that gave the verdict, else their commands; absent where none did. */
  decidedBy?: readonly string[];
}

/** What BeforeModel hooks decided. */
export interface BeforeModelHookResult extends CommonHookResult {
  /** The model must not be called: a hook blocked the call, or stopped the agent. */
  blocked: boolean;
  reason?: string;
  /** The answer to use instead of the model's, where a blocking hook gave one. */
  syntheticResponse?: GenerateContentResponse;
  /** The request to send, where a hook changed it. */
  modifiedRequest?: GenerateContentParameters;
}

/** What AfterModel hooks decided. */
export interface AfterModelHookResult extends CommonHookResult {
  /** The response to use: the hooks', or the model's. */
  response: GenerateContentResponse;
}

/** What BeforeToolSelection hooks decided. Absent fields stay as they are in the request. */
export interface BeforeToolSelectionHookResult extends CommonHookResult {
  toolConfig?: ToolConfig;
  tools?: ToolListUnion;
}

/** Fires BeforeModel. Never rejects; without a decision, `{ blocked: false }`. */
export async function fireBeforeModelHook(
  config: Config,
  llmRequest: GenerateContentParameters,
  options?: FireOptions,
): Promise<BeforeModelHookResult> {
  return (await askBeforeModel(config, llmRequest, options)) ?? { blocked: false };
}

/** Fires AfterModel on a complete response. Never rejects; without a change, the same response. */
export async function fireAfterModelHook(
  config: Config,
  llmRequest: GenerateContentParameters,
  llmResponse: GenerateContentResponse,
  options?: FireOptions,
): Promise<AfterModelHookResult> {
  const asked = askAfterModel(config, llmRequest, llmResponse, options);
  return (await asked) ?? { response: llmResponse };
}

/** Fires BeforeToolSelection. Never rejects; without a decision, `{}`. */
export async function fireBeforeToolSelectionHook(
  config: Config,
  llmRequest: GenerateContentParameters,
  options?: FireOptions,
): Promise<BeforeToolSelectionHookResult> {
  return (await askBeforeToolSelection(config, llmRequest, options)) ?? {};
}

/** As {@link fireBeforeModelHook}, but `undefined`, synchronously, when there is nothing to do. */
export function askBeforeModel(
  config: Config,
  llmRequest: GenerateContentParameters,
  options?: FireOptions,
): Promise<BeforeModelHookResult> | undefined {
  const firing = fireHook(config, HookEventName.BeforeModel, { llmRequest }, options);
  return interpret(config, HookEventName.BeforeModel, firing, { blocked: false }, (fired) => {
    const output = fired.aggregated.finalOutput;
    if (!(output instanceof BeforeModelHookOutput)) return { blocked: false };
    if (fired.shouldStop || output.isBlockingDecision()) {
      return {
        blocked: true,
        reason: output.getEffectiveReason(),
        syntheticResponse: output.getSyntheticResponse(),
        ...commonFields(fired),
      };
    }
    const request = output.applyLLMRequestModifications(llmRequest);
    const modifiedRequest = request === llmRequest ? undefined : request;
    return { blocked: false, modifiedRequest, ...commonFields(fired) };
  });
}

/** As {@link fireAfterModelHook}, but `undefined`, synchronously, when there is nothing to do. */
export function askAfterModel(
  config: Config,
  llmRequest: GenerateContentParameters,
  llmResponse: GenerateContentResponse,
  options?: FireOptions,
): Promise<AfterModelHookResult> | undefined {
  const payload = { llmRequest, llmResponse };
  const firing = fireHook(config, HookEventName.AfterModel, payload, options);
  const unchanged = { response: llmResponse };
  return interpret(config, HookEventName.AfterModel, firing, unchanged, (fired) => {
    const output = fired.aggregated.finalOutput;
    if (!(output instanceof AfterModelHookOutput)) return unchanged;
    const hookResponse = output.getHookResponse();
    const response = hookResponse
      ? applyHookLLMResponse(hookResponse, llmResponse)
      : output.getModifiedResponse();
    return { response: response ?? llmResponse, ...commonFields(fired) };
  });
}

/** As {@link fireBeforeToolSelectionHook}, but `undefined`, synchronously, when there is nothing to do. */
export function askBeforeToolSelection(
  config: Config,
  llmRequest: GenerateContentParameters,
  options?: FireOptions,
): Promise<BeforeToolSelectionHookResult> | undefined {
  const firing = fireHook(config, HookEventName.BeforeToolSelection, { llmRequest }, options);
  return interpret(config, HookEventName.BeforeToolSelection, firing, {}, (fired) => {
    const { toolConfig, tools } = llmRequest.config ?? {};
    const before = { toolConfig, tools };
    const selection = fired.aggregated.finalOutput?.applyToolConfigModifications(before);
    const changes = selection && selection !== before ? selection : {};
    return { ...changes, ...commonFields(fired) };
  });
}

/** Reads what hooks said. What cannot be read must not harm the operation: it goes on as if nothing was said. */
function interpret<R>(
  config: Config,
  event: HookEventName,
  firing: Promise<ProcessedHookResult> | undefined,
  fallback: R,
  read: (fired: ProcessedHookResult) => R,
): Promise<R> | undefined {
  return firing?.then(read).catch((error: unknown) => {
    config
      .getDebugLogger()
      .warn(`${event}: what the hooks said could not be applied and is ignored`, { error });
    return fallback;
  });
}

function commonFields(fired: ProcessedHookResult): CommonHookResult {
  return {
    ...(fired.shouldStop && { stopped: true, stopReason: fired.stopReason }),
    ...(fired.systemMessage && { systemMessage: fired.systemMessage }),
    ...(fired.suppressOutput && { suppressOutput: true }),
    ...(fired.aggregated.decidedBy && { decidedBy: fired.aggregated.decidedBy }),
  };
}
