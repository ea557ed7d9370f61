import { isDeepStrictEqual } from 'node:util';
import { makeEmptySuccessResult } from '../../middleware/aggregator.js';
import type { FireHook } from '../../middleware/callerEffects.js';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { reasonOfVerdict } from '../dialects/reverse.js';
import type { Received, ReplyVerdict } from '../protocol/received.js';
import { events } from '../protocol/events.js';
import {
  processCommonHookOutputFields,
  type ProcessedHookResult,
  textInPlace,
} from '../protocol/hookOutput.js';
import { toParts } from '../protocol/llmContent.js';
import { HookEventName, type HookOutput, type HookPayload } from '../protocol/types.js';
import type { ToolResult } from '../tools/tools.js';
import { isRecord } from '../util/records.js';
import { openToolCall } from './coreToolHookTriggers.js';
import { decideReceived, distinct } from './decideReceived.js';

type BeforeTool = HookPayload<HookEventName.BeforeTool>;
type AfterTool = HookPayload<HookEventName.AfterTool>;

/** What hooks and middleware decided about a call before its tool, and the call where it goes on. */
export interface ReceivedCall {
  readonly verdict: ReplyVerdict;
  /**
   * To be called with the agent's event after the tool: the verdict of hooks and middleware about its result or
   * failure.
   */
  readonly finish?: (after: Received, options: CallOptions) => Promise<ReplyVerdict>;
  /** To be called where that event will not come. Never rejects. */
  readonly abandon?: () => Promise<void>;
}

/** Whether an agent is about to run a tool, and middleware of the `Config` stands around tools. */
export function opensCall(config: Config, { event, payload }: Received): boolean {
  const isCall = event === HookEventName.BeforeTool && !('isAsked' in payload);
  return isCall && config.registrations('tool').length > 0;
}

/**
 * A tool call of another agent, with the custom middleware of the tool stack around it. Hooks stand where they always
 * do; what they ask goes back to the agent, which asks its user.
 *
 * @param received the event before the tool
 * @throws Error where a middleware leaves the call without a result
 */
export async function openReceivedCall(
  config: Config,
  received: Received,
  options: CallOptions,
): Promise<ReceivedCall> {
  const { toolName, toolInput } = received.payload as BeforeTool;
  const hooks = new ReceivedHooks(config, received, options);
  const stack = config.makeToolStack(hooks.fire);
  const callOptions = { ...options, callId: received.identity.callId };
  const call = await openToolCall({ getToolStack: () => stack }, toolName, toolInput, callOptions);
  if ('refused' in call) return { verdict: { ...hooks.before, ...refusalOf(call.refused) } };
  const input = isDeepStrictEqual(call.input, toolInput) ? undefined : call.input;
  return {
    verdict: { ...hooks.before, input },
    finish: async (after, afterOptions) => {
      hooks.setAfterEvent(after, afterOptions);
      const given = resultOf(after);
      return hooks.verdictOn(given, await call.finish(given));
    },
    abandon: () => call.abandon(),
  };
}

/**
 * The hooks of a call that another process makes: they read the agent's own events. What they decided about the call
 * goes to its stages, and all that they said to the agent.
 */
class ReceivedHooks {
  before: ReplyVerdict = { kind: 'none' };
  #after: ReplyVerdict = { kind: 'none' };
  #afterEvent: { readonly received: Received; readonly options: CallOptions } | undefined;

  constructor(
    private readonly config: Config,
    private readonly received: Received,
    private readonly options: CallOptions,
  ) {}

  setAfterEvent(received: Received, options: CallOptions): void {
    this.#afterEvent = { received, options };
  }

  readonly fire: FireHook = (event, payload) =>
    event === HookEventName.BeforeTool
      ? this.#fireBefore(payload as BeforeTool)
      : this.#fireAfter(payload as AfterTool);

