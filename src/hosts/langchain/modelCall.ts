import type { GenerateContentParameters } from '@google/genai';
// Classes and types are those of the host.
// @ts-ignore
import { AIMessage, SystemMessage, type ModelRequest } from 'langchain';
import type { ModelTurn } from '../../core/modelCall.js';
import { toContents } from '../../protocol/messages.js';
import { answerParts } from '../../protocol/response.js';
import { isChoiceChanged, namesLeft, type Allowed } from '../allowed.js';
import { markOf, refusalOf } from '../mark.js';
import { choiceIn, textIn, toNotes, toParameters, toSampling } from '../translate.js';
import {
  addMark,
  toContent,
  toMessages,
  toModelResponse,
  withParts,
  type Message,
} from './messages.js';

/** What the sampling fields of hooks are called by models of the host. */
const SAMPLING = {
  temperature: 'temperature',
  maxOutputTokens: 'maxTokens',
  topP: 'topP',
  topK: 'topK',
  stopSequences: 'stop',
  candidateCount: 'n',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
} as const;

/** The host's request as hooks read it, with what they have to say to the model at its end. */
export function toModelRequest(
  { model, messages, systemMessage, tools = [], toolChoice }: ModelRequest,
  notes: readonly string[],
): GenerateContentParameters {
  return toParameters({
    model: nameOf(model),
    contents: [...(messages as Message[]).map(toContent), ...toNotes(notes)],
    system: systemMessage?.text,
    tools: (tools as HostTool[]).map(({ name = '', description }) => ({ name, description })),
    choice: toolChoice,
    chosenTool: (toolChoice as { function?: { name?: string } } | undefined)?.function?.name,
  });
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

/** The host's request with what hooks left. */
export function applyRequest(
  request: ModelRequest,
  asked: GenerateContentParameters,
  sent: GenerateContentParameters,
): ModelRequest {
  const { systemInstruction } = sent.config ?? {};
  const settings = toSampling(SAMPLING, asked, sent);
  const messages = toMessages(toContents(sent.contents));
  const isSame =
    messages.length === request.messages.length &&
    messages.every((each, at) => each === request.messages[at]);
  const isSystemChanged = systemInstruction !== asked.config?.systemInstruction;
  return {
    ...request,
    // Other middleware may change the host's own list in place.
    messages: isSame ? request.messages : messages,
    ...(isSystemChanged && { systemMessage: new SystemMessage(textOf(systemInstruction)) }),
    ...(Object.keys(settings).length > 0 && {
      modelSettings: { ...request.modelSettings, ...settings },
    }),
    ...(isChoiceChanged(asked, sent) && restricted(request, asked, sent)),
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
  const isChosen = mode !== undefined && offered.length > 0;
  return { tools: offered, toolChoice: isChosen ? choiceIn(sent) : undefined };
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
  const parts = answerParts(response);
  const refusal = refusalOf(turn);
  if (!given || refusal !== undefined) {
    return addMark(new AIMessage(refusal ?? textIn(parts)), mark);
  }
  const before = answerParts(toModelResponse(given.message));
  const isSame =
    parts.length === before.length && parts.every((part, at) => part.text === before[at]?.text);
  if (isSame && Object.keys(mark).length === 0) return given.whole as Message;
  return addMark(isSame ? given.message : withParts(given.message, parts), mark);
}
