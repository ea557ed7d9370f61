import type {
  Content,
  GenerateContentConfig,
  GenerateContentParameters,
  Part,
} from '@google/genai';
import { toContents } from '../../protocol/messages.js';
import { allowedNames } from '../../protocol/allowedTools.js';
import type { AnyPart, CallParams, PromptMessage } from './types.js';

/** Where contents and parts carry what they were made of. */
const ORIGIN: unique symbol = Symbol('hookstack/ai origin');

interface FromHost<T> {
  [ORIGIN]?: T;
}

/** A part that carries one of the host's. */
export function carrying(part: Part, origin: AnyPart): Part {
  return Object.assign(part, { [ORIGIN]: origin });
}

export function originOf(part: Part): AnyPart | undefined {
  return (part as FromHost<AnyPart>)[ORIGIN];
}

/** Settings with the same names on both sides, which hooks may change. */
const SETTINGS = [
  'temperature',
  'maxOutputTokens',
  'topP',
  'topK',
  'stopSequences',
  'presencePenalty',
  'frequencyPenalty',
] as const;

const MODES: Readonly<Record<string, string>> = {
  auto: 'AUTO',
  none: 'NONE',
  required: 'ANY',
  tool: 'ANY',
};

/** A call with further messages of the user. */
export function withMessages(params: CallParams, texts: readonly string[]): CallParams {
  if (texts.length === 0) return params;
  const messages = texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] }));
  return { ...params, prompt: [...params.prompt, ...messages] };
}

/** What hooks and middleware see of a call. */
export function toRequest(model: string, params: CallParams): GenerateContentParameters {
  const settings = Object.fromEntries(
    SETTINGS.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])),
  ) as GenerateContentConfig;
  const instructions = params.prompt.flatMap(({ role, content }) =>
    role === 'system' && typeof content === 'string' ? content : [],
  );
  const { tools, toolChoice } = params;
  const declarations = tools?.map(({ name, description, inputSchema }) => ({
    name,
    ...(description !== undefined && { description }),
    ...(inputSchema !== undefined && { parametersJsonSchema: inputSchema }),
  }));
  const config = {
    ...settings,
    ...(instructions.length > 0 && { systemInstruction: instructions.join('\n') }),
    ...(declarations && { tools: [{ functionDeclarations: declarations }] }),
    ...(toolChoice && { toolConfig: { functionCallingConfig: toCallingConfig(toolChoice) } }),
  } as GenerateContentConfig;
  return { model, contents: params.prompt.map(toContent), config };
}

function toCallingConfig({ type, toolName }: NonNullable<CallParams['toolChoice']>) {
  return { mode: MODES[type], ...(toolName !== undefined && { allowedFunctionNames: [toolName] }) };
}

function toContent(message: PromptMessage): Content {
  const { role, content } = message;
  // The system instruction has a place of its own; here it only keeps its position.
  const parts = typeof content === 'string' ? [] : content.map(toPart);
  return Object.assign(
    { role: role === 'assistant' ? 'model' : 'user', parts },
    { [ORIGIN]: message },
  );
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
  const { config = {} } = request;
  const settings = SETTINGS.map((name) => [name, config[name]]);
  return {
    ...params,
    ...Object.fromEntries(settings),
    prompt: toPrompt(request, original),
    ...(config.toolConfig !== original.config?.toolConfig && toToolParams(request, params)),
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
  const origin = (content as FromHost<PromptMessage>)[ORIGIN];
  if (origin && typeof origin.content === 'string') return withSystem ? [origin] : [];
  const parts = (content.parts ?? []).flatMap(toPromptPart);
  if (parts.length === 0) return [];
  const wasModel = origin?.role === 'assistant';
  const isModel = content.role === 'model';
  const role = origin && wasModel === isModel ? origin.role : isModel ? 'assistant' : 'user';
  return [{ ...origin, role, content: parts }];
}

function toPromptPart(part: Part): AnyPart[] {
  const origin = originOf(part);
  if (!origin) return part.text ? [{ type: 'text', text: part.text }] : [];
  if (part.text === undefined || part.text === origin.text) return [origin];
  return part.text === '' ? [] : [{ ...origin, text: part.text }];
}

function toToolParams(
  request: GenerateContentParameters,
  { tools }: CallParams,
): Pick<CallParams, 'tools' | 'toolChoice'> {
  const mode = request.config?.toolConfig?.functionCallingConfig?.mode;
  const allowed = allowedNames(request);
  const offered = allowed ? tools?.filter(({ name }) => allowed.includes(name)) : tools;
  // Models refuse a choice of tools without tools, so these stay where none of them may be called.
  if (!offered || offered.length === 0) return { tools, toolChoice: tools && { type: 'none' } };
  return { tools: offered, toolChoice: { type: mode === 'ANY' ? 'required' : 'auto' } };
}
