// Classes and types are those of the host.
// @ts-ignore
import { ToolInvocationError, ToolMessage, type AgentMiddleware } from 'langchain';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { isRecord } from '../../util/records.js';
import type { Either, Maybe } from '../either.js';
import { textOf } from '../shared.js';
import { addMark } from './marks.js';
import { copyOf, copyWith, toBlocks, toToolContent, type HostCall } from './messages.js';

/** What a tool gives the host: a message, or a command with a message in it. */
export type Given = Awaited<ReturnType<NonNullable<AgentMiddleware['wrapToolCall']>>>;

/** The message for the model; `undefined` in a command without one. */
function messageIn(given: Given, id: string | undefined): Maybe<ToolMessage> {
  if (ToolMessage.isInstance(given)) return given;
  return messagesOf(given).find((each) => ToolMessage.isInstance(each) && each.tool_call_id === id);
}

function messagesOf(command: object): ToolMessage[] {
  const { update } = command as { readonly update?: unknown };
  const messages = isRecord(update) ? update['messages'] : undefined;
  return Array.isArray(messages) ? messages : [];
}

/** What a tool gave, as hooks read it. */
export function toToolResult(given: Given, { id }: HostCall): ToolResult {
  const message = messageIn(given, id);
  const llmContent = message ? toToolContent(message.content) : '';
  const text = textOf({ llmContent, returnDisplay: '' });
  const isFailure = message?.status === 'error';
  return {
    llmContent,
    returnDisplay: text,
    ...(isFailure && { error: { type: ToolErrorType.Failed, message: text } }),
  };
}

/** What the host goes on with: what the tool gave, with what hooks made of it. */
export function toToolAnswer(
  result: ToolResult,
  call: HostCall,
  ran: { readonly given: Given; readonly result: ToolResult } | undefined,
): Given {
  const { llmContent, stopReason: stopped, error } = result;
  const mark = stopped === undefined ? {} : { stopped };
  const message = ran && messageIn(ran.given, call.id);
  if (!ran || !message) {
    const isChanged = !ran || llmContent !== ran.result.llmContent || stopped !== undefined;
    return isChanged ? addMark(failure(call, textOf(result)), mark) : ran.given;
  }
  const isSame = llmContent === ran.result.llmContent;
  if (isSame && stopped === undefined) return ran.given;
  const content = Array.isArray(llmContent)
    ? llmContent.flatMap((part) => toBlocks(typeof part === 'string' ? { text: part } : part))
    : textOf(result);
  const isRefused = error?.type === ToolErrorType.Blocked;
  const fields = { ...(!isSame && { content }), ...(isRefused && { status: 'error' }) };
  const changed = addMark(copyWith(message, fields), mark);
  if (ran.given === message) return changed;
  const { update } = ran.given as { readonly update?: object };
  const messages = messagesOf(ran.given).map((each) => (each === message ? changed : each));
  return Object.assign(copyOf(ran.given), { update: { ...update, messages } });
}

/** A message that tells the model why a tool did not run, or how it failed. */
export function failure({ id, name }: HostCall, content: string): ToolMessage {
  return new ToolMessage({ content, tool_call_id: id ?? '', name, status: 'error' });
}

/**
 * Runs the tool as the host does where there is no middleware: with any, what a tool throws would end the agent instead
 * of being told to the model.
 */
export async function runTool(
  call: HostCall,
  run: () => Either<Promise<Given>, Given>,
  signal: AbortSignal | undefined,
): Promise<Given> {
  try {
    return await run();
  } catch (error) {
    const isBubbling = isRecord(error) || error instanceof Error ? 'is_bubble_up' in error : false;
    if (isBubbling || signal?.aborted || ToolInvocationError.isInstance(error)) throw error;
    return failure(call, `${String(error)}\n Please fix your mistakes.`);
  }
}
