import type { Part } from '@google/genai';
import { isDeepStrictEqual } from 'node:util';
import { toParts } from '../../protocol/llmContent.js';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { isRecord } from '../../util/records.js';
import { recordIn, RpcError, type Id, type Message } from './rpc.js';

/** A server's answer to a call, as hooks see it, and which part of that stands for which block of the answer. */
export interface ReadAnswer {
  readonly answer: Message;
  readonly given: ToolResult;
  readonly blocks: ReadonlyMap<Part, unknown>;
}

/** Reads the answer of a server. Everything that a model could read is in `llmContent`, which hooks look at. */
export function readAnswer(answer: Message): ReadAnswer {
  if (answer['error'] !== undefined) return readError(answer);
  const result = recordIn(answer, 'result');
  const given = listOf(result['content']);
  const blocks = new Map<Part, unknown>(given.map((block) => [toPart(block), block]));
  const texts = [...blocks.keys()].map(({ text }) => text ?? '');
  const parts = [...blocks.keys()];
  const {
    content: _content,
    structuredContent,
    isError,
    _meta,
    resultType = 'complete',
    ...rest
  } = result;
  const isOdd = isError !== undefined && typeof isError !== 'boolean';
  const others = {
    ...rest,
    ...(resultType !== 'complete' && { resultType }),
    ...(isOdd && { isError }),
  };
  const isRepeated = structuredContent === undefined || repeats(texts, structuredContent);
  if (!isRepeated) parts.push({ text: JSON.stringify(structuredContent) });
  // Older clients read results of another form.
  if (Object.keys(others).length > 0) parts.push({ text: JSON.stringify(others) });
  const [first] = parts;
  const isText = parts.length === 1 && first?.text !== undefined;
  const message = texts.filter((text) => text !== '').join('\n');
  return {
    answer,
    blocks,
    given: {
      llmContent: isText ? (first.text ?? '') : parts,
      returnDisplay: '',
      ...(Boolean(isError) && { error: { message, type: ToolErrorType.Failed } }),
    },
  };
}

/** What is no list is shown to hooks all the same, since a client could read it. */
function listOf(content: unknown): readonly unknown[] {
  if (content === undefined) return [];
  return Array.isArray(content) ? (content as unknown[]) : [content];
}

function readError(answer: Message): ReadAnswer {
  const { message, code, ...rest } = recordIn(answer, 'error');
  const text = typeof message === 'string' ? message : JSON.stringify(answer['error']);
  const others = typeof code === 'number' ? rest : { ...rest, ...(code !== undefined && { code }) };
  const isAll = typeof message !== 'string' || Object.keys(others).length === 0;
  const part = { text };
  const error = { message: text, type: ToolErrorType.Failed };
  const llmContent = isAll ? text : [part, { text: JSON.stringify(others) }];
  return {
    answer,
    blocks: new Map<Part, unknown>(isAll ? [] : [[part, textBlock(text)]]),
    given: { llmContent, returnDisplay: '', error },
  };
}

function toPart(block: unknown): Part {
  const { type, text, data, mimeType, resource } = isRecord(block) ? block : {};
  if (type === 'text' && typeof text === 'string' && hasOnly(block, 'text')) return { text };
  const isMedium = type === 'image' || type === 'audio';
  const isKnown = isMedium && hasOnly(block, 'data', 'mimeType');
  if (isKnown && typeof data === 'string' && typeof mimeType === 'string') {
    return { inlineData: { mimeType, data } };
  }
  if (type === 'resource' && hasOnly(block, 'resource')) {
    const { uri, text: inner, mimeType: kind = '' } = recordIn(resource);
    const isPlain = hasOnly(resource, 'uri', 'text', 'mimeType') && typeof kind === 'string';
    if (isPlain && typeof uri === 'string' && typeof inner === 'string') {
      return { text: `${uri}\n${inner}` };
    }
  }
  return { text: JSON.stringify(block) ?? '' };
}

/** Whether a block has nothing else that a model could read: then hooks would have to see it. */
function hasOnly(block: unknown, ...keys: readonly string[]): boolean {
  const known = new Set(['type', 'annotations', '_meta', ...keys]);
  return Object.keys(recordIn(block)).every((key) => known.has(key));
}

