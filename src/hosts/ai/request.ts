import type { Content, GenerateContentParameters, Part } from '@google/genai';
import { toContents } from '../../protocol/messages.js';
import { isRecord } from '../../util/records.js';
import { allowedNames } from '../../protocol/allowedTools.js';
import { isChoiceChanged } from '../allowed.js';
import { carrying, choiceIn, originOf, toParameters, toSampling } from '../translate.js';
import type { EndedCall } from '../batch.js';
import { partsOf } from './memory.js';
import type { AnyPart, CallParams, PromptMessage } from './types.js';

/** Settings with the same names on both sides, which hooks may change. */
const SAMPLING = {
  temperature: 'temperature',
  maxOutputTokens: 'maxOutputTokens',
  topP: 'topP',
  topK: 'topK',
  stopSequences: 'stopSequences',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
} as const;

/** A call with further messages of the user. */
export function withMessages(params: CallParams, texts: readonly string[]): CallParams {
  if (texts.length === 0) return params;
  const messages = texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] }));
  return { ...params, prompt: [...params.prompt, ...messages] };
}

/** The calls whose results are the last that the model is sent. */
export function endedCallsIn(prompt: readonly PromptMessage[]): EndedCall[] {
  const first = prompt.findLastIndex(({ role }) => role !== 'tool') + 1;
  const results = prompt.slice(first).flatMap(partsOf);
  return results.flatMap(({ type, toolCallId: id, toolName, output }): EndedCall[] => {
    if (type !== 'tool-result') return [];
    const isCall = (part: AnyPart) => part.type === 'tool-call' && part.toolCallId === id;
    const message = prompt.slice(0, first).findLast((each) => partsOf(each).some(isCall));
    const input = message && partsOf(message).find(isCall)?.input;
    const { type: kind, value, reason } = isRecord(output) ? output : {};
    return [
      {
        name: String(toolName),
        input: isRecord(input) ? input : { input },
        output: value ?? reason ?? output,
        hasFailed: /^(?:error|execution-denied)/.test(String(kind)),
        id: String(id),
      },
    ];
  });
}

/** What hooks and middleware see of a call. */
export function toRequest(model: string, params: CallParams): GenerateContentParameters {
  const { prompt, tools, toolChoice } = params;
  const instructions = prompt.flatMap(({ role, content }) =>
    role === 'system' && typeof content === 'string' ? content : [],
  );
  return toParameters({
    model,
    contents: prompt.map(toContent),
    system: instructions.join('\n'),
    tools: tools?.map(({ inputSchema, ...tool }) => ({ ...tool, parameters: inputSchema })),
    choice: toolChoice?.type,
    chosenTool: toolChoice?.toolName,
    sampling: { names: SAMPLING, values: params },
  });
}

function toContent(message: PromptMessage): Content {
  const { role, content } = message;
  // The system instruction has a place of its own; here it only keeps its position.
  const parts = typeof content === 'string' ? [] : content.map(toPart);
  return carrying({ role: role === 'assistant' ? 'model' : 'user', parts }, message);
}

function toPart(part: AnyPart): Part {
  const isText = part.type === 'text' && typeof part.text === 'string';
  return carrying(isText ? { text: part.text } : {}, part);
}

/** What the model is called with, after hooks and middleware. What they left alone is what the host gave. */
export function toParams(
  request: GenerateContentParameters,
  original: GenerateContentParameters,
  params: CallParams,
): CallParams {
  if (request === original) return params;
  return {
    ...params,
    ...toSampling(SAMPLING, original, request),
    prompt: toPrompt(request, original),
    ...(isChoiceChanged(original, request) && toToolParams(request, params)),
  };
}

function toPrompt(
  { contents, config }: GenerateContentParameters,
  original: GenerateContentParameters,
) {
  const instruction = config?.systemInstruction;
  const isSame = instruction === original.config?.systemInstruction;
  const messages = toContents(contents).flatMap((content) => toMessages(content, isSame));
  if (isSame || typeof instruction !== 'string' || instruction === '') return messages;
  return [{ role: 'system', content: instruction }, ...messages];
}

function toMessages(content: Content, withSystem: boolean): PromptMessage[] {
  const origin = originOf(content) as PromptMessage | undefined;
  if (origin && typeof origin.content === 'string') return withSystem ? [origin] : [];
  const parts = (content.parts ?? []).flatMap(toPromptPart);
  if (parts.length === 0) return [];
  const wasModel = origin?.role === 'assistant';
  const isModel = content.role === 'model';
  const role = origin && wasModel === isModel ? origin.role : isModel ? 'assistant' : 'user';
  return [{ ...origin, role, content: parts }];
}

function toPromptPart(part: Part): AnyPart[] {
  const origin = originOf(part) as AnyPart | undefined;
  if (!origin) return part.text ? [{ type: 'text', text: part.text }] : [];
  if (part.text === undefined || part.text === origin.text) return [origin];
  return part.text === '' ? [] : [{ ...origin, text: part.text }];
}

function toToolParams(
  request: GenerateContentParameters,
  { tools }: CallParams,
): Pick<CallParams, 'tools' | 'toolChoice'> {
  const allowed = allowedNames(request);
  const offered = allowed ? tools?.filter(({ name }) => allowed.includes(name)) : tools;
  // Models refuse a choice of tools without tools, so these stay where none of them may be called.
  if (!offered || offered.length === 0) return { tools, toolChoice: tools && { type: 'none' } };
  return {
    tools: offered,
    toolChoice: { type: choiceIn(request) === 'required' ? 'required' : 'auto' },
  };
}
