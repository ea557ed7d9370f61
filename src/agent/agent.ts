import { requireKnown, type OptionNames } from '../util/requireKnown.js';
import { randomUUID } from 'node:crypto';
import type { FunctionCall, GenerateContentConfig, Models, PartListUnion } from '@google/genai';
import type { Config } from '../config/config.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
} from '../protocol/types.js';
import { sessionIdOf } from '../../middleware/translator.js';
import { errorMessage } from '../util/errorMessage.js';
import { notify } from '../util/notify.js';
import type { Tool } from '../tools/tools.js';
import { traced, type SpanOutcome } from '../trace/span.js';
import {
  describeModelCall,
  verdictOf,
  type AgentEvent,
  type AgentResult,
  type ModelCallRecord,
  type Usage,
} from './agentEvents.js';
import { AgentHooks } from './agentHooks.js';
import {
  CoreToolScheduler,
  toFunctionResponse,
  type CompletedToolCall,
  type ToolCallRecord,
} from '../core/coreToolScheduler.js';
import { GeminiChat, type ModelTurn } from '../core/geminiChat.js';
import { decisionOf } from '../context.js';
import { allowedNames } from '../protocol/allowedTools.js';
import { asHookContext } from '../protocol/llmContent.js';
import { answerText, functionCallsOf } from '../protocol/response.js';
import { Transcript } from './transcript.js';

export interface AgentOptions {
  readonly config: Config;
  /** The SDK: `new GoogleGenAI({ … }).models`. */
  readonly models: Pick<Models, 'generateContentStream'>;
  /** Name of the model, such as `gemini-2.5-flash`. */
  readonly model: string;
  readonly prompt: string;
  readonly tools?: readonly Tool[];
  /** Text that tells the model who it is and what it is to do. */
  readonly systemInstruction?: string;
  /** Model calls after which the agent gives up. Default 50. */
  readonly maxTurns?: number;
  /** How often AfterAgent hooks may send the agent back to work. Default 3. */
  readonly maxStopHookRetries?: number;
  /** Request tokens from which older history is summed up first. Default 700,000; doubled where no summary came. */
  readonly compressAtTokens?: number;
  /** Write what is said to `transcriptPath` of the `Config`, if set. Default `true`; `false` if the host does it. */
  readonly transcript?: boolean;
  readonly signal?: AbortSignal;
  /** Called with everything as it happens. */
  readonly onEvent?: (event: AgentEvent) => void;
}

const OPTIONS: OptionNames<AgentOptions> = {
  config: true,
  models: true,
  model: true,
  prompt: true,
  tools: true,
  systemInstruction: true,
  maxTurns: true,
  maxStopHookRetries: true,
  compressAtTokens: true,
  transcript: true,
  signal: true,
  onEvent: true,
};

/** The agent did not finish; `result` is what it had done until then. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  constructor(
    message: string,
    readonly result: AgentResult,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Runs an agent for one prompt: prompt → model → tool calls → model …, until the model answers with text alone, a
 * hook stops it, or `maxTurns` is reached. Every step passes its hooks.
 *
 * @throws TypeError for an option that does not exist, and without a prompt
 * @throws AgentError when the model fails, the signal aborts, or `maxTurns` is reached
 */
export async function runAgent(options: AgentOptions): Promise<AgentResult> {
  requireKnown('runAgent()', options, OPTIONS);
  if (typeof options.prompt !== 'string' || options.prompt.trim() === '') {
    throw new TypeError('runAgent() needs a prompt: a text that says what is to be done');
  }
  return new AgentRun(options).run();
}

