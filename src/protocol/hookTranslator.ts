import type {
  Candidate,
  FunctionDeclaration,
  GenerateContentConfig,
  GenerateContentParameters,
  GenerateContentResponse,
  ToolConfig,
} from '@google/genai';
import { isDeepStrictEqual } from 'node:util';
import { createResponse } from './response.js';
import { isRecord, mergeModelData } from '../util/records.js';
import {
  llmConfig,
  toolMode,
  type HookToolConfig,
  type LLMCandidate,
  type LLMConfig,
  type LLMRequest,
  type LLMResponse,
  type LLMTool,
} from './modelChecks.js';
import { answerTexts, applyMessages, replaceTexts, toContents, toMessage } from './messages.js';

export type * from './modelChecks.js';

const CONFIG_FIELDS = Object.keys(llmConfig.schema) as (keyof LLMConfig)[];

const USAGE_FIELDS = ['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount'] as const;

/** Translates between `@google/genai`'s types and the stable format of hooks. Text only, in both directions. */
export class HookTranslatorGenAIv1 {
  /** What a hook sees of a request. Messages without text are left out. */
  toHookLLMRequest(request: GenerateContentParameters): LLMRequest {
    const messages = toContents(request.contents).flatMap((content) => toMessage(content) ?? []);
    const config = pickDefined(request.config, CONFIG_FIELDS);
    const toolConfig =
      request.config?.toolConfig && this.toHookToolConfig(request.config.toolConfig);
    return {
      model: request.model,
      messages,
      ...(Object.keys(config).length > 0 && { config }),
      ...(toolConfig && { toolConfig }),
      ...toReadOnly(request.config),
    };
  }

  /**
   * The request to send after a hook changed it.
   *
   * @param hookRequest what the hook returned; fields that it left out stay as they are
   * @param baseRequest the request that the hook was given. Everything that hooks cannot see is kept: tools,
   *   system instruction, the rest of the config. Text messages are matched by position, so that other parts
   *   stay where they were; surplus messages are appended, and missing ones are dropped from the end.
   */
  fromHookLLMRequest(
    hookRequest: Partial<LLMRequest>,
    baseRequest?: GenerateContentParameters,
  ): GenerateContentParameters {
    const { messages } = hookRequest;
    const { model = '', contents = [] } = baseRequest ?? {};
    const config = applyConfig(hookRequest, baseRequest?.config);
    return {
      ...baseRequest,
      model: hookRequest.model ?? model,
      contents: messages ? applyMessages(messages, contents) : contents,
      ...(config && { config }),
    };
  }

  /** What a hook sees of a response: texts, without the parts that the model marked as thoughts. */
  toHookLLMResponse(response: GenerateContentResponse): LLMResponse {
    const candidates = (response.candidates ?? []).map((candidate, position) =>
      toHookCandidate(candidate ?? {}, position),
    );
    const text = candidates[0]?.content.parts.join('');
    const usageMetadata = pickDefined(response.usageMetadata, USAGE_FIELDS);
    return {
      ...(text && { text }),
      candidates,
      ...(Object.keys(usageMetadata).length > 0 && { usageMetadata }),
    };
  }

  /**
   * The response that a hook describes, from its texts alone. To keep what a response carried besides text,
   * see {@link applyHookLLMResponse}.
   */
  fromHookLLMResponse(hookResponse: Partial<LLMResponse>): GenerateContentResponse {
    const { text, usageMetadata } = hookResponse;
    const candidates: Partial<LLMCandidate>[] = hookResponse.candidates ?? [];
    const isSaid = text === undefined || candidates[0]?.content?.parts !== undefined;
    const described = isSaid ? candidates : withText(candidates, text);
    return createResponse({
      candidates: described.map((candidate, position) => ({
        ...fromHookCandidate(candidate, position),
        content: {
          role: 'model',
          // The API refuses a part with an empty text. A host may have given parts that are none.
          parts: (candidate.content?.parts ?? []).flatMap((part: unknown) =>
            typeof part === 'string' && part !== '' ? { text: part } : [],
          ),
        },
      })),
      ...(usageMetadata && { usageMetadata: { ...usageMetadata } }),
    });
  }

