// Base class and types are those of the host; where it is not installed, nobody can use a plugin of it.
// @ts-ignore
import { BasePlugin, isAgentTool, version } from '@google/adk';
// @ts-ignore
import type { Context, InvocationContext, LlmRequest, LlmResponse } from '@google/adk';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { isLookedAt } from '../core/isLookedAt.js';
import type { EventVerdict } from '../core/eventVerdict.js';
import { openToolCall } from '../core/coreToolHookTriggers.js';
import { notAllowed } from '../core/coreToolScheduler.js';
import type { ModelTurn } from '../core/modelCall.js';
import { allowedNames } from '../protocol/allowedTools.js';
import { functionCallsOf } from '../protocol/response.js';
import type { CallSession } from '../protocol/types.js';
import { requireKnown } from '../util/requireKnown.js';
import { isLeft, stopAnswer, toAnswer, withoutWords } from './adk/answer.js';
import {
  applyRequest,
  replaceArguments,
  toChangedAnswer,
  toModelRequest,
  toModelResponse,
  toToolAnswer,
  toToolResult,
  uncoveredOf,
} from './adk/translate.js';
import {
  endAgent,
  fireForFurtherAnswer,
  openModelCall,
  orAborted,
  Runs,
  type Answer,
  type Run,
  type ToolEvent,
} from './adk/runs.js';
import { beginSubagent, endSubagent, failSubagent, tellSummary } from './adk/subagents.js';
import { Batches, endedCalls } from './batch.js';
import type { Maybe } from './mark.js';
import {
  ADAPTER_OPTIONS,
  isHeld,
  requireVersion,
  tellUncovered,
  textOf,
  type AdapterOptions,
} from './shared.js';

export type { HooksMark } from './mark.js';

/** What the plugin takes besides the `Config`. What a session leaves out is the id of the host's, and the name of its agent. */
export type HooksPluginOptions = AdapterOptions<
  CallSession | ((context: InvocationContext) => CallSession)
>;

interface ModelEvent {
  readonly callbackContext: Context;
}

interface RunEvent {
  readonly invocationContext: InvocationContext;
}

/** Puts the hooks of a `Config` around all tools and model calls of a runner. */
export class HooksPlugin extends BasePlugin {
  readonly #config: Config;
  readonly #options: HooksPluginOptions;
  readonly #runs = new Runs();
  readonly #batches: Batches;
  readonly #sessions = new WeakMap<InvocationContext, CallSession>();

  /** @throws Error for another version of ADK; TypeError for an option that does not exist */
  constructor(config: Config, options: HooksPluginOptions = {}) {
    super('hookstack');
    requireVersion('hookstack/adk', '@google/adk', version, ['2']);
    requireKnown('new HooksPlugin()', options, ADAPTER_OPTIONS);
    this.#config = config;
    this.#batches = new Batches(config);
    this.#options = options;
  }

  /** Live calls of the model pass no plugin; their tools do. */
  async beforeRunCallback({ invocationContext }: RunEvent): Promise<undefined> {
    const isLive = invocationContext.liveRequestQueue !== undefined;
    if (isLive) this.#tell('ADK asks no plugin about model calls of runLive');
  }

