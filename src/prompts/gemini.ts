import type { GoogleGenAI, Models } from '@google/genai';
import { answerText } from '../protocol/response.js';
import type { AskModel } from '../protocol/types.js';
import { isLoopback } from '../util/loopback.js';
import { loadOptional } from '../util/optionalPackage.js';
import { hostEnvironment } from '../util/requester.js';
import type { PromptModel } from './promptModel.js';

/** Characters of an answer, at most: a longer one is none. */
const MAX_ANSWER = 64 * 1024;

/**
 * Asks a model of the Gemini SDK, around all hooks.
 *
 * @param model where the question names none
 */
export function askOf(models: Pick<Models, 'generateContentStream'>, model: string): AskModel {
  return async ({ systemInstruction, prompt, maxOutputTokens, signal, ...asked }) => {
    const config = { systemInstruction, maxOutputTokens, abortSignal: signal };
    const stream = await models.generateContentStream({
      model: asked.model ?? model,
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      config: { ...config, responseMimeType: 'application/json' },
    });
    let text = '';
    let tokens: number | undefined;
    for await (const chunk of stream) {
      text += answerText(chunk);
      tokens = chunk.usageMetadata?.totalTokenCount ?? tokens;
      if (text.length > MAX_ANSWER) throw new Error('it wrote more than is read of an answer');
    }
    return { text, ...(tokens !== undefined && { tokens }) };
  };
}

interface Sdk {
  readonly GoogleGenAI: typeof GoogleGenAI;
}

/**
 * The model that settings name.
 *
 * @throws Error that says what is missing: the package, the key, or a safe address
 */
export async function openModel(settings: PromptModel): Promise<AskModel> {
  const { model, baseUrl, apiKeyEnv = 'GEMINI_API_KEY' } = settings;
  const apiKey = hostEnvironment()[apiKeyEnv]?.trim();
  if (!apiKey) throw new Error(`the variable ${apiKeyEnv} with its key is not set`);
  if (baseUrl !== undefined) requireSafe(baseUrl);
  const { GoogleGenAI } = await loadOptional<Sdk>('@google/genai', '"promptModel" needs');
  const httpOptions = { ...(baseUrl !== undefined && { baseUrl }) };
  return askOf(new GoogleGenAI({ apiKey, vertexai: false, httpOptions }).models, model);
}

function requireSafe(text: string): void {
  const { protocol, hostname } = URL.canParse(text)
    ? new URL(text)
    : { protocol: '', hostname: '' };
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return;
  throw new Error('"baseUrl" of "promptModel" has to begin with https://, except on this machine');
}
