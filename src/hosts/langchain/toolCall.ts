import type { Part } from '@google/genai';
// Classes and types are those of the host.
// @ts-ignore
import { ToolInvocationError, ToolMessage, type AgentMiddleware } from 'langchain';
import { toParts } from '../../protocol/llmContent.js';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { isRecord } from '../../util/records.js';
import type { Either } from '../mark.js';
import { textOf } from '../shared.js';
import { furtherParts, messageIn, withMessage } from './commands.js';
import { addMark, copyWith, toBlocks, toToolContent, type HostCall } from './messages.js';

/** What a tool gives the host: a message, or a command with a message in it. */
export type Given = Awaited<ReturnType<NonNullable<AgentMiddleware['wrapToolCall']>>>;

/** What a tool gave, and what hooks read of it. */
export interface Ran {
  readonly given: Given;
  readonly result: ToolResult;
  /** What it says to the model beside its own message. */
  readonly further: readonly Part[];
  /** The conversation so far. */
  readonly known: readonly unknown[];
}

/** What a tool gave, as hooks read it. */
export function toRan(given: Given, { id }: HostCall, known: readonly unknown[]): Ran {
  const message = messageIn(given, id);
  const own = message ? toToolContent(message.content) : '';
  const further = furtherParts(given, message, known);
  const llmContent = further.length > 0 ? [...toParts(own), ...further] : own;
  const text = textOf({ llmContent, returnDisplay: '' });
  const isFailure = message?.status === 'error';
  const error = isFailure && { error: { type: ToolErrorType.Failed, message: text } };
  return { given, result: { llmContent, returnDisplay: text, ...error }, further, known };
}

/** What the host goes on with: what the tool gave, with what hooks made of it. */
export function toToolAnswer(result: ToolResult, call: HostCall, ran: Ran | undefined): Given {
  const { llmContent, stopReason: stopped, error } = result;
  const mark = stopped === undefined ? {} : { stopped };
  const own = ran && messageIn(ran.given, call.id);
  if (!ran || !own) {
    const isChanged = !ran || llmContent !== ran.result.llmContent || stopped !== undefined;
    return isChanged ? addMark(failure(call, textOf(result)), mark) : ran.given;
  }
  const isSame = llmContent === ran.result.llmContent;
  if (isSame && stopped === undefined) return ran.given;
  const parts = toParts(llmContent);
  const isLeft = toParts(ran.result.llmContent).every((part, at) => parts[at] === part);
  const left = isLeft ? parts.filter((part) => !ran.further.includes(part)) : parts;
  const isText = left.every((part) => part.text !== undefined);
  const content =
    typeof llmContent === 'string' || (isText && typeof own.content === 'string')
      ? textOf({ ...result, llmContent: left })
      : left.flatMap(toBlocks);
  const isRefused = error?.type === ToolErrorType.Blocked;
  const fields = { ...(!isSame && { content }), ...(isRefused && { status: 'error' }) };
  const changed = addMark(copyWith(own, fields), mark);
  if (ran.given === own) return changed;
  return withMessage(ran.given, { own, changed, isLeft: isSame || isLeft, known: ran.known });
}

/** A message that tells the model why a tool did not run, or how it failed. */
export function failure({ id, name }: HostCall, content: string): ToolMessage {
  return new ToolMessage({ content, tool_call_id: id ?? '', name, status: 'error' });
}

/**
 * Runs the tool as the host does where there is no middleware: with any, what a tool throws would end the agent instead
 * of being told to the model.
 */
export async function runAsHost(
  call: HostCall,
  run: () => Either<Promise<Given>, Given>,
  signal: AbortSignal | undefined,
): Promise<Given> {
  try {
    return await run();
  } catch (error) {
    const isBubbling = isRecord(error) || error instanceof Error ? 'is_bubble_up' in error : false;
    const isHosts = ToolInvocationError.isInstance(error) || isOfMiddleware(error);
    if (isBubbling || signal?.aborted || isHosts) throw error;
    return failure(call, `${String(error)}\n Please fix your mistakes.`);
  }
}

/** What other middleware throws ends the agent, as without hooks. */
function isOfMiddleware(error: unknown): boolean {
  const { '~brand': brand } = (error ?? {}) as { readonly '~brand'?: unknown };
  return brand === 'MiddlewareError';
}