/** Servers repeat structured content as a text, for clients that do not know it. */
function repeats(texts: readonly string[], structured: unknown): boolean {
  return texts.some((text) => {
    if (!/^\s*[{[]/u.test(text)) return false;
    try {
      return isDeepStrictEqual(JSON.parse(text), structured);
    } catch {
      return false;
    }
  });
}

/**
 * The server's answer with what hooks have made of it.
 *
 * @param id of the request that is answered
 * @returns `undefined` where they have left it as it is
 */
export function applyHooks(
  { answer, given, blocks }: ReadAnswer,
  final: ToolResult,
  id: Id,
): Message | undefined {
  const { stopReason } = final;
  const isSame = final.llmContent === given.llmContent && final.error === given.error;
  if (isSame && stopReason === undefined) return undefined;
  const { content, isWhole } = contentOf(given, final, blocks);
  if (answer['error'] !== undefined) {
    const error = recordIn(answer, 'error');
    const code = typeof error['code'] === 'number' ? error['code'] : RpcError.Internal;
    const kept = isWhole ? error : {};
    return { jsonrpc: '2.0', id, error: { code, ...kept, message: textOf(content) } };
  }
  if (stopReason !== undefined) content.push(textBlock(`The agent is to stop: ${stopReason}`));
  const { structuredContent, isError: _failed, ...rest } = recordIn(answer, 'result');
  const kept = isWhole ? { ...rest, structuredContent } : withoutHidden(rest);
  const replaced = isWhole ? undefined : replacementOf(structuredContent, content);
  const isLost = !isWhole && structuredContent !== undefined && replaced === undefined;
  const isError = final.error !== undefined || isLost;
  const structured = replaced && { structuredContent: replaced };
  return {
    jsonrpc: '2.0',
    id,
    result: { ...kept, content, ...structured, ...(isError && { isError }) },
  };
}

interface Block {
  readonly [key: string]: unknown;
}

/** The blocks of a result, and whether nothing of what the server gave is missing. */
function contentOf(
  { llmContent: before }: ToolResult,
  { llmContent: after }: ToolResult,
  blocks: ReadonlyMap<Part, unknown>,
): { content: unknown[]; isWhole: boolean } {
  if (typeof before === 'string') {
    const note =
      typeof after === 'string' && after.startsWith(before) && after.slice(before.length);
    if (note === '') return { content: wholeContent(before, blocks), isWhole: true };
    if (typeof note === 'string' && note.startsWith('\n\n')) {
      const content = [...wholeContent(before, blocks), textBlock(note.trimStart())];
      return { content, isWhole: true };
    }
  }
  const parts = toParts(after);
  const known: readonly unknown[] = Array.isArray(before) ? before : [];
  const isWhole = Array.isArray(before) && known.every((part) => parts.includes(part as Part));
  // Structured content that no text repeats stays in its own place.
  const shown = parts.filter((part) => blocks.has(part) || !isWhole || !known.includes(part));
  return { content: shown.map((part) => blocks.get(part) ?? toBlock(part)), isWhole };
}

function wholeContent(text: string, blocks: ReadonlyMap<Part, unknown>): unknown[] {
  return blocks.size > 0 ? [...blocks.values()] : text === '' ? [] : [textBlock(text)];
}

function toBlock({ text, inlineData, ...others }: Part): Block {
  if (text !== undefined) return textBlock(text.replace(/^\n\n/u, ''));
  const { data, mimeType = '' } = inlineData ?? {};
  if (data === undefined) return textBlock(JSON.stringify(others));
  return { type: mimeType.startsWith('audio/') ? 'audio' : 'image', data, mimeType };
}

function textBlock(text: string): Block {
  return { type: 'text', text };
}

function textOf(content: readonly unknown[]): string {
  const texts = content.map((block) => recordIn(block)['text']);
  return texts.filter((text) => typeof text === 'string').join('\n\n');
}

/** A replaced result takes the place of structured content too, where it is an object in JSON. */
function replacementOf(structured: unknown, content: readonly unknown[]): object | undefined {
  if (structured === undefined) return undefined;
  try {
    const replaced: unknown = JSON.parse(textOf(content));
    return isRecord(replaced) ? replaced : undefined;
  } catch {
    return undefined;
  }
}

/** What of a result is for programs may repeat what was replaced; what the protocol needs may not be missing. */
function withoutHidden({ _meta, resultType }: Message): Message {
  const known = Object.entries(isRecord(_meta) ? _meta : {}).filter(([key]) =>
    key.startsWith('io.modelcontextprotocol/'),
  );
  return {
    ...(known.length > 0 && { _meta: Object.fromEntries(known) }),
    ...(resultType !== undefined && { resultType: 'complete' }),
  };
}

/** The answer to a call that has not reached its server. */
export function answerInstead(result: ToolResult, id: Id, isModern: boolean): Message {
  const content = toParts(result.llmContent).map(toBlock);
  const isError = result.error !== undefined;
  const kind = isModern && { resultType: 'complete' };
  return { jsonrpc: '2.0', id, result: { content, ...(isError && { isError }), ...kind } };
}