  async #fireBefore({ toolInput }: BeforeTool): Promise<ProcessedHookResult> {
    const { received, options } = this;
    const payload = { ...received.payload, toolInput };
    const verdict = await decideReceived(this.config, { ...received, payload }, options);
    this.before = joinVerdicts(this.before, verdict);
    return asFired(HookEventName.BeforeTool, verdict, {
      ...(verdict.kind === 'block' && { decision: 'deny', reason: reasonOfVerdict(verdict) }),
      ...(verdict.input && inputOf(toolInput, verdict.input)),
    });
  }

  async #fireAfter({ toolResponse }: AfterTool): Promise<ProcessedHookResult> {
    if (!this.#afterEvent) return asFired(HookEventName.AfterTool, this.#after);
    const { received, options } = this.#afterEvent;
    // Fields of the agent's result that middleware did not change stay.
    const told = received.payload as AfterTool;
    const { llmContent, returnDisplay, error } = toolResponse;
    const seen = {
      ...told.toolResponse,
      llmContent,
      returnDisplay,
      ...(isRecord(error) && { error }),
    };
    // Its arguments, too: somebody may have changed them on the way to the tool.
    const payload = { ...told, toolResponse: seen };
    const verdict = await decideReceived(this.config, { ...received, payload }, options);
    this.#after = verdict;
    const { output: toolOutput } = verdict;
    return asFired(HookEventName.AfterTool, verdict, toolOutput && { foreign: { toolOutput } });
  }

  /**
   * The verdict for the agent: text that was appended to the result becomes context; any other text replaces the
   * result.
   */
  verdictOn(given: ToolResult, ended: ToolResult): ReplyVerdict {
    const { stopReason } = ended;
    const before = textOf({ ...given, ...this.#after.output });
    const text = textOf(ended);
    const decided: ReplyVerdict = {
      ...this.#after,
      ...(stopReason !== undefined && { kind: 'stop', reason: stopReason }),
      isHidden: this.#after.isHidden === true || ended.suppressDisplay === true,
    };
    if (text === before) return decided;
    const added = text.startsWith(`${before}\n\n`) && text.slice(before.length).trim();
    if (added) return { ...decided, context: [...(decided.context ?? []), added] };
    return { ...decided, output: textInPlace(text, ended.error !== undefined) };
  }
}

/**
 * One verdict of what hooks said about the arguments as the model gave them, and then about those that a middleware
 * made of them. A question stays, whatever hooks say of the changed arguments, unless they refuse the call.
 */
function joinVerdicts(first: ReplyVerdict, second: ReplyVerdict): ReplyVerdict {
  const isAsked = first.kind === 'ask' && (second.kind === 'none' || second.kind === 'allow');
  return {
    ...second,
    ...(isAsked && { kind: 'ask', reason: first.reason }),
    context: distinct(first.context, second.context),
    forUser: distinct(first.forUser, second.forUser),
    isHidden: first.isHidden === true || second.isHidden === true,
    hasFailed: first.hasFailed === true || second.hasFailed === true,
  };
}

/** What the stages of the call apply of a verdict. */
function asFired(
  event: HookEventName,
  verdict: ReplyVerdict,
  effects: HookOutput = {},
): ProcessedHookResult {
  const stop = verdict.kind === 'stop' && { continue: false, stopReason: reasonOfVerdict(verdict) };
  const finalOutput = new events[event].Output({ ...effects, ...stop });
  return processCommonHookOutputFields({ ...makeEmptySuccessResult(), finalOutput });
}

/** The arguments in place of those that were given. */
function inputOf(given: object, input: Readonly<Record<string, unknown>>): HookOutput {
  const droppedArguments = Object.keys(given).filter((name) => !Object.hasOwn(input, name));
  return { hookSpecificOutput: { tool_input: input }, foreign: { droppedArguments } };
}

function refusalOf(refused: ToolResult): ReplyVerdict {
  const { stopReason } = refused;
  if (stopReason !== undefined) return { kind: 'stop', reason: stopReason, input: undefined };
  return { kind: 'block', reason: textOf(refused) || undefined, input: undefined };
}

function resultOf({ payload }: Received): ToolResult {
  const { toolResponse } = payload as AfterTool;
  const { llmContent, returnDisplay, metadata, error } = toolResponse;
  const message = isRecord(error) && error['message'];
  const type = isRecord(error) && error['type'];
  return {
    llmContent: typeof llmContent === 'string' ? llmContent : textOf({ llmContent }),
    returnDisplay: typeof returnDisplay === 'string' ? returnDisplay : '',
    ...(isRecord(metadata) && { metadata }),
    ...(typeof message === 'string' && {
      error: { message, ...(typeof type === 'string' && { type }) },
    }),
  };
}

function textOf({ llmContent }: { readonly llmContent?: unknown }): string {
  return toParts(llmContent as ToolResult['llmContent'])
    .map((part) => part.text ?? JSON.stringify(part))
    .join('');
}