class AgentRun {
  readonly #options: AgentOptions;
  readonly #hooks: AgentHooks;
  readonly #chat: GeminiChat;
  readonly #scheduler: CoreToolScheduler;
  readonly #toolCalls: CompletedToolCall[] = [];
  readonly #modelCalls: ModelCallRecord[] = [];
  readonly #usage: Usage = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
  #transcript: Transcript | undefined;
  #promptTokens = 0;
  #compressAtTokens: number;
  /** Also what a hook keeps from the user. */
  #answer = '';
  #response = '';
  #stopped: AgentResult['stopped'] = null;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { config, models, model, tools = [], systemInstruction } = options;
    const declarations = tools.map((tool) => tool.declaration);
    const generationConfig: GenerateContentConfig = {
      ...(systemInstruction && { systemInstruction }),
      ...(declarations.length > 0 && { tools: [{ functionDeclarations: declarations }] }),
    };
    this.#compressAtTokens = options.compressAtTokens ?? 700_000;
    this.#hooks = new AgentHooks(config, (event) => this.#tell(event));
    this.#chat = new GeminiChat({ config, models, model, generationConfig });
    this.#scheduler = new CoreToolScheduler({
      config,
      tools,
      onStatus: (call) => this.#tellCall(call),
      onHooks: this.#hooks.observe,
      onApproval: this.#hooks.observeApproval,
    });
  }

  get #sessionId(): string {
    return sessionIdOf(this.#options.config);
  }

  run(): Promise<AgentResult> {
    const facts = () => ({ name: this.#sessionId, input: this.#options.prompt });
    return traced('session', { facts, outcome: outcomeOf }, () => this.#run());
  }

  async #run(): Promise<AgentResult> {
    const { config, model, transcript = true } = this.#options;
    if (transcript) this.#transcript = new Transcript(config);
    this.#tell({ type: 'session', sessionId: this.#sessionId, model });
    try {
      await this.#work();
      if (this.#stopped) this.#tell({ type: 'stopped', ...this.#stopped });
      await this.#notify(
        this.#stopped ? `Stopped: ${this.#stopped.reason}` : 'The agent has finished',
      );
    } catch (error) {
      const message = errorMessage(error);
      await this.#notify(`The agent failed: ${message}`);
      throw new AgentError(message, this.#result(), { cause: error });
    } finally {
      await this.#hooks.fire(HookEventName.SessionEnd, { reason: SessionEndReason.Exit });
      await this.#hooks.end();
      this.#transcript?.close();
    }
    return this.#result();
  }

  async #work(): Promise<void> {
    const { prompt, signal, maxStopHookRetries = 3 } = this.#options;
    const { SessionStart, BeforeAgent, AfterAgent } = HookEventName;
    const source = SessionStartSource.Startup;
    const start = await this.#hooks.fire(SessionStart, { source }, signal);
    this.#stopped = start.stopped;
    if (this.#stopped) return;
    const before = await this.#hooks.fire(BeforeAgent, { prompt }, signal);
    this.#stopped = before.stopped ?? before.objection;

    let notes = [...start.notes, ...before.notes];
    let message = [prompt, ...notes];
    if (!this.#stopped) this.#transcript?.addMessage(prompt);
    for (let retries = 0; !this.#stopped; retries++) {
      this.#noteDown(notes);
      await this.#converse(message.map((text) => ({ text })));
      if (this.#stopped) return;
      const payload = { prompt, promptResponse: this.#answer, stopHookActive: retries > 0 };
      const { stopped, objection, ...after } = await this.#hooks.fire(AfterAgent, payload, signal);
      this.#stopped = stopped;
      if (stopped) return;
      if (!objection) {
        const woken = retries < maxStopHookRetries ? await this.#hooks.untilWoken(signal) : [];
        if (woken.length === 0) return;
        message = notes = [...woken, ...after.notes];
        continue;
      }
      if (retries >= maxStopHookRetries) {
        const reason = `Blocked, and maxStopHookRetries (${maxStopHookRetries}) is used up: ${objection.reason}`;
        this.#stopped = { ...objection, reason };
        return;
      }
      message = notes = [asHookContext(objection.reason), ...after.notes];
    }
  }

  #noteDown(notes: readonly string[]): void {
    for (const note of notes) this.#transcript?.addMessage(note, 'isMeta');
  }

  /** Until an answer asks for no more tools. */
  async #converse(message: PartListUnion): Promise<void> {
    const { maxTurns = 50 } = this.#options;
    let next: PartListUnion | undefined = message;
    while (next !== undefined && !this.#stopped) {
      if (this.#modelCalls.length >= maxTurns) {
        throw new Error(
          `The agent did not come to an end within ${maxTurns} model calls (maxTurns)`,
        );
      }
      const read: PartListUnion = next;
      const facts = () => ({ name: String(this.#modelCalls.length + 1), input: read });
      const outcome = () => verdictOf(this.#stopped);
      next = await traced('turn', { facts, outcome }, () => this.#takeTurn(read));
    }
  }

  /** @returns what the model is to read next */
  async #takeTurn(message: PartListUnion): Promise<PartListUnion | undefined> {
    await this.#compressWhenLong();
    if (this.#stopped) return undefined;
    const turn = await this.#askModel(message);
    this.#stopped = decisionOf(turn.verdict, 'stop') ?? null;
    // An id for each, so that events of one call can be told from those of another.
    const calls = functionCallsOf(turn.response).map((call) => ({
      ...call,
      id: call.id ?? randomUUID(),
    }));
    this.#transcript?.addAnswer(turn, calls);
    this.#noteDown(turn.notes);
    if (this.#stopped || calls.length === 0) return undefined;
    return this.#runTools(calls, turn);
  }

  async #compressWhenLong(): Promise<void> {
    const { signal } = this.#options;
    if (this.#promptTokens < this.#compressAtTokens) return;
    const asked = { trigger: PreCompressTrigger.Auto };
    const fired = await this.#hooks.fire(HookEventName.PreCompress, asked, signal);
    this.#stopped = fired.stopped;
    if (fired.stopped || fired.objection) return;
    const { observe: onHooks, observeApproval: onApproval } = this.#hooks;
    const options = { signal, onHooks, onApproval };
    const before = this.#chat.getHistory();
    const turn = await this.#chat.compressHistory(fired.notes, options);
    this.#promptTokens = 0;
    if (!turn) return;
    // Without a summary the next request is as long again, and would be compressed in vain before each turn.
    if (this.#chat.getHistory() === before) this.#compressAtTokens *= 2;
    this.#record(turn);
    this.#noteDown(turn.notes);
    const history = this.#chat.getHistory();
    const [summary] = history === before ? [] : (history[0]?.parts ?? []);
    if (summary?.text) this.#transcript?.addMessage(summary.text, 'isCompactSummary');
    this.#stopped = decisionOf(turn.verdict, 'stop') ?? null;
  }

  async #askModel(message: PartListUnion): Promise<ModelTurn> {
    const { signal } = this.#options;
    const { observe: onHooks, observeApproval: onApproval } = this.#hooks;
    const options = { signal, onHooks, onApproval };
    this.#hooks.restrictors = [];
    for await (const event of this.#chat.sendMessageStream(message, options)) {
      if (event.type === 'chunk') {
        const text = answerText(event.value);
        if (text) this.#tell({ type: 'text', text });
        continue;
      }
      const { turn } = event;
      this.#record(turn);
      if (event.type === 'retry') {
        this.#noteDown(turn.notes);
        continue;
      }
      this.#promptTokens = turn.response.usageMetadata?.promptTokenCount ?? this.#promptTokens;
      this.#answer = answerText(turn.response);
      this.#response = turn.suppressDisplay ? '' : this.#answer;
      return turn;
    }
    throw new Error('The chat ended without a response');
  }

  #record(turn: ModelTurn): void {
    const call = describeModelCall(turn);
    this.#modelCalls.push(call);
    this.#tell({ type: 'model', call });
    for (const key of Object.keys(this.#usage) as (keyof Usage)[]) {
      this.#usage[key] += turn.response.usageMetadata?.[key] ?? 0;
    }
  }

  async #runTools(calls: readonly FunctionCall[], turn: ModelTurn): Promise<PartListUnion> {
    const completed = await this.#scheduler.schedule(calls, {
      signal: this.#options.signal,
      allowedTools: allowedNames(turn.request),
      restrictedBy: this.#hooks.restrictors,
    });
    this.#toolCalls.push(...completed);
    this.#options.signal?.throwIfAborted();
    this.#stopped = completed.find((call) => call.stopped)?.stopped ?? null;
    return completed.flatMap(toFunctionResponse);
  }

  /** Nothing that these hooks say has an effect. */
  async #notify(message: string): Promise<void> {
    const { response, stopped, turns } = this.#result();
    const details = { response, stopped, turns };
    const notificationType = NotificationType.Idle;
    await this.#hooks.fire(HookEventName.Notification, { notificationType, message, details });
  }

  #tellCall(call: ToolCallRecord): void {
    if (call.result) this.#transcript?.addResult({ ...call, result: call.result });
    this.#tell({ type: 'tool', call });
  }

  #tell(event: AgentEvent): void {
    notify(this.#options.config.getDebugLogger(), this.#options.onEvent, event);
  }

  #result(): AgentResult {
    return {
      sessionId: this.#sessionId,
      response: this.#response,
      turns: this.#modelCalls.length,
      stopped: this.#stopped,
      toolCalls: this.#toolCalls,
      modelCalls: this.#modelCalls,
      hooks: this.#hooks.records,
      usage: this.#usage,
    };
  }
}

function outcomeOf({ stopped, response }: AgentResult): SpanOutcome {
  return { ...verdictOf(stopped), output: response };
}