  /** The SDK's tool configuration as hooks see it. A mode that hooks cannot set is left out. */
  toHookToolConfig(toolConfig: ToolConfig): HookToolConfig {
    const { mode: given, allowedFunctionNames } = toolConfig.functionCallingConfig ?? {};
    return {
      ...(toolMode.is(given) && { mode: given }),
      ...(Array.isArray(allowedFunctionNames) && {
        allowedFunctionNames: [...allowedFunctionNames],
      }),
    };
  }

  /**
   * The SDK's tool configuration after a hook changed it.
   *
   * @param baseConfig what was configured before; fields that the hook left out are kept
   */
  fromHookToolConfig(hookConfig: HookToolConfig, baseConfig?: ToolConfig): ToolConfig {
    type CallingConfig = NonNullable<ToolConfig['functionCallingConfig']>;
    const { mode, allowedFunctionNames } = hookConfig;
    const functionCallingConfig: CallingConfig = {
      ...baseConfig?.functionCallingConfig,
      ...(mode && { mode: mode as CallingConfig['mode'] }),
      ...(allowedFunctionNames && { allowedFunctionNames: [...allowedFunctionNames] }),
    };
    const isEmpty = Object.keys(functionCallingConfig).length === 0;
    return { ...baseConfig, ...(!isEmpty && { functionCallingConfig }) };
  }
}

/** The translator that the hook system uses. */
export const defaultHookTranslator = new HookTranslatorGenAIv1();

/**
 * Applies the response that a hook returned to the one that it was given, so that function calls, images and
 * thoughts stay where they were. Where the hook changed only the convenience field `text`, that change counts. A
 * hook that left no candidate has dropped the whole answer; what it gave as `text` is all that there is then.
 */
export function applyHookLLMResponse(
  hookResponse: Partial<LLMResponse>,
  original: GenerateContentResponse,
): GenerateContentResponse {
  const { candidates: given = [], ...rest } = original;
  const base = hookResponse.candidates?.length === 0 ? [] : given;
  const sent = defaultHookTranslator.toHookLLMResponse(createResponse({ candidates: base }));
  const candidates = changedCandidates(hookResponse, sent);
  const changed = {
    ...rest,
    candidates: candidates.map((candidate, position) => {
      const before = base[position];
      // What hooks see of ratings is simplified, and must not replace the originals.
      if (before && isDeepStrictEqual(candidate, sent.candidates[position])) return before;
      const texts = candidate.content?.parts ?? sent.candidates[position]?.content.parts ?? [];
      return {
        ...before,
        ...fromHookCandidate(candidate, position),
        content: {
          ...before?.content,
          role: 'model',
          parts: replaceTexts(before?.content?.parts ?? [], texts),
        },
      };
    }),
    ...(hookResponse.usageMetadata && {
      usageMetadata: Object.assign({}, original.usageMetadata, hookResponse.usageMetadata),
    }),
  };
  return createResponse(changed, [original]);
}

function changedCandidates(
  hookResponse: Partial<LLMResponse>,
  sent: LLMResponse,
): Partial<LLMCandidate>[] {
  const candidates: Partial<LLMCandidate>[] = hookResponse.candidates ?? sent.candidates;
  const { text } = hookResponse;
  if (text === undefined || text === (sent.text ?? '')) return candidates;
  const sentText = sent.candidates[0]?.content.parts.join('');
  const answered = candidates[0]?.content?.parts?.join('') ?? sentText;
  if (answered !== sentText) return candidates;
  return withText(candidates, text);
}

type Described = Partial<Omit<LLMResponse, 'candidates'>> & {
  readonly candidates?: readonly Partial<LLMCandidate>[];
};

