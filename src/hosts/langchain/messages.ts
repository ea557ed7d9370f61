import type { Content, GenerateContentResponse, Part } from '@google/genai';
// Classes and types are those of the host.
// @ts-ignore
import { AIMessage, HumanMessage, type BaseMessage } from 'langchain';
import { isRecord } from '../../util/records.js';
import type { Allowed } from '../allowed.js';
import type { Both, HooksMark, Maybe } from '../mark.js';
import { carrying, originOf, textIn, toResponse } from '../translate.js';

/** What only some messages have. */
export type Message = Both<BaseMessage, MessageFields>;

interface MessageFields {
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly HostCall[];
  readonly usage_metadata?: {
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly total_tokens?: number;
  };
}

/** What parts carry: a block of a content, or a call. */
interface Origin {
  readonly block?: unknown;
  readonly call?: HostCall;
}

/** What messages were made into: all but the last of a conversation are sent again with every call. */
const known = new WeakMap<object, { readonly of: unknown; readonly content: Content }>();

/** A message as a content that carries it. The same one for the same message. */
export function toContent(message: Message): Content {
  const before = known.get(message);
  if (before && before.of === message.content) return before.content;
  const role = message.type === 'ai' ? 'model' : 'user';
  const content = carrying<Content>({ role, parts: partsOf(message) }, message);
  known.set(message, { of: message.content, content });
  return content;
}

function partsOf(message: Message): Part[] {
  if (message.type === 'tool') {
    // Of requests, hooks read what people and models say.
    const { tool_call_id: id, name, content } = message;
    const output = typeof content === 'string' ? content : [...content];
    return [{ functionResponse: { ...(id && { id }), name: name ?? '', response: { output } } }];
  }
  return [...textParts(message.content), ...callParts(message)];
}

function textParts(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return (Array.isArray(content) ? content : []).map(toPart);
}

/** Parts with more than a text are never put together. */
function toPart(block: unknown): Part {
  const isText = isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string';
  const part = { type: 'block', ...(isText && { text: block['text'] as string }) };
  return carrying(part, { block });
}

function callParts({ tool_calls: calls = [] }: Message): Part[] {
  return calls.map((call: HostCall): Part => {
    const { id, name, args } = call;
    return carrying({ functionCall: { ...(id !== undefined && { id }), name, args } }, { call });
  });
}

/** A call of a tool, as the model's answer carries it. */
export interface HostCall {
  readonly id?: string;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** The messages to send: those that contents carry, where hooks have left them. */
export function toMessages(contents: readonly Content[]): Message[] {
  return contents.map((content) => {
    const { role, parts = [] } = content;
    const message = originOf(content) as Maybe<Message>;
    const before = message && known.get(message)?.content;
    if (message && before === content) return message;
    if (message && before?.role === role) return withParts(message, parts);
    return role === 'model' ? new AIMessage(textIn(parts)) : new HumanMessage(textIn(parts));
  });
}

/** A copy of a message with the texts that hooks left, and without the calls of tools that are gone. */
export function withParts(message: Message, parts: readonly Part[]): Message {
  const isWithheld = message.type === 'ai' && textIn(parts) !== textIn(partsOf(message));
  const content =
    typeof message.content === 'string'
      ? textIn(parts)
      : parts.flatMap(toBlocks).filter((block) => !isWithheld || isWithoutWords(block));
  const calls = parts.flatMap((part) => (originOf(part) as Origin | undefined)?.call ?? []);
  const others = isWithheld ? withoutWords(message) : {};
  return copyWith(message, {
    content,
    ...(message.tool_calls && { tool_calls: calls }),
    ...others,
  });
}

/** Of a model's message whose text hooks have replaced: reasoning and the like would say it all the same. */
function isWithoutWords(block: unknown): boolean {
  const type = isRecord(block) ? String(block['type']) : '';
  return /^(?:text|redacted_thinking)$|image|tool|function/i.test(type);
}

/** Providers repeat in there what the model said, as it said it. The host sends some of it back to the model. */
function withoutWords({ additional_kwargs: kwargs = {}, response_metadata: data = {} }: Message) {
  const kept = Object.entries(kwargs).filter(([key]) => /tool_call|function_call/i.test(key));
  const plain = Object.entries(data).filter(([, value]) => typeof value !== 'object');
  return {
    additional_kwargs: Object.fromEntries(kept),
    response_metadata: Object.fromEntries(plain),
  };
}

/** The blocks of a content, some of which hooks or middleware may have put there. */
export function toBlocks(part: Part): unknown[] {
  const { text } = part;
  const { block, call } = (originOf(part) as Origin | undefined) ?? {};
  if (call) return [];
  if (!isRecord(block)) return [{ type: 'text', text: text ?? JSON.stringify(part) }];
  return [text === undefined || text === block['text'] ? block : { ...block, text }];
}

/** What a tool gives, as hooks read it: texts and other blocks as they are. */
export function toToolContent(content: unknown): string | Part[] {
  if (!Array.isArray(content)) return String(content);
  return content.map((block) => carrying<Part>({ ...(block as object) }, { block }));
}

/** A copy of a message with other fields. Its class may be one of the provider's, so that none can be made here. */
export function copyWith<M extends object>(message: M, fields: Record<string, unknown>): M {
  const copy: M & { lc_kwargs?: object } = copyOf(message);
  return Object.assign(copy, fields, { lc_kwargs: { ...copy.lc_kwargs, ...fields } });
}

/** A copy of an object of the host, of the same class. */
export function copyOf<T extends object>(original: T): T {
  return Object.create(
    Object.getPrototypeOf(original) as object,
    Object.getOwnPropertyDescriptors(original),
  ) as T;
}

/** A complete answer of the model, as hooks read it. */
export function toModelResponse(message: Message): GenerateContentResponse {
  const { usage_metadata: usage } = message;
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage ?? {};
  return toResponse(partsOf(message), usage && { input, output, total });
}

/** What hooks decided, and what the next steps of the agent have to know of it. It is part of what the host stores. */
export interface MessageMark extends HooksMark {
  /** What the model is to read with the next request. */
  readonly notes?: readonly string[];
  /** The only tools whose calls may run. Where hooks may restrict them, calls of an answer without it do not. */
  readonly allowedTools?: Allowed;
  /** Which summary of older messages hooks were told of. */
  readonly summary?: string;
}

/** A copy of a message that carries what hooks decided; without anything to carry, the message. */
export function addMark<M extends BaseMessage>(message: M, hookstack: MessageMark): M {
  if (Object.keys(hookstack).length === 0) return message;
  return copyWith(message, { response_metadata: { ...message.response_metadata, hookstack } });
}

/** What hooks decided about a message. */
export function readMark(message: Maybe<BaseMessage>): MessageMark {
  const metadata: { readonly hookstack?: MessageMark } = message?.response_metadata ?? {};
  return metadata.hookstack ?? {};
}

/** Why the agent is to end: a tool of the last turn has said so. */
export function stopOf(messages: readonly BaseMessage[]): string | undefined {
  const last = messages.findLastIndex(({ type }) => type !== 'tool');
  const marks = messages.slice(last + 1).map(readMark);
  return marks.find(({ stopped }) => stopped !== undefined)?.stopped;
}

/** The model's last answer. */
export function lastAnswer(messages: readonly BaseMessage[]): Maybe<BaseMessage> {
  return messages.findLast(({ type }) => type === 'ai');
}
