import type { Content, ContentListUnion, Part, PartUnion } from '@google/genai';
import { isAnswerText, partsOf } from './response.js';
import type { LLMMessage } from './modelChecks.js';

/**
 * The contents to send after a hook changed the messages that it was given, matched by position: parts that are
 * not text stay where they were, surplus messages are appended, missing ones are dropped from the end, as are those
 * without text. Messages that are the same keep their identity; so does the whole when nothing changed.
 */
export function applyMessages(
  messages: readonly LLMMessage[],
  base: ContentListUnion,
): ContentListUnion {
  const contents = toContents(base);
  const sent = contents.flatMap((content) => toMessage(content) ?? []);
  const isSame = (message: LLMMessage, position: number) =>
    message.role === sent[position]?.role && message.content === sent[position].content;
  if (messages.length === sent.length && messages.every(isSame)) return base;

  let position = 0;
  const kept = contents.flatMap((content) => {
    if (!toMessage(content)) return [content];
    const message = messages[position];
    if (!message) return withoutText(content);
    if (isSame(message, position++)) return [content];
    return message.content === '' ? withoutText(content) : [withMessage(content, message)];
  });
  const surplus = messages.slice(position).filter(({ content }) => content !== '');
  return [...kept, ...surplus.map((message) => withMessage({}, message))];
}

/**
 * Every form in which the SDK takes contents, as a list of messages. What is none of these stays where it is: it is for
 * the SDK to refuse, and hooks do not see it.
 */
export function toContents(contents: ContentListUnion): Content[] {
  if (!Array.isArray(contents))
    return isEntry(contents) ? toContents([contents] as ContentListUnion) : [];
  if (contents.every((entry) => isContent(entry) || !isEntry(entry))) return contents as Content[];
  return [{ role: 'user', parts: contents.map((part) => toPart(part as PartUnion)) }];
}

function toPart(part: PartUnion): Part {
  return typeof part === 'string' ? { text: part } : part;
}

function isEntry(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

function isContent(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && ('parts' in value || 'role' in value);
}

/** What became of a content, and the texts of which it was made. */
interface KnownMessage {
  readonly texts: readonly string[];
  readonly message: LLMMessage | undefined;
}

const known = new WeakMap<Content, KnownMessage>();

/**
 * A message as hooks see it; `undefined` when it has no text. The same frozen object for the same content, as long as
 * its role and texts are the same: all but the last messages of a conversation are sent again with every call.
 */
export function toMessage(content: Content): LLMMessage | undefined {
  if (!isContent(content)) return undefined;
  const texts = answerTexts(content);
  const role = content.role === 'model' ? 'model' : 'user';
  const before = known.get(content);
  const isSame =
    before?.texts.length === texts.length && texts.every((text, at) => text === before.texts[at]);
  if (before && isSame && (before.message?.role ?? role) === role) return before.message;
  const text = texts.join('');
  const message = text === '' ? undefined : Object.freeze<LLMMessage>({ role, content: text });
  known.set(content, { texts, message });
  return message;
}

/** The texts among parts, without those that are thoughts. */
export function answerTexts(content: Content | undefined): string[] {
  const texts = partsOf(content).filter(isAnswerText);
  return texts.map((part) => part.text);
}

function withMessage(content: Content, message: LLMMessage): Content {
  const parts = partsOf(content);
  // The API knows no "system" among the messages; a mixed message belongs to whoever made its other parts.
  const role = message.role === 'model' ? 'model' : 'user';
  const textOnly = parts.every((part) => typeof part?.text === 'string');
  return {
    ...content,
    role: textOnly ? role : (content.role ?? role),
    parts: replaceTexts(parts, [message.content]),
  };
}

function withoutText(content: Content): Content[] {
  const parts = partsOf(content).filter((part) => !isAnswerText(part));
  return parts.some((part) => !part?.thought) ? [{ ...content, parts }] : [];
}

/**
 * Replaces the text of a message and leaves every other part where it is. Text parts that the new text begins
 * or ends with keep their identity (a signature belongs to its part); those between become one part.
 */
export function replaceTexts(parts: readonly Part[], texts: readonly string[]): Part[] {
  const text = texts.join('');
  const slots = parts.flatMap((part, index) =>
    isAnswerText(part) ? [{ index, text: part.text }] : [],
  );
  let head = 0;
  let start = 0;
  for (let slot = slots[head]; slot && text.startsWith(slot.text, start); slot = slots[++head]) {
    start += slot.text.length;
  }
  let tail = slots.length;
  let end = text.length;
  for (let slot = slots[tail - 1]; slot && tail > head; slot = slots[--tail - 1]) {
    if (end - slot.text.length < start || !text.endsWith(slot.text, end)) break;
    end -= slot.text.length;
  }
  // Text that only came in between or at an edge becomes part of its neighbour.
  if (head === tail && head > 0) start -= slots[--head]?.text.length ?? 0;
  else if (head === tail && tail < slots.length) end += slots[tail++]?.text.length ?? 0;

  const middle = text.slice(start, end);
  const replaced = slots.slice(head, tail).map((slot) => slot.index);
  if (replaced.length === 0) return middle === '' ? [...parts] : insertText(parts, middle);
  return parts.flatMap((part, index) => {
    if (!replaced.includes(index)) return [part];
    return index === replaced[0] && middle !== '' ? [{ ...part, text: middle }] : [];
  });
}

function insertText(parts: readonly Part[], text: string): Part[] {
  const firstAnswer = parts.findIndex((part) => !part?.thought);
  return parts.toSpliced(firstAnswer < 0 ? parts.length : firstAnswer, 0, { text });
}
