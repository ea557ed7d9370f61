import type { FunctionCall, GenerateContentConfig, Models, PartListUnion } from '@google/genai';
import type { Config } from '../config/config.js';
import type { HookObserver } from '../context.js';
import { fireHook } from '../hooks/hookEventHandler.js';
import {
  HookEventName,
  SessionEndReason,
  SessionStartSource,
  type HookPayload,
} from '../hooks/types.js';
import type { Tool } from '../tools/tools.js';
import {
  describeHook,
  type AgentEvent,
  type AgentResult,
  type HookRecord,
  type ModelCallRecord,
  type Usage,
} from './agentEvents.js';
import {
  CoreToolScheduler,
  toFunctionResponse,
  type CompletedToolCall,
} from './coreToolScheduler.js';
import { GeminiChat, type ModelTurn } from './geminiChat.js';
import { asSystemNote } from './llmContent.js';
import { isAnswerText } from './response.js';

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
  readonly signal?: AbortSignal;
  /** Is told of everything as it happens. */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** The agent could not come to its end; `result` is what there was until then. */
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
 * @throws AgentError when the model fails, the signal aborts, or `maxTurns` is reached
 */
export async function runAgent(options: AgentOptions): Promise<AgentResult> {
  return new AgentRun(options).run();
}

type Stop = NonNullable<AgentResult['stopped']>;

