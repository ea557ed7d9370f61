import type { Part } from '@google/genai';
import { isDeepStrictEqual } from 'node:util';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { findInexact, hasRepeatedKey } from './exact.js';
import { isRecord } from '../../util/records.js';
import { recordIn, type Message } from './rpc.js';

/** A block of an answer, and the parts in which hooks read all of it. */
export interface ShownBlock {
  readonly block: unknown;
  readonly parts: readonly Part[];
}

/** A server's answer to a call, and how hooks see it. */
export interface ReadAnswer {
  /** The part of the answer that hooks see, and so all of it that may go on. */
  readonly shown: { readonly result: Message } | { readonly error: unknown };
  readonly given: ToolResult;
  readonly blocks: readonly ShownBlock[];
}

/** Names the server in each of its results, since 2026-07-28. No client needs it, and no hook. */
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** Reads the answer of a server. Everything that may go on to the client is in `llmContent`, which hooks look at. */
export function readAnswer(answer: Message): ReadAnswer {
  if (answer['error'] !== undefined) return readError(answer['error']);
  const result = withoutServerInfo(recordIn(answer, 'result'));
  const blocks = listOf(result['content']).map(toShown);
  const texts = blocks.map(({ parts: [first] }) => first?.text ?? '');
  const parts = blocks.flatMap((block) => block.parts);
  const {
    content: _content,
    structuredContent,
    isError,
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
    shown: { result },
    blocks,
    given: {
      llmContent: isText ? (first.text ?? '') : parts,
      returnDisplay: '',
      ...(Boolean(isError) && { error: { message, type: ToolErrorType.Failed } }),
    },
  };
}

function withoutServerInfo(result: Message): Message {
  const { _meta, ...rest } = result;
  if (!isRecord(_meta) || !Object.hasOwn(_meta, SERVER_INFO)) return result;
  const { [SERVER_INFO]: _server, ...others } = _meta;
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others };
}

/** What is no list is shown to hooks all the same, since a client could read it. */
function listOf(content: unknown): readonly unknown[] {
  if (content === undefined) return [];
  return Array.isArray(content) ? (content as unknown[]) : [content];
}

function readError(said: unknown): ReadAnswer {
  const { message, code, ...rest } = recordIn(said);
  const text = typeof message === 'string' ? message : JSON.stringify(said);
  const others = typeof code === 'number' ? rest : { ...rest, ...(code !== undefined && { code }) };
  const isAll = typeof message !== 'string' || Object.keys(others).length === 0;
  const part = { text };
  const error = { message: text, type: ToolErrorType.Failed };
  const llmContent = isAll ? text : [part, { text: JSON.stringify(others) }];
  return {
    shown: { error: said },
    blocks: isAll ? [] : [{ block: textBlock(text), parts: [part] }],
    given: { llmContent, returnDisplay: '', error },
  };
}

/** The texts and media of a block as they are, and all else of it as JSON, such as `annotations` and `_meta`. */
function toShown(block: unknown): ShownBlock {
  const [part, rest] = readBlock(recordIn(block));
  if (!part) return { block, parts: [{ text: JSON.stringify(block) ?? '' }] };
  const isAll = Object.keys(rest).length === 0;
  return { block, parts: isAll ? [part] : [part, { text: JSON.stringify(rest) }] };
}

function readBlock({ type, ...block }: Message): [Part | undefined, Message] {
  const { text, data, mimeType, resource, ...rest } = block;
  const known = Object.keys(block).length - Object.keys(rest).length;
  if (type === 'text' && typeof text === 'string' && known === 1) return [{ text }, rest];
  if ((type === 'image' || type === 'audio') && known === 2) {
    const isMedium = typeof data === 'string' && typeof mimeType === 'string';
    if (isMedium) return [{ inlineData: { mimeType, data } }, rest];
  }
  if (type === 'resource' && known === 1) {
    const { uri, text: inner, ...others } = recordIn(resource);
    if (typeof uri === 'string' && typeof inner === 'string') {
      const more = Object.keys(others).length > 0 && { resource: others };
      return [{ text: `${uri}\n${inner}` }, { ...rest, ...more }];
    }
  }
  return [undefined, rest];
}

/** Servers repeat structured content as a text, for clients that do not know it. */
function repeats(texts: readonly string[], structured: unknown): boolean {
  return texts.some((text) => {
    if (!/^\s*[{[]/u.test(text)) return false;
    try {
      const value: unknown = JSON.parse(text);
      if (!isDeepStrictEqual(value, structured)) return false;
      const json = Buffer.from(text);
      return !hasRepeatedKey(json, value) && findInexact(json) === undefined;
    } catch {
      return false;
    }
  });
}

export function textBlock(text: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text };
}
