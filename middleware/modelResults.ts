import type {
  GenerateContentParameters,
  GenerateContentResponse,
  ToolConfig,
  ToolListUnion,
} from '@google/genai';
import {
  AfterModelHookOutput,
  BeforeModelHookOutput,
  type ProcessedHookResult,
} from '../src/protocol/hookOutput.js';
import { applyHookLLMResponse } from '../src/protocol/hookTranslator.js';

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

/** What BeforeModel hooks decided about a request. */
export function readBeforeModel(
  fired: ProcessedHookResult,
  request: GenerateContentParameters,
): BeforeModelHookResult {
  const output = fired.aggregated.finalOutput;
  if (!(output instanceof BeforeModelHookOutput)) return { blocked: false };
  const decision = readModelDecision(fired);
  if (decision.blocked) return { ...decision, syntheticResponse: output.getSyntheticResponse() };
  const changed = output.applyLLMRequestModifications(request);
  const modifiedRequest = changed === request ? undefined : changed;
  return { ...decision, modifiedRequest };
}

/** Whether BeforeModel hooks refuse a request. It counts also where the rest of what they said cannot be read. */
export function readModelDecision(fired: ProcessedHookResult): BeforeModelHookResult {
  const output = fired.aggregated.finalOutput;
  const blocked = fired.shouldStop || output?.isBlockingDecision() === true;
  const reason = blocked ? output?.getEffectiveReason() : undefined;
  return { blocked, ...(blocked && { reason }), ...commonFields(fired) };
}

/** What AfterModel hooks decided about a complete response. */
export function readAfterModel(
  fired: ProcessedHookResult,
  given: GenerateContentResponse,
): AfterModelHookResult {
  const output = fired.aggregated.finalOutput;
  if (!(output instanceof AfterModelHookOutput)) return { response: given };
  const hookResponse = output.getHookResponse();
  const response = hookResponse
    ? applyHookLLMResponse(hookResponse, given)
    : output.getModifiedResponse();
  return { response: response ?? given, ...commonFields(fired) };
}

/** What BeforeToolSelection hooks decided about the tools of a request. */
export function readToolSelection(
  fired: ProcessedHookResult,
  { config }: GenerateContentParameters,
): BeforeToolSelectionHookResult {
  const before = { toolConfig: config?.toolConfig, tools: config?.tools };
  const selection = fired.aggregated.finalOutput?.applyToolConfigModifications(before);
  return { ...(selection !== before && selection), ...commonFields(fired) };
}

function commonFields(fired: ProcessedHookResult): CommonHookResult {
  return {
    ...(fired.shouldStop && { stopped: true, stopReason: fired.stopReason }),
    ...(fired.systemMessage && { systemMessage: fired.systemMessage }),
    ...(fired.suppressOutput && { suppressOutput: true }),
    ...(fired.aggregated.decidedBy && { decidedBy: fired.aggregated.decidedBy }),
  };
}
