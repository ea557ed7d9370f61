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
  type CallSession,
} from '../protocol/types.js';
import { askOf } from '../prompts/gemini.js';
import { sessionIdOf } from '../../middleware/translator.js';
import { errorMessage } from '../util/errorMessage.js';
import { notify } from '../util/notify.js';
import { ToolErrorType, type Tool, type ToolResult } from '../tools/tools.js';
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
import { decisionOf, errorResult, type Decision } from '../context.js';
import type { EventVerdict } from '../core/eventVerdict.js';
import { allowedNames } from '../protocol/allowedTools.js';
import { asHookContext, toParts } from '../protocol/llmContent.js';
import { answerText, functionCallsOf } from '../protocol/response.js';
import { subagentTool, type Subagent } from './subagents.js';
import { Transcript } from './transcript.js';

export interface AgentOptions {
  readonly config: Config;
  /** The SDK: `new GoogleGenAI({ … }).models`. */
  readonly models: Pick<Models, 'generateContentStream'>;
  /** Name of the model, such as `gemini-2.5-flash`. */
  readonly model: string;
  readonly prompt: string;
  readonly tools?: readonly Tool[];
  /** Kinds of sub-agents that the model may start, each with a session and a history of its own. Default: none. */
  readonly subagents?: readonly Subagent[];
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
  subagents: true,
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
 * @throws TypeError for an option that does not exist, without a prompt, and for a tool of the name of the one that
 *   starts sub-agents
 * @throws AgentError when the model fails, the signal aborts, or `maxTurns` is reached
 */
export async function runAgent(options: AgentOptions): Promise<AgentResult> {
  requireKnown('runAgent()', options, OPTIONS);
  if (typeof options.prompt !== 'string' || options.prompt.trim() === '') {
    throw new TypeError('runAgent() needs a prompt: a text that says what is to be done');
  }
  return new AgentRun(options).run();
}

/** Makes what a model calls run as another agent; of an agent itself, `undefined`. */
interface Identity {
  readonly agentId: string;
  readonly agentType: string;
  readonly session: CallSession & { readonly sessionId: string };
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
  /** Whether it was a block that ended this agent, which ends no other one. */
  #isRefused = false;
  /** What hooks in a sub-agent have stopped, this agent does not go on with. */
  #stoppedBelow: Decision | null = null;
  readonly #identity: Identity | undefined;
  /** When async hooks of sub-agents that have ended are gone, too. */
  readonly #endings: Promise<void>[] = [];

