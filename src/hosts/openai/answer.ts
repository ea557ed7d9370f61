import { isDeepStrictEqual } from 'node:util';
import type { GenerateContentResponse } from '@google/genai';
import { answerText, functionCallsOf } from '../../protocol/response.js';
import { isRecord } from '../../util/records.js';
import { whyNotAllowed, type Allowed } from '../allowed.js';
import { argumentsOf, isMessage, message, textOf } from './items.js';
import type { NameOf } from './requests.js';
import type { Item, ModelRequest, ModelResponse, Piece } from './types.js';

/*
 * What the host gets of an answer that hooks have seen: as the model gave it, or without all that may repeat what they
 * have taken out of it.
 */

/**
 * What the model gave, after hooks and middleware. Where they changed its text, the last message has the new one, and
 * no other message has any.
 *
 * @param said all that the model said, as they have read it
 */
export function toOutput(
  response: GenerateContentResponse,
  output: readonly Item[],
  said: string,
): Item[] {
  const text = answerText(response);
  const calls = new Map(functionCallsOf(response).map((call) => [call.id, call]));
  const lastText = output.findLastIndex((item) => textOf([item]) !== '');
  const items = output.flatMap((item, position): Item[] => {
    if (item.type === 'function_call') {
      const call = calls.get(item.callId);
      if (!call) return [];
      if (isDeepStrictEqual(call.args, argumentsOf(item))) return [item];
      return [{ ...item, arguments: JSON.stringify(call.args) }];
    }
    if (text === said) return [item];
    return isMessage(item) ? withText(item, position === lastText ? text : '') : withoutWords(item);
  });
  return text !== said && lastText < 0 && text !== '' ? [...items, message('model', text)] : items;
}

/** The host's response: whatever else is in it repeats the output that the model gave. */
export function toModelResponse<R extends ModelResponse>(given: R, output: readonly Item[]): R {
  const isSame =
    given.output.length === output.length && output.every((item, at) => item === given.output[at]);
  if (isSame) return given;
  const { providerData: _raw, ...rest } = given;
  return { ...(rest as R), output };
}

function withText({ providerData: _raw, ...item }: Item, text: string): Item[] {
  const content: readonly Piece[] = Array.isArray(item.content) ? item.content : [];
  const images = content.filter(({ type }) => type === 'image');
  if (text !== '') return [{ ...item, content: [...images, { type: 'output_text', text }] }];
  return images.length > 0 ? [{ ...item, content: images }] : [];
}

/** Providers want reasoning back that came before a call: nobody but they can read what is left of it. */
function withoutWords(item: Item): Item[] {
  if (item.type === 'unknown') return [];
  if (item.type !== 'reasoning') return [item];
  const { id, type, providerData } = item;
  const kept = Object.entries(isRecord(providerData) ? providerData : {}).filter(([key]) =>
    /^encrypted_?content$/i.test(key),
  );
  return [
    {
      ...(id !== undefined && { id }),
      type,
      content: [],
      ...(kept.length > 0 && { providerData: Object.fromEntries(kept) }),
    },
  ];
}

/** Whether the host would do something for an item of an answer. What the provider has done, is done. */
export function isCall({ type, name }: Item): boolean {
  if (type === 'hosted_tool_call') return name === 'mcp_approval_request';
  return type?.endsWith('_call') === true;
}

/**
 * Of an answer, what the host may act upon. Calls of functions stay, as these refuse by themselves. At a handoff, and for
 * tools that are no functions, the host asks nobody, and does what the model wants also where that was not offered.
 *
 * @returns what is left, and why the others are gone, as the model is to read it
 */
export function withinAllowed(
  output: readonly Item[],
  request: Pick<ModelRequest, 'tools' | 'handoffs'>,
  allowed: Allowed | undefined,
  nameOf: NameOf,
): { readonly left: Item[]; readonly refusals: string[] } {
  const left: Item[] = [];
  const refusals: string[] = [];
  for (const item of output) {
    const whys = namesOf(item, request, nameOf).map((name) => whyNotAllowed(name, allowed));
    const [why] = whys;
    if (why !== undefined && !whys.includes(undefined)) refusals.push(why);
    else left.push(item);
  }
  return { left, refusals };
}

/** What hooks know that by which the host would do for an item, without asking anybody. */
function namesOf(
  { type, name }: Item,
  { tools, handoffs }: Pick<ModelRequest, 'tools' | 'handoffs'>,
  nameOf: NameOf,
): string[] {
  if (type === 'function_call') {
    return handoffs.map(({ toolName }) => toolName).filter((each) => each === name);
  }
  return tools.filter((tool) => `${tool.type}_call` === type).map((tool) => nameOf(tool.name));
}
