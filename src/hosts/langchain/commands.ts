import type { Part } from '@google/genai';
// Classes and types are those of the host.
// @ts-ignore
import { ToolMessage } from 'langchain';
import { isRecord } from '../../util/records.js';
import type { Maybe } from '../mark.js';
import { asText } from '../shared.js';
import { copyOf, toToolContent } from './messages.js';

/*
 * What a tool says beside its own message: the host hands to the model every message of a command, and hooks read each
 * of them as a part of the result.
 */

/** The message for the model; `undefined` in a command without one. */
export function messageIn(given: object, id: string | undefined): Maybe<ToolMessage> {
  if (isToolMessage(given)) return given;
  return messagesOf(given)
    .filter(isToolMessage)
    .find(({ tool_call_id: call }) => call === id);
}

function isToolMessage(each: unknown): each is ToolMessage {
  return ToolMessage.isInstance(each);
}

/** What else the model would read. What the conversation holds already, it has read. */
export function furtherParts(given: object, own: unknown, known: readonly unknown[]): Part[] {
  if (given === own) return [];
  const isNew = (each: unknown) => each !== own && !known.includes(each);
  return [...messagesOf(given), ...sendsOf(given).flatMap(messagesSent)]
    .filter(isNew)
    .flatMap(partsOf);
}

/** The same command with another message of the tool, and with what else it says only where that `isLeft`. */
export function withMessage<C extends object>(
  command: C,
  { own, changed, isLeft, known }: Change,
): C {
  const { update, goto } = command as Command;
  const kept = (list: unknown) =>
    listOf(list).flatMap((each) => {
      if (each === own) return [changed];
      return isLeft || known.includes(each) ? [each] : [];
    });
  const written = isTuples(update)
    ? update.map(([key, value]) => [key, key === MESSAGES ? kept(value) : value])
    : { ...(update as object), [MESSAGES]: kept((update as Record<string, unknown>)[MESSAGES]) };
  const isSilent = (each: unknown) => messagesSent(each).every((said) => known.includes(said));
  const going = !isLeft && Array.isArray(goto) && { goto: goto.filter(isSilent) };
  return Object.assign(copyOf(command), { update: written, ...going });
}

interface Change {
  readonly own: ToolMessage;
  readonly changed: ToolMessage;
  readonly isLeft: boolean;
  readonly known: readonly unknown[];
}

interface Command {
  readonly update?: unknown;
  readonly goto?: unknown;
}

/** The key of the conversation in what the host stores. */
const MESSAGES = 'messages';

function messagesOf(command: object): unknown[] {
  const { update } = command as Command;
  if (isTuples(update)) {
    return update.flatMap(([key, value]) => (key === MESSAGES ? listOf(value) : []));
  }
  // An update that is not by keys is the host's to refuse.
  return isRecord(update) ? listOf(update[MESSAGES]) : listOf(update);
}

function sendsOf(command: object): unknown[] {
  return listOf((command as Command).goto);
}

function messagesSent(send: unknown): unknown[] {
  const input = isRecord(send) ? send['args'] : undefined;
  return isRecord(input) ? listOf(input[MESSAGES]) : [];
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function isTuples(update: unknown): update is [string, unknown][] {
  return Array.isArray(update) && update.every((each) => Array.isArray(each) && each.length === 2);
}

/** A message in any form that the host takes. What is no object of its own is shown as it is. */
function partsOf(message: unknown): Part[] {
  const { content, tool_calls: calls = [], additional_kwargs: others = {} } = asMessage(message);
  const text = typeof content === 'string' ? content : undefined;
  if (text === undefined && !Array.isArray(content)) return [{ text: asText(message) }];
  const rest = [calls, others].filter((each) => Object.keys(each).length > 0);
  const blocks = text === undefined ? (toToolContent(content) as Part[]) : [{ text }];
  return [...blocks, ...rest.map((each) => ({ text: asText(each) }))];
}

interface HostMessage {
  readonly content?: unknown;
  readonly tool_calls?: object;
  readonly additional_kwargs?: object;
}

function asMessage(message: unknown): HostMessage {
  const isHosts = isRecord(message) && typeof message['getType'] === 'function';
  return isHosts ? message : {};
}
