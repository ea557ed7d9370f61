import { toParts } from '../../protocol/llmContent.js';
import type { ToolResult } from '../../tools/tools.js';
import { findInexact } from './exact.js';
import { isRecord } from '../../util/records.js';
import { recordIn, RpcError, type Id, type Message } from './rpc.js';
import { textBlock, type ReadAnswer, type ShownBlock } from './toolResult.js';

/*
 * What goes on of a call that hooks look at, in both directions: it is written anew from what they have read. What they
 * cannot read as it is does not go on.
 */

/** What a call may say. Of anything else nobody knows what it means, or whether hooks should have seen it. */
const PARAMS = new Set(['name', 'arguments', '_meta', 'task', 'requestState', 'inputResponses']);

/** Why hooks would read another call than the server; `undefined` where they would not. */
export function whyNotReadable(message: Message, line: Buffer): string | undefined {
  const other = Object.keys(recordIn(message, 'params')).find((key) => !PARAMS.has(key));
  if (other !== undefined) {
    return `params has the key ${JSON.stringify(other)}, which hooks do not see: leave it out`;
  }
  const inexact = findInexact(line);
  return inexact && `hooks would read another call than the server: ${inexact}; write it as a text`;
}

/** The call with the arguments that hooks have left. */
export function callToSend(message: Message, input: Record<string, unknown>): Message {
  const { id } = message;
  const { arguments: given, ...params } = recordIn(message, 'params');
  const isNone = given === undefined && Object.keys(input).length === 0;
  const sent = isNone ? params : { ...params, arguments: input };
  return { jsonrpc: '2.0', id, method: 'tools/call', params: sent };
}

/** The server's answer, or in its place an error where hooks would read another one than the client. */
export function readableAnswer(answer: Message, line: Buffer, id: Id): Message {
  const inexact = findInexact(line);
  if (inexact === undefined) return answer;
  const why = `the tool has run, and its result is withheld, as hooks would read another one than the client: ${inexact}`;
  return { jsonrpc: '2.0', id, error: { code: RpcError.Internal, message: why } };
}

const TASK = [
  'taskId',
  'status',
  'statusMessage',
  'createdAt',
  'lastUpdatedAt',
  'ttl',
  'ttlMs',
  'pollInterval',
  'pollIntervalMs',
];

/**
 * Whether a server needs more, or works on. Such an answer holds nothing else: a client could show what stands beside it,
 * and hooks would not have seen it.
 */
export function isUnfinished(answer: Message): boolean {
  const result = recordIn(answer, 'result');
  const { resultType = 'complete', task } = result;
  if (resultType === 'input_required') return hasOnly(result, ['inputRequests', 'requestState']);
  if (task !== undefined) return hasOnly(result, ['task']) && isRecord(task) && hasOnly(task, TASK);
  return resultType === 'task' && hasOnly(result, TASK);
}

function hasOnly(record: Message, keys: readonly string[]): boolean {
  const known = new Set(['resultType', '_meta', ...keys]);
  return Object.keys(record).every((key) => known.has(key));
}

/** A question of the server, or a task: without its words beside that, which no hook sees. */
export function unfinishedToSend(answer: Message, id: Id): Message {
  const { _meta, statusMessage: _words, task, ...result } = recordIn(answer, 'result');
  const { statusMessage: _said, ...rest } = recordIn(task);
  return { jsonrpc: '2.0', id, result: { ...result, ...(task !== undefined && { task: rest }) } };
}

/**
 * A notification that may hold what a tool gives, without its words: they are for hooks first.
 *
 * @returns `undefined` for any other message
 */
export function withoutWords({ method, params }: Message): Message | undefined {
  const { progressToken, progress, total, level } = recordIn(params);
  if (method === 'notifications/message') {
    const data = 'withheld by hookstack: hooks are to see a result first';
    const known = typeof level === 'string' && LEVEL.test(level) && { level };
    return { jsonrpc: '2.0', method, params: { ...known, data } };
  }
  if (method !== 'notifications/progress') return undefined;
  const known = { progressToken, progress: asNumber(progress), total: asNumber(total) };
  return { jsonrpc: '2.0', method, params: known };
}

/** Of a line of a log. */
const LEVEL = /^(?:debug|info|notice|warning|error|critical|alert|emergency)$/u;

function asNumber(said: unknown): number | undefined {
  return typeof said === 'number' ? said : undefined;
}