  /** @param identity of a sub-agent */
  constructor(options: AgentOptions, identity?: Identity) {
    this.#options = options;
    this.#identity = identity;
    const { config, models, model, systemInstruction } = options;
    const tools = this.#tools();
    const session = identity?.session;
    const declarations = tools.map((tool) => tool.declaration);
    const generationConfig: GenerateContentConfig = {
      ...(systemInstruction && { systemInstruction }),
      ...(declarations.length > 0 && { tools: [{ functionDeclarations: declarations }] }),
    };
    this.#compressAtTokens = options.compressAtTokens ?? 700_000;
    this.#hooks = new AgentHooks(config, (event) => this.#tell(event), session);
    config.offerModel(askOf(models, model));
    this.#chat = new GeminiChat({ config, models, model, generationConfig });
    this.#scheduler = new CoreToolScheduler({
      config,
      tools,
      onStatus: (call) => this.#tellCall(call),
      onHooks: this.#hooks.observe,
      onApproval: this.#hooks.observeApproval,
      session,
    });
  }

  #tools(): readonly Tool[] {
    const { tools = [], subagents = [] } = this.#options;
    if (subagents.length === 0) return tools;
    const task = subagentTool(subagents, (...asked) => this.#runSubagent(...asked));
    if (!tools.some(({ name }) => name === task.name)) return [...tools, task];
    throw new TypeError(
      `runAgent(): "${task.name}" starts sub-agents; give your tool another name`,
    );
  }

  get #sessionId(): string {
    return this.#identity?.session.sessionId ?? sessionIdOf(this.#options.config);
  }

  run(): Promise<AgentResult> {
    const session = this.#sessionId;
    const facts = () => ({ name: session, input: this.#options.prompt, session });
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
      await Promise.all([this.#hooks.end(), ...this.#endings]);
      this.#transcript?.close();
    }
    return this.#result();
  }

  async #work(): Promise<void> {
    const { prompt, signal, maxStopHookRetries = 3 } = this.#options;
    let notes = await this.#begin();
    let message = [prompt, ...notes];
    if (!this.#stopped) this.#transcript?.addMessage(prompt);
    for (let retries = 0; !this.#stopped; retries++) {
      this.#noteDown(notes);
      await this.#converse(message.map((text) => ({ text })));
      if (this.#stopped) return;
      const { stopped, objection, ...after } = await this.#end(retries > 0);
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
        this.#isRefused = true;
        return;
      }
      message = notes = [asHookContext(objection.reason), ...after.notes];
    }
  }

  /** @returns what the model is to read with the prompt */
  async #begin(): Promise<readonly string[]> {
    const { prompt, signal } = this.#options;
    const { SessionStart, BeforeAgent, SubagentStart } = HookEventName;
    const fire = this.#hooks.fire.bind(this.#hooks);
    const source = SessionStartSource.Startup;
    const start = this.#identity ? NOTHING_SAID : await fire(SessionStart, { source }, signal);
    this.#stopped = start.stopped;
    if (start.stopped) return [];
    const before = this.#identity
      ? await fire(SubagentStart, { ...agentOf(this.#identity), prompt }, signal)
      : await fire(BeforeAgent, { prompt }, signal);
    this.#stopped = before.stopped ?? before.objection;
    this.#isRefused = !before.stopped && before.objection !== null;
    return [...start.notes, ...before.notes];
  }

  /** The model has given its final answer. */
  #end(stopHookActive: boolean): Promise<EventVerdict> {
    const { prompt, signal } = this.#options;
    const { AfterAgent, SubagentStop } = HookEventName;
    const payload = { prompt, promptResponse: this.#answer, stopHookActive };
    if (!this.#identity) return this.#hooks.fire(AfterAgent, payload, signal);
    return this.#hooks.fire(SubagentStop, { ...agentOf(this.#identity), ...payload }, signal);
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
    const notes = await this.#compressWhenLong();
    if (this.#stopped) return undefined;
    const told = notes.map((text) => ({ text }));
    const turn = await this.#askModel(told.length > 0 ? [...toParts(message), ...told] : message);
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

  /** @returns what the model is to read with its next message */
  async #compressWhenLong(): Promise<readonly string[]> {
    const { signal } = this.#options;
    if (this.#promptTokens < this.#compressAtTokens) return [];
    const asked = { trigger: PreCompressTrigger.Auto };
    const fired = await this.#hooks.fire(HookEventName.PreCompress, asked, signal);
    this.#stopped = fired.stopped;
    if (fired.stopped || fired.objection) return [];
    const { observe: onHooks, observeApproval: onApproval } = this.#hooks;
    const options = { signal, onHooks, onApproval, session: this.#identity?.session };
    const before = this.#chat.getHistory();
    const turn = await this.#chat.compressHistory(fired.notes, options);
    this.#promptTokens = 0;
    if (!turn) return [];
    // Without a summary the next request is as long again, and would be compressed in vain before each turn.
    if (this.#chat.getHistory() === before) this.#compressAtTokens *= 2;
    this.#record(turn);
    this.#noteDown(turn.notes);
    const history = this.#chat.getHistory();
    const [part] = history === before ? [] : (history[0]?.parts ?? []);
    this.#stopped = decisionOf(turn.verdict, 'stop') ?? null;
    return part?.text && !this.#stopped ? this.#tellSummary(part.text) : [];
  }

  async #tellSummary(summary: string): Promise<readonly string[]> {
    this.#transcript?.addMessage(summary, 'isCompactSummary');
    const done = { trigger: PreCompressTrigger.Auto, summary };
    const { PostCompress } = HookEventName;
    const { stopped, notes } = await this.#hooks.fire(PostCompress, done, this.#options.signal);
    this.#stopped = stopped;
    this.#noteDown(notes);
    return notes;
  }

  async #askModel(message: PartListUnion): Promise<ModelTurn> {
    const { signal } = this.#options;
    const { observe: onHooks, observeApproval: onApproval } = this.#hooks;
    const options = { signal, onHooks, onApproval, session: this.#identity?.session };
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
    for (const key of USAGE) {
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
    const { stopped } = completed.find((call) => call.stopped) ?? {};
    this.#stopped = stopped ?? this.#stoppedBelow;
    for (const { notes = [] } of completed) this.#noteDown(notes);
    return completed.flatMap(toFunctionResponse);
  }

  /** Runs another agent for a call of this one. What hooks there stop, stops this one as well. */
  async #runSubagent(
    { name: agentType, description: _description, ...own }: Subagent,
    prompt: string,
    signal: AbortSignal | undefined,
  ): Promise<ToolResult> {
    const { subagents: _subagents, ...options } = this.#options;
    const ids = { agentId: randomUUID(), agentType };
    const session = {
      ...ids,
      sessionId: randomUUID(),
      agent: agentType,
      parentSessionId: this.#sessionId,
    };
    const onEvent = (event: AgentEvent) => this.#hearSubagent(event);
    const subagent = new AgentRun(
      { ...options, ...own, prompt, signal, onEvent },
      { ...ids, session },
    );
    try {
      return await subagent.#answerCall();
    } finally {
      this.#endings.push(subagent.#hooks.end());
      if (!subagent.#isRefused) this.#stoppedBelow ??= subagent.#stopped;
      for (const key of USAGE) this.#usage[key] += subagent.#usage[key];
    }
  }

  /** As a sub-agent: what the model of the other one reads. */
  async #answerCall(): Promise<ToolResult> {
    await this.#work();
    const { reason } = this.#stopped ?? {};
    if (reason === undefined) return { llmContent: this.#answer, returnDisplay: this.#response };
    const { Blocked, StopExecution } = ToolErrorType;
    return errorResult(this.#isRefused ? Blocked : StopExecution, reason);
  }

  #hearSubagent(event: AgentEvent): void {
    if (event.type === 'hook') {
      const { type: _type, ...record } = event;
      this.#hooks.records.push(record);
    }
    if (event.type === 'hook' || event.type === 'approval') this.#tell(event);
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

const USAGE = ['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount'] as const;

const NOTHING_SAID: EventVerdict = { stopped: null, objection: null, notes: [] };

function agentOf({ agentId, agentType }: Identity) {
  return { agentId, agentType };
}

function outcomeOf({ stopped, response }: AgentResult): SpanOutcome {
  return { ...verdictOf(stopped), output: response };
}
