import { isDeepStrictEqual } from 'node:util';
import type { Content, GenerateContentResponse, Part } from '@google/genai';
import type { Allowed } from '../allowed.js';
import { carrying, originOf, readArguments, textIn, toResponse } from '../translate.js';
import type { Item, ModelUsage, Piece } from './types.js';

/** The items of a request, as contents. */
export function toContents(input: string | readonly Item[]): Content[] {
  const items: readonly Item[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  return items.map((item) => carrying({ role: roleOf(item), parts: toParts(item) }, item));
}

function roleOf({ role, type }: Item): 'user' | 'model' {
  const isFromUser = role === undefined ? type?.endsWith('_result') : role !== 'assistant';
  return isFromUser ? 'user' : 'model';
}

function toParts(item: Item): Part[] {
  const { content, name = '', callId: id = '' } = item;
  if (item.type === 'function_call') {
    return [{ functionCall: { id, name, args: argumentsOf(item) } }];
  }
  if (item.type === 'function_call_result') {
    return [{ functionResponse: { id, name, response: { output: item.output } } }];
  }
  if (!isMessage(item)) return [{}];
  if (typeof content === 'string') return [{ text: content }];
  return (content ?? []).map((piece) => carrying(isText(piece) ? { text: piece.text } : {}, piece));
}

/** The items that contents were made of, with the texts that they have now. */
export function toItems(contents: readonly Content[]): Item[] {
  return contents.map((content) => {
    const item = originOf(content) as Item | undefined;
    const parts = content.parts ?? [];
    if (!item) return message(content.role, textIn(parts));
    return isMessage(item) ? withParts(item, parts) : item;
  });
}

function withParts(item: Item, parts: readonly Part[]): Item {
  if (typeof item.content === 'string') {
    const text = textIn(parts);
    return text === item.content ? item : { ...item, content: text };
  }
  const content = parts.map((part): Piece => {
    const piece = originOf(part) as Piece | undefined;
    if (piece && (part.text === undefined || part.text === piece.text)) return piece;
    const type = item.role === 'assistant' ? 'output_text' : 'input_text';
    return { type, ...piece, text: part.text ?? '' };
  });
  return isDeepStrictEqual(content, item.content) ? item : { ...item, content };
}

/** A message of text. */
export function message(role: string | undefined, text: string): Item {
  if (role !== 'model') return { type: 'message', role: 'user', content: text };
  const content = [{ type: 'output_text', text }];
  // What the host checks of a message of the model.
  return { type: 'message', role: 'assistant', status: 'completed', content } as Item;
}

/** What the model gave, as hooks and middleware read it. `text` is all that it said. */
export function toResponseOf(
  output: readonly Item[],
  text: string,
  usage?: ModelUsage,
): GenerateContentResponse {
  const calls = output.filter(({ type }) => type === 'function_call').flatMap(toParts);
  const { inputTokens: input, outputTokens: given, totalTokens: total } = usage ?? {};
  const parts = [...(text === '' ? [] : [{ text }]), ...calls];
  return toResponse(parts, usage && { input, output: given, total });
}

/** All that the model said. */
export function textOf(output: readonly Item[]): string {
  return output
    .filter(isMessage)
    .flatMap(({ content }) => (typeof content === 'object' ? content.filter(isText) : []))
    .map(({ text }) => text)
    .join('');
}

/** What somebody has said. */
export function isMessage({ type, role }: Item): boolean {
  return role !== undefined && (type === undefined || type === 'message');
}

function isText(piece: Piece): piece is Piece & { readonly text: string } {
  return typeof piece.text === 'string' && /^(?:in|out)put_text$/.test(piece.type ?? '');
}

/** Of a call whose arguments cannot be read, there are none: the host itself refuses it. */
export function argumentsOf({ arguments: given = '' }: Item): Record<string, unknown> {
  return readArguments(given) ?? {};
}

/** Items whose calls of tools carry which tools their answer may call, through what the host stores. */
export function withAllowed(items: readonly Item[], allowedTools: Allowed | undefined): Item[] {
  return items.map((item) => {
    if (!allowedTools || item.type !== 'function_call') return item;
    return { ...item, providerData: { ...item.providerData, hookstack: { allowedTools } } };
  });
}

/** The same items without it, as a provider refuses what it does not know. */
export function withoutAllowed(items: readonly Item[]): Item[] {
  return items.map((item) => {
    if (!item.providerData || !('hookstack' in item.providerData)) return item;
    const { hookstack: _, ...providerData } = item.providerData;
    return { ...item, providerData };
  });
}
