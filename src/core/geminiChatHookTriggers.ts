import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import { readOrWarn } from '../../middleware/callerEffects.js';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { fireHook } from '../hooks/fireHook.js';
import {
  readAfterModel,
  readBeforeModel,
  readModelDecision,
  readToolSelection,
  type AfterModelHookResult,
  type BeforeModelHookResult,
  type BeforeToolSelectionHookResult,
} from '../../middleware/modelResults.js';
import { HookEventName } from '../protocol/types.js';

export type {
  AfterModelHookResult,
  BeforeModelHookResult,
  BeforeToolSelectionHookResult,
} from '../../middleware/modelResults.js';

/** Fires BeforeModel. Never rejects; without a decision, `{ blocked: false }`. */
export async function fireBeforeModelHook(
  config: Config,
  llmRequest: GenerateContentParameters,
  options?: CallOptions,
): Promise<BeforeModelHookResult> {
  const fired = await fireHook(config, HookEventName.BeforeModel, { llmRequest }, options);
  if (!fired) return { blocked: false };
  const read = () => readBeforeModel(fired, llmRequest);
  return readOrWarn(HookEventName.BeforeModel, config, read, readModelDecision(fired));
}

/** Fires AfterModel on a complete response. Never rejects; without a change, the same response. */
export async function fireAfterModelHook(
  config: Config,
  llmRequest: GenerateContentParameters,
  llmResponse: GenerateContentResponse,
  options?: CallOptions,
): Promise<AfterModelHookResult> {
  const otherwise = { response: llmResponse };
  const payload = { llmRequest, llmResponse };
  const fired = await fireHook(config, HookEventName.AfterModel, payload, options);
  if (!fired) return otherwise;
  const read = () => readAfterModel(fired, llmResponse);
  return readOrWarn(HookEventName.AfterModel, config, read, otherwise);
}

/** Fires BeforeToolSelection. Never rejects; without a decision, `{}`. */
export async function fireBeforeToolSelectionHook(
  config: Config,
  llmRequest: GenerateContentParameters,
  options?: CallOptions,
): Promise<BeforeToolSelectionHookResult> {
  const fired = await fireHook(config, HookEventName.BeforeToolSelection, { llmRequest }, options);
  if (!fired) return {};
  const read = () => readToolSelection(fired, llmRequest);
  return readOrWarn(HookEventName.BeforeToolSelection, config, read, {});
}
