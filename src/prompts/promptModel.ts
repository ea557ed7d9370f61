import type { AskModel, PromptBudget } from '../protocol/types.js';
import { nonBlankText, objectOf, positiveCount } from '../util/checks.js';

/** The model that judges where a host has none, or another one is to: of Gemini's API, or of a server that speaks it. */
export interface PromptModel {
  readonly model: string;
  /** `https://…`; without TLS only on this machine. Default: Google's. */
  readonly baseUrl?: string;
  /** The variable of the host with its key. Default `GEMINI_API_KEY`. */
  readonly apiKeyEnv?: string;
}

/** Where it is kept what a session has used of its budget, and what models have answered. */
export type PromptMemory = 'process' | 'files';

/** Which model judges hooks of the type `prompt`, and how much it may. */
export interface JudgeHost {
  /** The host's own model, where it has one by now. */
  getAskModel?(): AskModel | undefined;
  /** The model that settings name, which comes first. */
  getPromptModel?(): PromptModel | undefined;
  /** Default: 200,000 tokens a session, and 30 seconds each. */
  getPromptBudget?(): PromptBudget | undefined;
  /** Where it is kept what sessions have used of that. Default: in this process. */
  getPromptMemory?(): PromptMemory;
}

export const promptModel = objectOf<PromptModel>(
  '{ "model": a name, "baseUrl": an address, "apiKeyEnv": the name of a variable }',
  { model: nonBlankText, baseUrl: nonBlankText, apiKeyEnv: nonBlankText },
  { isClosed: true },
);

export const promptBudget = objectOf<PromptBudget>(
  '{ "tokens": a whole number of 1 or more, "seconds": a whole number of 1 or more }',
  { tokens: positiveCount, seconds: positiveCount },
  { isClosed: true },
);