  async beforeToolCallback(event: ToolEvent): Promise<Answer> {
    const { tool, toolArgs, toolContext } = event;
    const { invocationContext: context, functionCallId: callId } = toolContext;
    const run = this.#runs.of(context);
    if (run.stopReason !== undefined) return { error: run.stopReason };
    const refusal = notAllowed(tool.name, run.asked.get(context)?.allowed);
    if (refusal) return toToolAnswer(refusal);
    const { cwd } = this.#sessionOf(context);
    const seen = { toolName: tool.name, toolInput: toolArgs, cwd };
    const options = this.#optionsOf(context, callId);
    if (!isLookedAt(this.#config, seen)) return this.#beginAgent(event);
    const call = await openToolCall(this.#config, tool.name, { ...toolArgs }, options);
    if ('refused' in call) {
      run.stopReason ??= call.refused.stopReason;
      return toToolAnswer(call.refused);
    }
    replaceArguments(toolArgs, call.input);
    run.tools.set(toolContext, call);
    const refused = await this.#beginAgent(event);
    if (refused) await this.#endTool(event, refused);
    return refused;
  }

  /** @returns why an agent that is a tool must not begin, as the model reads it */
  async #beginAgent(event: ToolEvent): Promise<Answer> {
    if (!isAgentTool(event.tool)) return undefined;
    const { invocationContext: context, functionCallId: callId } = event.toolContext;
    const options = this.#optionsOf(context, callId);
    return beginSubagent(this.#config, this.#runs.of(context), event, options);
  }

  /** Also called where no tool has run: then no call is open. */
  async afterToolCallback(event: ToolEvent & { result: unknown }): Promise<Answer> {
    const run = this.#runs.of(event.toolContext.invocationContext);
    const replaced = await endSubagent(run, event.toolContext, event.result);
    return (await this.#endTool(event, replaced ?? event.result)) ?? replaced;
  }

  async #endTool({ tool, toolContext }: ToolEvent, result: unknown): Promise<Answer> {
    const { run, call } = this.#takeTool(toolContext);
    if (!call) return undefined;
    if (tool.isLongRunning && (result === null || result === undefined)) {
      await call.abandon();
      return undefined;
    }
    const given = toToolResult(result);
    const ended = await orAborted(toolContext.invocationContext, call.finish(given));
    if (!ended) return undefined;
    run.stopReason ??= ended.stopReason;
    return toChangedAnswer(ended, given, result);
  }

  async onToolErrorCallback(event: ToolEvent & { error: Error }): Promise<Answer> {
    const { run, call } = this.#takeTool(event.toolContext);
    await failSubagent(run, event.toolContext, event.error);
    if (!call) return undefined;
    // What no middleware has caught is the host's to tell the model.
    const ended = await call.fail(event.error).catch(() => undefined);
    run.stopReason ??= ended?.stopReason;
    return ended && (ended.error ? toToolAnswer(ended) : { result: textOf(ended) });
  }

  async beforeModelCallback(
    event: ModelEvent & { llmRequest: LlmRequest },
  ): Promise<Maybe<LlmResponse>> {
    const { callbackContext, llmRequest } = event;
    const { invocationContext: context } = callbackContext;
    const run = this.#runs.of(context);
    await this.#tellBatch(run, callbackContext, llmRequest);
    if (run.stopReason !== undefined) {
      const isTold = run.isStopTold;
      endAgent(run, callbackContext);
      return isTold ? {} : stopAnswer(run.stopReason);
    }
    for (const why of uncoveredOf(llmRequest, context, isAgentTool)) this.#tell(why);
    const notes = run.notes.splice(0);
    const opening = openModelCall(
      this.#config,
      toModelRequest(llmRequest, notes),
      this.#optionsOf(context),
    );
    const call = await orAborted(context, opening);
    if (!call) return undefined;
    if ('turn' in call) {
      this.#heed(call.turn, callbackContext);
      return toAnswer(call.turn);
    }
    const allowed = allowedNames(call.request)?.filter((name) =>
      Object.hasOwn(llmRequest.toolsDict, name),
    );
    applyRequest(llmRequest, call.request, allowed);
    run.asked.set(context, { call, allowed, isChanged: false });
    run.open.add(call);
    return undefined;
  }

  async afterModelCallback(
    event: ModelEvent & { llmResponse: LlmResponse },
  ): Promise<Maybe<LlmResponse>> {
    const { callbackContext, llmResponse } = event;
    if (llmResponse.partial) return isHeld(this.#config) ? {} : undefined;
    const { invocationContext: context } = callbackContext;
    const run = this.#runs.of(context);
    const asked = run.asked.get(context);
    if (!asked) return undefined;
    const isAwaited = isHeld(this.#config) && run.open.has(asked.call);
    // What is no answer but counts tokens comes last, and is not for hooks.
    if (!llmResponse.content && !llmResponse.errorCode) {
      return asked.isChanged || isAwaited ? withoutWords(llmResponse) : undefined;
    }
    const isFirst = run.open.delete(asked.call);
    const answer = toModelResponse(llmResponse);
    // The host may give one answer in several pieces, such as text and calls of tools: hooks see each.
    const seeing = isFirst
      ? asked.call.finish(answer)
      : fireForFurtherAnswer(this.#config, asked.call.request, answer, this.#optionsOf(context));
    const turn = await orAborted(context, seeing);
    if (!turn) return undefined;
    this.#heed(turn, callbackContext);
    asked.isChanged ||= !isLeft(turn, llmResponse);
    return toAnswer(turn, llmResponse, asked.isChanged);
  }

  async onModelErrorCallback(event: ModelEvent & { error: Error }): Promise<undefined> {
    const { invocationContext: context } = event.callbackContext;
    const run = this.#runs.of(context);
    const call = run.asked.get(context)?.call;
    if (call && run.open.delete(call)) await call.fail(event.error);
  }

  /** Not yet stable in the host. */
  async afterContextCompaction(event: RunEvent & { trigger: string }): Promise<void> {
    const { invocationContext: context, trigger } = event;
    const telling = tellSummary(this.#config, context, trigger, this.#optionsOf(context));
    this.#takeVerdict(this.#runs.of(context), await orAborted(context, telling));
  }

  async #tellBatch(run: Run, { invocationContext: context }: Context, request: LlmRequest) {
    if (run.stopReason !== undefined) return;
    const find = () => endedCalls(request.contents);
    const ending = this.#batches.end(request, find, this.#optionsOf(context));
    if (ending) this.#takeVerdict(run, await orAborted(context, ending));
  }

  #takeVerdict(run: Run, verdict: Maybe<EventVerdict>): void {
    run.notes.push(...(verdict?.notes ?? []));
    run.stopReason ??= verdict?.stopped?.reason;
  }

  async afterRunCallback({ invocationContext }: RunEvent): Promise<void> {
    await this.#runs.end(invocationContext);
  }

  #heed({ verdict, notes, response }: ModelTurn, callbackContext: Context): void {
    const run = this.#runs.of(callbackContext.invocationContext);
    run.notes.push(...notes);
    if (verdict.kind !== 'stop') return;
    run.stopReason ??= verdict.reason;
    // Where it wants tools, they are refused first, so that each call has an answer.
    if (functionCallsOf(response).length === 0) endAgent(run, callbackContext);
  }

  #takeTool(toolContext: Context) {
    const run = this.#runs.of(toolContext.invocationContext);
    const call = run.tools.get(toolContext);
    run.tools.delete(toolContext);
    return { run, call };
  }

  #tell(why: string): void {
    const message = `hookstack/adk: hooks do not see all that this agent does: ${why}. What is covered is in docs/hosts/adk.md`;
    tellUncovered(this.#config, message, this.#options.strict);
  }

  #optionsOf(context: InvocationContext, callId?: string): CallOptions {
    const { onHooks, onApproval } = this.#options;
    const { abortSignal: signal } = context;
    return { signal, onHooks, onApproval, callId, session: this.#sessionOf(context) };
  }

  #sessionOf(context: InvocationContext): CallSession {
    const known = this.#sessions.get(context);
    if (known) return known;
    const { session: wanted } = this.#options;
    const given = typeof wanted === 'function' ? wanted(context) : wanted;
    const agent: string | undefined = context.agent?.name;
    const session = { sessionId: context.session.id, ...(agent && { agent }), ...given };
    this.#sessions.set(context, session);
    return session;
  }
}
