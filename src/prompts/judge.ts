import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { NOT_RUN, type CommandOutcome } from '../process/command/outcome.js';
import type { AskModel, ModelReply } from '../protocol/types.js';
import type { HookRun } from '../run/hookRun.js';
import { errorMessage } from '../util/errorMessage.js';
import { orUndefined } from '../util/paths.js';
import { openModel } from './gemini.js';
import { readJudgement } from './judgement.js';
import type { JudgeHost, PromptModel } from './promptModel.js';
import { newFence, writeQuestion, type Question } from './question.js';
import {
  MAX_REMEMBERED,
  reserveTokens,
  UseInMemory,
  type PromptUse,
  type SharedUse,
} from './promptUse.js';
import { UseInFiles } from './useInFiles.js';

const DEFAULT_TOKENS = 200_000;
const DEFAULT_SECONDS = 30;

/** Of an answer, with what a model thinks before it. */
const MAX_OUTPUT_TOKENS = 4_096;

/** Whether a model judges now: its own call has no judge. */
const judging = new AsyncLocalStorage<true>();

/** Has a model judge events, within a budget. The same question is asked once in a session. */
export class Judge {
  readonly #fence = newFence();
  readonly #use: PromptUse;
  #promptModel: PromptModel | undefined;
  #configured: Promise<AskModel> | undefined;

  /** @param shared what sessions have used so far, where that is known to others, too */
  constructor(
    private readonly host: JudgeHost,
    shared: SharedUse,
  ) {
    const isInFiles = host.getPromptMemory?.() === 'files';
    this.#use = shared.kept ??= isInFiles ? new UseInFiles() : new UseInMemory();
  }

  /** @returns what a command that says the same would have come to. Never rejects */
  async ask(run: HookRun, stdin: Uint8Array, signal?: AbortSignal): Promise<CommandOutcome> {
    const startedAt = performance.now();
    const { seconds = DEFAULT_SECONDS } = this.host.getPromptBudget?.() ?? {};
    const mostMs = Math.min(run.timeoutMs, seconds * 1000);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), mostMs);
    try {
      const both = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal;
      const stdout = await this.#judge(run, stdin, both);
      const read = { stdout, inputTaken: true, bytesRead: Buffer.byteLength(stdout) };
      return { ...NOT_RUN, ending: 'exit', exitCode: 0, ...read, durationMs: since(startedAt) };
    } catch (error) {
      const durationMs = since(startedAt);
      if (signal?.aborted) return { ...NOT_RUN, ending: 'aborted', durationMs };
      const isLate = deadline.signal.aborted;
      if (isLate && mostMs === run.timeoutMs) return { ...NOT_RUN, ending: 'timeout', durationMs };
      const why = isLate ? `it took longer than ${seconds} s (promptBudget)` : errorMessage(error);
      const what = new Error(`got no judgement of the model: ${why}`, { cause: error });
      return { ...NOT_RUN, ending: 'broken', durationMs, error: what };
    } finally {
      clearTimeout(timer);
    }
  }

  async #judge({ hook, event, input }: HookRun, stdin: Uint8Array, signal: AbortSignal) {
    if (judging.getStore()) throw new Error('its own call is not judged by a model');
    const question = writeQuestion(hook, event, stdin, this.#fence);
    this.#followSettings();
    // Sub-agents are of the session that has started them.
    const session = input.parent_session_id ?? input.session_id;
    const key = this.#keyOf(question);
    const known = this.#use.read(session).answers.get(key);
    if (known !== undefined) return readJudgement(known, event);
    const ask = await this.#model();
    const asked = { ...question, ...(hook.model !== undefined && { model: hook.model }) };
    const { text } = await this.#askWithin(ask, asked, session, signal);
    const judgement = readJudgement(text, event);
    // What was answered counts, whether it can be kept or not.
    if (text.length <= MAX_REMEMBERED)
      orUndefined(() => this.#use.note(session, { key, said: text }));
    return judgement;
  }

  async #askWithin(
    ask: AskModel,
    { key: _key, ...question }: Question & { readonly model?: string },
    session: string,
    signal: AbortSignal,
  ): Promise<ModelReply> {
    const characters = question.systemInstruction.length + question.prompt.length;
    const needs = { characters, answer: MAX_OUTPUT_TOKENS };
    const { tokens: most = DEFAULT_TOKENS } = this.host.getPromptBudget?.() ?? {};
    const reserved = reserveTokens(this.#use, session, most, needs);
    let used = reserved;
    try {
      const asking = { ...question, maxOutputTokens: MAX_OUTPUT_TOKENS, signal };
      const reply = judging.run(true, () => ask(asking));
      const { text, tokens } = await untilAborted(reply, signal);
      if (typeof text !== 'string') throw new Error('it answered no text');
      if (tokens !== undefined && tokens >= 0) used = tokens;
      return { text };
    } finally {
      orUndefined(() => this.#use.note(session, { tokens: used - reserved }));
    }
  }

  /** Settings may name another model by now. */
  #followSettings(): void {
    const promptModel = this.host.getPromptModel?.();
    if (isDeepStrictEqual(promptModel, this.#promptModel)) return;
    this.#promptModel = promptModel;
    this.#configured = undefined;
  }

  /** What one model has judged is no judgement of another. */
  #keyOf({ key }: Question): string {
    if (!this.#promptModel) return key;
    return createHash('sha256')
      .update(`${key}${JSON.stringify(this.#promptModel)}`)
      .digest('hex');
  }

  async #model(): Promise<AskModel> {
    if (!this.#promptModel) {
      const ofHost = this.host.getAskModel?.();
      if (ofHost) return ofHost;
      throw new Error('there is none: name one as "promptModel" in your settings');
    }
    const opening = (this.#configured ??= openModel(this.#promptModel));
    opening.catch(() => {
      if (this.#configured === opening) this.#configured = undefined;
    });
    return opening;
  }
}

/** A model that does not end when it is told to is left alone. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