/** What the server has answered, as hooks read it, and as it came. */
export interface Received {
  readonly answer: ReadAnswer;
  readonly said: Message;
  readonly line: Buffer;
}

/** Whether something can be added to an answer: what hooks read of it is what it says. */
export function canChange({ line }: Received, isSeen: boolean): boolean {
  return isSeen || findInexact(line) === undefined;
}

/**
 * What goes to the client of an answer: where hooks look at results, what they have read and made of it.
 *
 * @param id of the request that is answered
 * @param isSeen whether they do; if not, its line, unless something is to be added
 */
export function answerToSend(
  { answer, said, line }: Received,
  final: ToolResult,
  id: Id,
  isSeen: boolean,
): Message | Buffer {
  const { shown, given } = answer;
  const isLeft =
    final.llmContent === given.llmContent &&
    final.error === given.error &&
    final.stopReason === undefined;
  if (!isSeen && isLeft) return line;
  if (isLeft) return { jsonrpc: '2.0', id, ...shown };
  const readable = isSeen ? said : readableAnswer(said, line, id);
  return readable === said ? changedAnswer(answer, final, id) : readable;
}

function changedAnswer({ shown, given, blocks }: ReadAnswer, final: ToolResult, id: Id): Message {
  const { content, isWhole } = contentOf(given, final, blocks);
  if ('error' in shown) {
    const error = recordIn(shown.error);
    const code = typeof error['code'] === 'number' ? error['code'] : RpcError.Internal;
    const kept = isWhole ? error : {};
    return { jsonrpc: '2.0', id, error: { code, ...kept, message: textOf(content) } };
  }
  const { stopReason } = final;
  if (stopReason !== undefined) content.push(textBlock(`The agent is to stop: ${stopReason}`));
  const { structuredContent, isError: _failed, ...rest } = shown.result;
  // What of a result is for programs may repeat what was replaced.
  const kept = isWhole
    ? { ...rest, structuredContent }
    : rest['resultType'] !== undefined && { resultType: 'complete' };
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

/** The blocks of a result, and whether nothing of what the server gave is missing. */
function contentOf(
  { llmContent: before }: ToolResult,
  { llmContent: after }: ToolResult,
  blocks: readonly ShownBlock[],
): { content: unknown[]; isWhole: boolean } {
  const all = blocks.map(({ block }) => block);
  const blockOf = new Map<unknown, ShownBlock>(
    blocks.flatMap((each) => each.parts.map((part) => [part, each] as const)),
  );
  if (typeof before === 'string') {
    const note =
      typeof after === 'string' && after.startsWith(before) && after.slice(before.length);
    const whole = all.length > 0 || before === '' ? all : [textBlock(before)];
    if (note === '') return { content: whole, isWhole: true };
    if (typeof note === 'string' && note.startsWith('\n\n')) {
      return { content: [...whole, textBlock(note.trimStart())], isWhole: true };
    }
  }
  const parts: readonly unknown[] = toParts(after);
  const known: readonly unknown[] = Array.isArray(before) ? before : [];
  const isWhole = Array.isArray(before) && known.every((part) => parts.includes(part));
  return { content: toParts(after).flatMap(toBlocks), isWhole };

  function toBlocks(part: ReturnType<typeof toParts>[number]): readonly unknown[] {
    const own = blockOf.get(part);
    // A block is one again where nothing that it said is missing.
    if (own?.parts.every((each) => parts.includes(each))) {
      return own.parts[0] === part ? [own.block] : [];
    }
    // Structured content that no text repeats stays in its own place.
    return isWhole && known.includes(part) ? [] : [toBlock(part)];
  }
}

function toBlock({ text, inlineData, ...others }: ReturnType<typeof toParts>[number]): object {
  if (text !== undefined) return textBlock(text.replace(/^\n\n/u, ''));
  const { data, mimeType = '' } = inlineData ?? {};
  if (data === undefined) return textBlock(JSON.stringify(others));
  return { type: mimeType.startsWith('audio/') ? 'audio' : 'image', data, mimeType };
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

/** The answer to a call that has not reached its server. */
export function answerInstead(result: ToolResult, id: Id, isModern: boolean): Message {
  const content = toParts(result.llmContent).map(toBlock);
  const isError = result.error !== undefined;
  const kind = isModern && { resultType: 'complete' };
  return { jsonrpc: '2.0', id, result: { content, ...(isError && { isError }), ...kind } };
}