class AgentRun {
  readonly #options: AgentOptions;
  readonly #chat: GeminiChat;
  readonly #scheduler: CoreToolScheduler;
  readonly #toolCalls: CompletedToolCall[] = [];
  readonly #modelCalls: ModelCallRecord[] = [];
  readonly #hooks: HookRecord[] = [];
  readonly #usage: Usage = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
  #response = '';
  #stopped: Stop | null = null;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { config, models, model, tools = [], systemInstruction, onEvent } = options;
    const declarations = tools.map((tool) => tool.declaration);
    const generationConfig: GenerateContentConfig = {
      ...(systemInstruction && { systemInstruction }),
      ...(declarations.length > 0 && { tools: [{ functionDeclarations: declarations }] }),
    };
    this.#chat = new GeminiChat({ config, models, model, generationConfig });
    this.#scheduler = new CoreToolScheduler({
      config,
      tools,
      onStatus: (call) => onEvent?.({ type: 'tool', call }),
      onHooks: this.#onHooks,
    });
  }

  async run(): Promise<AgentResult> {
    const { config, model, prompt, onEvent } = this.#options;
    onEvent?.({ type: 'session', sessionId: config.getSessionId(), model });
    try {
      const context = [
        ...(await this.#fire(HookEventName.SessionStart, { source: SessionStartSource.Startup })),
        ...(this.#stopped ? [] : await this.#fire(HookEventName.BeforeAgent, { prompt })),
      ];
      if (!this.#stopped) await this.#work([prompt, ...context].map((text) => ({ text })));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new AgentError(message, this.#result(), { cause: error });
    } finally {
      await this.#fire(HookEventName.SessionEnd, { reason: SessionEndReason.Exit });
    }
    return this.#result();
  }

  async #work(message: PartListUnion): Promise<void> {
    const { prompt, maxStopHookRetries = 3 } = this.#options;
    let next: PartListUnion = message;
    for (let retries = 0; ; retries++) {
      await this.#converse(next);
      if (this.#stopped) return;
      const payload = { prompt, promptResponse: this.#response, stopHookActive: retries > 0 };
      const objection = await this.#fireAfterAgent(payload);
      if (objection === undefined || retries >= maxStopHookRetries) return;
      next = objection;
    }
  }

  /** From a message to the answer that asks for no more tools. */
  async #converse(message: PartListUnion): Promise<void> {
    const { maxTurns = 50 } = this.#options;
    let next = message;
    while (!this.#stopped) {
      if (this.#modelCalls.length >= maxTurns) {
        throw new Error(
          `The agent did not come to an end within ${maxTurns} model calls (maxTurns)`,
        );
      }
      const turn = await this.#askModel(next);
      this.#stopped = stopOf(turn);
      const calls = functionCallsOf(turn);
      if (this.#stopped || calls.length === 0) return;
      next = await this.#runTools(calls, turn);
    }
  }

  async #askModel(message: PartListUnion): Promise<ModelTurn> {
    const { signal, onEvent } = this.#options;
    for await (const event of this.#chat.sendMessageStream(message, {
      signal,
      onHooks: this.#onHooks,
    })) {
      if (event.type === 'chunk') {
        const text = textOf(event.value);
        if (text) onEvent?.({ type: 'text', text });
        continue;
      }
      const { turn } = event;
      const call = describeModelCall(turn);
      this.#modelCalls.push(call);
      onEvent?.({ type: 'model', call });
      this.#addUsage(turn);
      if (event.type === 'retry') continue;
      this.#response = turn.suppressDisplay ? '' : textOf(turn.response);
      return turn;
    }
    throw new Error('The chat ended without a response');
  }

  async #runTools(calls: readonly FunctionCall[], turn: ModelTurn): Promise<PartListUnion> {
    const completed = await this.#scheduler.schedule(calls, {
      signal: this.#options.signal,
      allowedTools: allowedToolsOf(turn),
    });
    this.#toolCalls.push(...completed);
    this.#options.signal?.throwIfAborted();
    this.#stopped = completed.find((call) => call.stopped)?.stopped ?? null;
    return completed.flatMap(toFunctionResponse);
  }

  /** Fires an event of the agent itself; a block or a stop ends the agent. Returns what the model is to read. */
  async #fire<E extends HookEventName>(event: E, payload: HookPayload<E>): Promise<string[]> {
    const fired = await this.#fireQuietly(event, payload);
    const output = fired?.aggregated.finalOutput;
    if (!fired || !output) return [];
    const isDenied = event === HookEventName.BeforeAgent && output.isBlockingDecision();
    if (event !== HookEventName.SessionEnd && (fired.shouldStop || isDenied)) {
      this.#stopped = { event, reason: output.getEffectiveReason() };
    }
    const notes = [
      output.getAdditionalContext(),
      fired.systemMessage && asSystemNote(fired.systemMessage),
    ];
    return notes.filter((note): note is string => Boolean(note));
  }

  /** Why the agent is to go on working, where a hook says so. */
  async #fireAfterAgent(
    payload: HookPayload<HookEventName.AfterAgent>,
  ): Promise<string | undefined> {
    const fired = await this.#fireQuietly(HookEventName.AfterAgent, payload);
    const output = fired?.aggregated.finalOutput;
    if (fired?.shouldStop && fired.stopReason !== undefined) {
      this.#stopped = { event: HookEventName.AfterAgent, reason: fired.stopReason };
    }
    return output?.isBlockingDecision() && !this.#stopped ? output.getEffectiveReason() : undefined;
  }

  async #fireQuietly<E extends HookEventName>(event: E, payload: HookPayload<E>) {
    const { config } = this.#options;
    // Also after an abort, the end of a session is told.
    const signal = event === HookEventName.SessionEnd ? undefined : this.#options.signal;
    const fired = await fireHook(config, event, payload, { signal, onHooks: this.#onHooks });
    signal?.throwIfAborted();
    return fired;
  }

  readonly #onHooks: HookObserver = (_event, aggregated) => {
    for (const result of aggregated.results) {
      const record = describeHook(result);
      this.#hooks.push(record);
      this.#options.onEvent?.({ type: 'hook', ...record });
    }
  };

  #addUsage({ response }: ModelTurn): void {
    for (const key of Object.keys(this.#usage) as (keyof Usage)[]) {
      this.#usage[key] += response.usageMetadata?.[key] ?? 0;
    }
  }

  #result(): AgentResult {
    return {
      sessionId: this.#options.config.getSessionId(),
      response: this.#response,
      turns: this.#modelCalls.length,
      stopped: this.#stopped,
      toolCalls: this.#toolCalls,
      modelCalls: this.#modelCalls,
      hooks: this.#hooks,
      usage: this.#usage,
    };
  }
}

function describeModelCall({ blocked, synthetic, request, verdict }: ModelTurn): ModelCallRecord {
  const blockReason = verdict.kind === 'block' ? verdict.reason : undefined;
  return { blocked, synthetic, request, ...(blockReason !== undefined && { blockReason }) };
}

function stopOf({ verdict }: ModelTurn): Stop | null {
  return verdict.kind === 'stop' ? { event: verdict.event, reason: verdict.reason } : null;
}

/** The tools that the request left to the model; `undefined` without a restriction. */
function allowedToolsOf({ request }: ModelTurn): readonly string[] | undefined {
  const { mode, allowedFunctionNames } = request.config?.toolConfig?.functionCallingConfig ?? {};
  return mode === 'NONE' ? [] : allowedFunctionNames;
}

function functionCallsOf({ response }: ModelTurn): FunctionCall[] {
  const parts = response.candidates?.[0]?.content?.parts ?? [];
  return parts.flatMap((part) => part.functionCall ?? []);
}

function textOf({ candidates }: ModelTurn['response']): string {
  const parts = candidates?.[0]?.content?.parts ?? [];
  return parts
    .filter(isAnswerText)
    .map((part) => part.text)
    .join('');
}
