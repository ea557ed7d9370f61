import type { Content, GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { decideEvent } from '../core/decideEvent.js';
import type { EventVerdict } from '../core/eventVerdict.js';
import type { ModelTurn } from '../core/modelCall.js';
import { mayBeRead } from '../hooks/fireHook.js';
import { toContents } from '../protocol/messages.js';
import { HookEventName, type BatchedCall } from '../protocol/types.js';
import { ToolErrorType } from '../tools/tools.js';
import { isRecord } from '../util/records.js';
import { textResult } from './shared.js';
import { stoppedCall, toNotes } from './translate.js';

/*
 * No host has a moment between the tools of an answer and the next request. But the request begins with their results.
 */

/** A call of a tool whose result is sent to the model. */
export interface EndedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What the model reads of it. */
  readonly output: unknown;
  readonly hasFailed: boolean;
  readonly id: string | undefined;
}

/** ToolBatchEnd for the requests of one host. */
export class Batches {
  /** By the last result: hosts may send a request again. */
  readonly #ended = new WeakMap<object, Promise<EventVerdict>>();

  constructor(private readonly config: Config) {}

  /**
   * Fires the event where results of tools are the last of a request.
   *
   * @param last the last message of the host, which is the same object when it sends the same again
   * @returns `undefined`, synchronously, where there is nothing to fire, or nobody to read it
   */
  end(
    last: object | undefined,
    find: () => readonly EndedCall[],
    options: CallOptions,
  ): Promise<EventVerdict> | undefined {
    if (!last || !mayBeRead(this.config, HookEventName.ToolBatchEnd)) return undefined;
    const known = this.#ended.get(last);
    if (known) return known;
    const toolCalls = find().map(toBatchedCall);
    if (toolCalls.length === 0) return undefined;
    const ending = decideEvent(this.config, HookEventName.ToolBatchEnd, { toolCalls }, options);
    this.#ended.set(last, ending);
    // What was aborted is asked again.
    ending.catch(() => this.#ended.delete(last));
    return ending;
  }
}

function toBatchedCall({ name, input, output, hasFailed, id }: EndedCall): BatchedCall {
  const { llmContent, returnDisplay } = textResult(textIn(output) ?? output);
  const error = hasFailed && { error: { type: ToolErrorType.Failed, message: returnDisplay } };
  return {
    tool_name: name,
    tool_input: input,
    tool_response: { llmContent, returnDisplay, ...error },
    ...(id !== undefined && { call_id: id }),
  };
}

/** Of texts in the form of messages, the text. */
function textIn(output: unknown): string | undefined {
  const blocks: unknown[] = Array.isArray(output) ? output : [output];
  const texts = blocks.map((block) =>
    isRecord(block) && block['type'] === 'text' ? block['text'] : undefined,
  );
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}

/**
 * The calls whose results are the last of what is sent.
 *
 * @param isFailure whether such a message says that its tool has failed
 */
export function endedCalls(
  contents: readonly Content[],
  isFailure: (content: Content) => boolean = () => false,
): EndedCall[] {
  const first = contents.findLastIndex((content) => !hasResult(content)) + 1;
  const results = contents
    .slice(first)
    .flatMap((content) =>
      (content.parts ?? []).flatMap(({ functionResponse }) =>
        functionResponse ? [{ result: functionResponse, hasFailed: isFailure(content) }] : [],
      ),
    );
  if (results.length === 0) return [];
  const calls = contents
    .slice(0, first)
    .flatMap(({ parts = [] }) => parts.flatMap(({ functionCall }) => functionCall ?? []));
  return results.map(({ result: { id, name = '', response = {} }, hasFailed }, at) => {
    // Some hosts send no ids; then calls and results have the same order.
    const call = calls.findLast((each) => id !== undefined && each.id === id);
    const { args = {} } = call ?? calls.at(at - results.length) ?? {};
    const { output = response } = response;
    return { name, input: args, output, hasFailed: hasFailed || isRefusal(response), id };
  });
}

function isRefusal({ error }: Readonly<Record<string, unknown>>): boolean {
  return error !== undefined;
}

function hasResult({ parts = [] }: Content): boolean {
  return parts.some(({ functionResponse }) => functionResponse !== undefined);
}

/** A call of the model that waits for what hooks say of the tools before it. */
export async function* afterBatch(
  ending: Promise<EventVerdict>,
  request: GenerateContentParameters,
  call: (
    request: GenerateContentParameters,
  ) => AsyncGenerator<GenerateContentResponse, ModelTurn, undefined>,
): AsyncGenerator<GenerateContentResponse, ModelTurn, undefined> {
  const { stopped, notes } = await ending;
  if (stopped) return yield* stoppedCall(request, stopped);
  return yield* call(withFurther(request, toNotes(notes)));
}

/** A request with further messages at its end. */
export function withFurther(
  request: GenerateContentParameters,
  messages: readonly Content[],
): GenerateContentParameters {
  if (messages.length === 0) return request;
  return { ...request, contents: [...toContents(request.contents), ...messages] };
}
