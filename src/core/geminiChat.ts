import type {
  Content,
  FunctionCallingConfigMode,
  GenerateContentConfig,
  GenerateContentParameters,
  GenerateContentResponse,
  Models,
  Part,
  PartListUnion,
} from '@google/genai';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { notesOf, toParts } from '../protocol/llmContent.js';
import { answerText, candidatesOf, isAnswerText, partsOf } from '../protocol/response.js';
import { isRecord } from '../util/records.js';
import { callModelWithHooks, finishTurn, type ModelTurn } from './modelCall.js';

export type { ModelTurn } from './modelCall.js';

export interface GeminiChatOptions {
  readonly config: Config;
  /** The SDK: `new GoogleGenAI({ … }).models`. */
  readonly models: Pick<Models, 'generateContentStream'>;
  /** Name of the model, such as `gemini-2.5-flash`. */
  readonly model: string;
  /** Goes with every request: tools, system instruction, temperature and the like. */
  readonly generationConfig?: GenerateContentConfig;
  readonly history?: readonly Content[];
}

/** What a chat tells while it answers. Chunks are for display; the response comes once, at the end. */
export type ChatEvent =
  | { readonly type: 'chunk'; readonly value: GenerateContentResponse }
  /** The model answered with nothing at all, and is asked again. */
  | { readonly type: 'retry'; readonly turn: ModelTurn }
  | { readonly type: 'response'; readonly turn: ModelTurn };

/** Models sometimes return an empty answer; a second request usually gets one. */
const MAX_EMPTY_ANSWERS = 2;

/** Messages at the end of the history that a compression leaves as they are. */
const KEPT_MESSAGES = 2;

const SUMMARY_REQUEST =
  'Sum up this conversation for yourself, so that you can go on working without having read it: what the user wants, what was done, what was found out, what remains to be done.';

const SUMMARY_CONFIG: GenerateContentConfig = {
  toolConfig: { functionCallingConfig: { mode: 'NONE' as FunctionCallingConfigMode } },
};

/** A conversation with a model, in which every call passes through the model stack. */
export class GeminiChat {
  readonly #options: GeminiChatOptions;
  #history: Content[];
  #contextForModel: string[] = [];
  #isAnswering = false;

  constructor(options: GeminiChatOptions) {
    this.#options = options;
    this.#history = [...(options.history ?? [])];
  }

  /** The messages so far, as they are sent with the next request. */
  getHistory(): readonly Content[] {
    return this.#history;
  }

  /**
   * Sends a message and streams the answer. Leaving the loop early, or `signal`, closes the SDK's stream.
   *
   * A call that fails or is aborted leaves the history as it was. So does one that a hook blocked, unless the
   * hook answered in the model's place, or the message was a tool's response, which the history cannot miss.
   *
   * @throws what the SDK throws; an Error when the chat is still answering
   */
  async *sendMessageStream(
    message: PartListUnion,
    options: CallOptions = {},
  ): AsyncGenerator<ChatEvent, void, undefined> {
    this.#assertIdle();
    this.#isAnswering = true;
    try {
      yield* this.#answer(message, options);
    } finally {
      this.#isAnswering = false;
    }
  }

