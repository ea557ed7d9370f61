import type { ContentListUnion, GenerateContentResponse } from '@google/genai';
import { optional, refine, type } from 'superstruct';
import {
  anyObject,
  describe,
  expecting,
  formatPath,
  listOfText,
  oneOf,
  shapeOf,
  text,
  type AnyCheck,
  type Check,
  type JsonSchema,
} from '../util/checks.js';
import { isGiven, isRecord } from '../util/records.js';
import { answerText } from './response.js';

/** One text message of a request, as hooks see it. */
export interface LLMMessage {
  role: 'user' | 'model' | 'system';
  content: string;
}

/** Which tools the model may call. */
export interface HookToolConfig {
  mode?: 'AUTO' | 'ANY' | 'NONE';
  allowedFunctionNames?: string[];
}

/** The generation settings that hooks see and may set. */
export interface LLMConfig {
  temperature?: number;
  maxOutputTokens?: number;
  topP?: number;
  topK?: number;
  stopSequences?: string[];
  candidateCount?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
}

/** A model request in the format that hooks read and write, whatever the SDK's version. */
export interface LLMRequest {
  model: string;
  /** Messages that have text; messages of function calls, images and the like are left out. */
  messages: LLMMessage[];
  config?: LLMConfig;
  toolConfig?: HookToolConfig;
  /** The functions that the model may call, for hooks to read: what they answer here changes nothing. */
  tools?: LLMTool[];
  /** The texts of the system instruction, one after the other; also for hooks to read only. */
  systemInstruction?: string;
}

/** What a hook sees of a tool of a request. */
export interface LLMTool {
  name: string;
  description?: string;
}

/** One candidate of a response. `parts` are its texts. */
export interface LLMCandidate {
  content: { role: 'model'; parts: string[] };
  finishReason?: string;
  index?: number;
  safetyRatings?: { category: string; probability: string }[];
}

/** A model response in the format that hooks read and write. */
export interface LLMResponse {
  /** The whole text of the first candidate. */
  text?: string;
  candidates: LLMCandidate[];
  usageMetadata?: {
    promptTokenCount?: number;
    candidatesTokenCount?: number;
    totalTokenCount?: number;
  };
}

const contents = expecting<ContentListUnion>(
  'text, a content, or a list of contents',
  (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
);

/** A request as the SDK has it. */
export const sdkRequest = type({ model: text, contents, config: optional(anyObject) });

const sdkCandidates = expecting<GenerateContentResponse['candidates']>(
  'an array of candidates of the SDK, whose parts are objects such as { text }',
  (value) => Array.isArray(value) && value.every(isSdkCandidate),
  {},
  (value) => `got ${Array.isArray(value) ? 'others' : describe(value)}`,
);

/**
 * A response as the SDK has it. What hooks have as texts would be left out of what they read, and guards would look past
 * it.
 */
export const sdkResponse = refine(
  type({ candidates: optional(sdkCandidates) }),
  'SDK response',
  (response: {
    readonly candidates?: GenerateContentResponse['candidates'];
    readonly text?: unknown;
  }) =>
    !Object.hasOwn(response, 'text') ||
    !response.text ||
    answerText(response) !== '' ||
    'expected a response of the SDK, got a text that is in no candidate',
);

function isSdkCandidate(candidate: unknown): boolean {
  if (!isRecord(candidate)) return !isGiven(candidate);
  const { content } = candidate;
  if (!isRecord(content)) return !isGiven(content);
  const { parts } = content;
  if (!Array.isArray(parts)) return !isGiven(parts);
  return parts.every((part) => isRecord(part) || !isGiven(part));
}

/** A list of objects that `accepts`. */
function listOf<T extends object>(
  what: string,
  accepts: (value: Record<string, unknown>) => boolean = () => true,
  schema: JsonSchema = {},
): Check<T[]> {
  return expecting<T[]>(
    `a list of ${what}`,
    (value) => Array.isArray(value) && value.every((item) => isRecord(item) && accepts(item)),
    { type: 'array', items: { type: 'object', ...schema } },
  );
}

const number = expecting<number>('a number', Number.isFinite, { type: 'number' });
const role = oneOf<LLMMessage['role']>('user', 'model', 'system');

const messages = listOf<LLMMessage>(
  '{ role: "user" | "model" | "system", content: string }',
  (value) => role.is(value['role']) && text.is(value['content']),
  { properties: { role: role.schema, content: text.schema }, required: ['role', 'content'] },
);

const candidates = listOf<object>('{ content: { parts: [string, …] }, … }', isCandidate, {
  properties: {
    content: { type: 'object', properties: { parts: listOfText.schema } },
    finishReason: text.schema,
    index: number.schema,
    safetyRatings: { type: 'array', items: anyObject.schema },
  },
});

function isCandidate(value: Record<string, unknown>): boolean {
  const { content = {}, finishReason = '', index = 0, safetyRatings = [] } = value;
  const isContent =
    isRecord(content) && (content['parts'] === undefined || listOfText.is(content['parts']));
  const isRated = Array.isArray(safetyRatings) && safetyRatings.every(isRecord);
  return isContent && isRated && text.is(finishReason) && number.is(index);
}

/** The modes that hooks know. */
export const toolMode = oneOf('AUTO', 'ANY', 'NONE');

/** Which tools the model may call, as hooks answer it. */
export const toolConfig = shapeOf<HookToolConfig>({
  mode: toolMode,
  allowedFunctionNames: listOfText,
});

/** The settings of a request that hooks read and may change. */
export const llmConfig = shapeOf<LLMConfig>({
  temperature: number,
  maxOutputTokens: number,
  topP: number,
  topK: number,
  stopSequences: listOfText,
  candidateCount: number,
  presencePenalty: number,
  frequencyPenalty: number,
});

/** A request as hooks read and answer it. An answer has what it changes. */
export const llmRequest = shapeOf<LLMRequest>({
  model: text,
  messages,
  config: llmConfig,
  toolConfig,
  // To read only. A hook may give back all of the request that it was given.
  tools: listOf('objects'),
  systemInstruction: text,
});

/** A response as hooks read and answer it. */
export const llmResponse = shapeOf<LLMResponse>({ text, candidates, usageMetadata: anyObject });

const CHECKS: Readonly<Record<string, AnyCheck>> = {
  llm_request: llmRequest,
  llm_response: llmResponse,
};

/** Which form is missing of the request or the answer in an event, and where; `undefined` where both can be read. */
export function misfitOf(fields: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, check] of Object.entries(CHECKS)) {
    const [error] = name in fields ? check.validate(fields[name]) : [];
    const [failure] = error?.failures() ?? [];
    if (!failure) continue;
    const at = formatPath([name, ...(failure.path as string[])]);
    return `a form of "${name}" that can be read (at ${at}: ${failure.message})`;
  }
  return undefined;
}
