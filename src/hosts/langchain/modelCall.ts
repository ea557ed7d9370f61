import type { Content, FunctionCallingConfig, GenerateContentParameters } from '@google/genai';
// Classes and types are those of the host.
// @ts-ignore
import { AIMessage, SystemMessage, type ModelRequest } from 'langchain';
import type { ModelTurn } from '../../core/modelCall.js';
import { toContents } from '../../protocol/messages.js';
import { namesLeft, type Allowed } from '../allowed.js';
import { markOf, refusalOf } from '../mark.js';
import { addMark } from './marks.js';
import { toContent, toMessages, toModelResponse, withParts, type Message } from './messages.js';

/** What the sampling fields of hooks are called by models of the host. */
const SETTINGS = {
  temperature: 'temperature',
  maxOutputTokens: 'maxTokens',
  topP: 'topP',
  topK: 'topK',
  stopSequences: 'stop',
  candidateCount: 'n',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
} as const;

const CHOICES = { AUTO: 'auto', ANY: 'required', NONE: 'none' } as const;

/** The host's request as hooks read it, with what they have to say to the model at its end. */
export function toModelRequest(
  { model, messages, systemMessage, tools = [], toolChoice }: ModelRequest,
  notes: readonly string[],
): GenerateContentParameters {
  const said = notes.map((text): Content => ({ role: 'user', parts: [{ text }] }));
  const described = (tools as HostTool[]).map(({ name = '', description }) => ({
    name,
    ...(description !== undefined && { description }),
  }));
  const calling = toCalling(toolChoice);
  const system: string = systemMessage?.text ?? '';
  return {
    model: nameOf(model),
    contents: [...(messages as Message[]).map(toContent), ...said],
    config: {
      ...(system !== '' && { systemInstruction: system }),
      ...(described.length > 0 && { tools: [{ functionDeclarations: described }] }),
      ...(calling && { toolConfig: { functionCallingConfig: calling } }),
    },
  };
}

/** Classes of models have it where they like. */
function nameOf(given: object): string {
  const { model, modelName } = given as { readonly model?: unknown; readonly modelName?: unknown };
  const name = model ?? modelName;
  return typeof name === 'string' ? name : '';
}

interface HostTool {
  readonly name?: string;
  readonly description?: string;
}

function toCalling(choice: unknown): FunctionCallingConfig | undefined {
  const mode = Object.keys(CHOICES).find(
    (each) => CHOICES[each as keyof typeof CHOICES] === choice,
  );
  if (mode) return { mode: mode as NonNullable<FunctionCallingConfig['mode']> };
  const name = (choice as { function?: { name?: string } } | undefined)?.function?.name;
  if (name === undefined) return undefined;
  const any = 'ANY' as NonNullable<FunctionCallingConfig['mode']>;
  return { mode: any, allowedFunctionNames: [name] };
}

/** The host's request with what hooks left. */
export function applyRequest(
  request: ModelRequest,
  asked: GenerateContentParameters,
  sent: GenerateContentParameters,
): ModelRequest {
  const { systemInstruction, toolConfig } = sent.config ?? {};
  const settings = changedSettings(asked, sent);
  const isSystemChanged = systemInstruction !== asked.config?.systemInstruction;
  return {
    ...request,
    messages: toMessages(toContents(sent.contents)),
    ...(isSystemChanged && { systemMessage: new SystemMessage(textOf(systemInstruction)) }),
    ...(settings && { modelSettings: { ...request.modelSettings, ...settings } }),
    ...(toolConfig !== asked.config?.toolConfig && restricted(request, asked, sent)),
  };
}

/** Providers know no lists of tools that may be called: the others are not offered. */
function restricted(
  { tools = [] }: ModelRequest,
  asked: GenerateContentParameters,
  sent: GenerateContentParameters,
) {
  const allowed = namesLeft(asked, sent);
  const { mode } = sent.config?.toolConfig?.functionCallingConfig ?? {};
  const offered = tools.filter((tool: HostTool) => !allowed || allowed.includes(tool.name ?? ''));
  const choice = mode && CHOICES[mode as unknown as keyof typeof CHOICES];
  return { tools: offered, toolChoice: offered.length > 0 ? choice : undefined };
}

function changedSettings(asked: GenerateContentParameters, sent: GenerateContentParameters) {
  const changed = Object.entries(SETTINGS).flatMap(([field, name]) => {
    const key = field as keyof typeof SETTINGS;
    const value = sent.config?.[key];
    return value === undefined || value === asked.config?.[key] ? [] : [[name, value] as const];
  });
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

function textOf(instruction: Parameters<typeof toContents>[0] | undefined): string {
  const parts = toContents(instruction ?? []).flatMap((content) => content.parts ?? []);
  return parts.map((part) => part.text ?? '').join('\n');
}

/** What the host goes on with: what the model gave, where hooks have left it. */
export function toAnswer(
  turn: ModelTurn,
  given: { readonly whole: unknown; readonly message: Message } | undefined,
  allowedTools: Allowed | undefined,
): Message {
  const { notes, response } = turn;
  const mark = {
    ...markOf(turn),
    ...(notes.length > 0 && { notes: [...notes] }),
    ...(allowedTools && { allowedTools }),
  };
  const parts = response.candidates?.[0]?.content?.parts ?? [];
  const refusal = refusalOf(turn);
  if (!given || refusal !== undefined) {
    const text = refusal ?? parts.map((part) => part.text ?? '').join('');
    return addMark(new AIMessage(text), mark);
  }
  const before = toModelResponse(given.message).candidates?.[0]?.content?.parts ?? [];
  const isSame =
    parts.length === before.length && parts.every((part, at) => part.text === before[at]?.text);
  if (isSame && Object.keys(mark).length === 0) return given.whole as Message;
  return addMark(isSame ? given.message : withParts(given.message, parts), mark);
}