  /** What async hooks have said, so that it stays in the history. */
  #takeLate({ session }: CallOptions): void {
    const late = this.#options.config.getHookSystem()?.takeLate(session) ?? [];
    this.#contextForModel.push(...late.flatMap(notesOf));
  }

  #assertIdle(): void {
    if (!this.#isAnswering) return;
    throw new Error(
      'The chat is still answering: read the stream of the last message to its end first',
    );
  }

  async *#answer(
    message: PartListUnion,
    options: CallOptions,
  ): AsyncGenerator<ChatEvent, void, undefined> {
    this.#takeLate(options);
    const context = this.#contextForModel.map((text) => ({ text }));
    const parts = [...toParts(message), ...context];
    const contents = [...this.#history, { role: 'user', parts }];
    for (let attempt = 0; ; attempt++) {
      const { isSilent, ...turn } = yield* this.#callModel(contents, options);
      const isAskedAgain = isSilent && !turn.blocked && turn.verdict.kind === 'allow';
      if (isAskedAgain && attempt < MAX_EMPTY_ANSWERS) {
        yield { type: 'retry', turn };
        continue;
      }
      if (this.#store(contents, parts, turn)) {
        this.#contextForModel = this.#contextForModel.slice(context.length);
      }
      yield { type: 'response', turn };
      return;
    }
  }

  /**
   * Has the model sum up the older part of the history, and puts the summary in its place. The last messages stay,
   * so that no tool call is parted from its response.
   *
   * @param notes for the model to take into account in the summary
   * @returns how the call ended; `undefined` when the history is too short to be compressed. A call that was
   *   blocked, or gave no text, leaves the history as it was.
   * @throws what the SDK throws
   */
  async compressHistory(
    notes: readonly string[] = [],
    options: CallOptions = {},
  ): Promise<ModelTurn | undefined> {
    const kept = this.#history.findLastIndex(
      ({ role }, index) => role === 'model' && index <= this.#history.length - KEPT_MESSAGES,
    );
    if (kept <= 0) return undefined;
    // The summary is no place for it: the next message is.
    this.#takeLate(options);
    const parts = [SUMMARY_REQUEST, ...notes].map((text) => ({ text }));
    const contents = [...this.#history.slice(0, kept), { role: 'user', parts }];
    const call = this.#callModel(contents, options, SUMMARY_CONFIG);
    const { isSilent: _isSilent, ...turn } = await finishTurn(call);
    // The SDK's own `text` warns of parts beside it.
    const summary = answerText(turn.response);
    if (summary && (!turn.blocked || turn.synthetic)) {
      const text = `Summary of the conversation so far:\n${summary}`;
      this.#history = [{ role: 'user', parts: [{ text }] }, ...this.#history.slice(kept)];
    }
    return turn;
  }

  async *#callModel(
    contents: Content[],
    options: CallOptions,
    overrides?: GenerateContentConfig,
  ): AsyncGenerator<ChatEvent, ModelTurn & { isSilent: boolean }, undefined> {
    const { config, models, model, generationConfig } = this.#options;
    const { signal: abort, onHooks, onApproval, session } = options;
    const received: GenerateContentResponse[] = [];
    const chunks = callModelWithHooks(
      config,
      { model, contents, ...withConfig({ ...generationConfig, ...overrides }) },
      async (request, signal) =>
        recordChunks(await models.generateContentStream(withSignal(request, signal)), received),
      { signal: eitherOf(abort, generationConfig?.abortSignal), onHooks, onApproval, session },
    );
    let step: IteratorResult<GenerateContentResponse, ModelTurn> | undefined;
    try {
      while (!(step = await chunks.next()).done) yield { type: 'chunk', value: step.value };
    } finally {
      if (!step?.done) await chunks.return(undefined as never);
    }
    this.#contextForModel.push(...step.value.notes);
    return { ...step.value, isSilent: !received.filter(isRecord).some(saysSomething) };
  }

  /** Says whether the message became part of the history. */
  #store(contents: Content[], message: readonly Part[], turn: ModelTurn): boolean {
    const answer = turn.response.candidates?.[0]?.content;
    const isAnswered = (answer?.parts?.length ?? 0) > 0;
    const mustKeep = message.some((part) => part.functionResponse);
    if (turn.blocked && !isAnswered && !mustKeep) return false;
    this.#history = answer && isAnswered ? [...contents, answer] : contents;
    return true;
  }
}

function withConfig(config: GenerateContentConfig): { config?: GenerateContentConfig } {
  return Object.keys(config).length > 0 ? { config } : {};
}

/** Aborts with the signal of the message, or of the host's configuration. */
function eitherOf(
  one: AbortSignal | undefined,
  other: AbortSignal | undefined,
): AbortSignal | undefined {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

function withSignal(
  request: GenerateContentParameters,
  abortSignal: AbortSignal,
): GenerateContentParameters {
  return { ...request, config: { ...request.config, abortSignal } };
}

async function* recordChunks(
  chunks: AsyncIterable<GenerateContentResponse>,
  record: GenerateContentResponse[],
): AsyncGenerator<GenerateContentResponse> {
  for await (const chunk of chunks) {
    record.push(chunk);
    yield chunk;
  }
}

/** Whether a chunk brings anything of an answer, or a reason why there is none. */
function saysSomething(chunk: GenerateContentResponse): boolean {
  if (chunk.promptFeedback?.blockReason) return true;
  return candidatesOf(chunk).some((candidate) => {
    const { finishReason } = candidate;
    if (finishReason !== undefined && finishReason !== 'STOP') return true;
    return partsOf(candidate.content).some((part) =>
      isAnswerText(part) ? part.text.trim() !== '' : !part?.thought,
    );
  });
}