/**
 * Merges what two hooks said about a response, the later one's word over the earlier one's. `text` and `candidates` are
 * two ways to say the same: whichever the later one used, it counts. What it left out stays as the earlier one had it.
 */
export function mergeHookResponses(
  first: Readonly<Record<string, unknown>>,
  second: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = mergeModelData(first, second);
  // What hooks write into llm_response was checked when it was read.
  const { candidates: earlier = [] }: Described = first;
  const { candidates: later, text }: Described = second;
  if (later) {
    merged['candidates'] = later.map((candidate, position) => ({
      ...candidate,
      content: { ...earlier[position]?.content, ...candidate.content },
    }));
    if (text === undefined && (!later[0] || later[0].content?.parts)) delete merged['text'];
  } else if (text !== undefined && earlier.length > 0) {
    merged['candidates'] = withText(earlier, text);
  }
  return merged;
}

/** The first of them consists of the text then. */
function withText([first, ...others]: readonly Partial<LLMCandidate>[], text: string) {
  return [{ ...first, content: { role: 'model' as const, parts: [text] } }, ...others];
}

function toHookCandidate(candidate: Candidate, position: number): LLMCandidate {
  return {
    content: { role: 'model', parts: answerTexts(candidate.content) },
    ...(candidate.finishReason && { finishReason: candidate.finishReason }),
    index: candidate.index ?? position,
    ...(Array.isArray(candidate.safetyRatings) && {
      safetyRatings: candidate.safetyRatings.map((rating) => ({
        category: rating?.category ?? '',
        probability: rating?.probability ?? '',
      })),
    }),
  };
}

function fromHookCandidate(candidate: Partial<LLMCandidate>, position: number): Candidate {
  return {
    index: candidate.index ?? position,
    ...(candidate.finishReason && {
      finishReason: candidate.finishReason as NonNullable<Candidate['finishReason']>,
    }),
    ...(candidate.safetyRatings && {
      safetyRatings: candidate.safetyRatings as NonNullable<Candidate['safetyRatings']>,
    }),
  };
}

/** What a host hands in may be anything, whatever its type says: what is none of it is for the SDK to refuse. */
function toReadOnly(config: GenerateContentConfig | undefined) {
  const { tools, systemInstruction } = config ?? {};
  const declared = (Array.isArray(tools) ? tools : []).flatMap((tool) =>
    isRecord(tool) && Array.isArray(tool['functionDeclarations'])
      ? (tool['functionDeclarations'] as FunctionDeclaration[])
      : [],
  );
  const described = declared.map((each) => pickDefined(each ?? {}, ['name', 'description']));
  const contents = systemInstruction === undefined ? [] : toContents(systemInstruction);
  const parts = contents.flatMap((content) => content?.parts ?? []);
  const texts = parts.flatMap((part) => (typeof part?.text === 'string' ? part.text : []));
  return {
    ...(described.length > 0 && { tools: described as LLMTool[] }),
    ...(texts.length > 0 && { systemInstruction: texts.join('\n') }),
  };
}

function applyConfig(
  hookRequest: Partial<LLMRequest>,
  base: GenerateContentConfig | undefined,
): GenerateContentConfig | undefined {
  const changes: GenerateContentConfig = pickDefined(hookRequest.config, CONFIG_FIELDS);
  if (hookRequest.toolConfig) {
    changes.toolConfig = defaultHookTranslator.fromHookToolConfig(
      hookRequest.toolConfig,
      base?.toolConfig,
    );
  }
  return Object.keys(changes).length > 0 ? { ...base, ...changes } : base;
}

function pickDefined<T extends object, K extends keyof T>(
  value: T | undefined,
  keys: readonly K[],
): Pick<Partial<T>, K> {
  const entries = keys.map((key) => [key, value?.[key]] as const);
  return Object.fromEntries(
    entries.filter(([, field]) => field !== undefined && field !== null),
  ) as Pick<Partial<T>, K>;
}
