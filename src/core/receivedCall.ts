import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.js';
import { ALLOW, type CallOptions, type ToolCall } from '../context.js';
import { reasonOf } from '../dialects/replyParts.js';
import type { Received, ReplyVerdict } from '../dialects/reverse.js';
import { withToolOutput } from '../protocol/hookOutput.js';
import { toParts } from '../protocol/llmContent.js';
import { HookEventName, type HookPayload } from '../protocol/types.js';
import type { ToolResult } from '../tools/tools.js';
import { isRecord } from '../util/records.js';
import { openToolCall } from './coreToolHookTriggers.js';
import { decideReceived } from './decideReceived.js';

type Next = () => Promise<void>;
type ToolResponse = HookPayload<HookEventName.AfterTool>['toolResponse'];

/** What hooks and middleware decided about a call before its tool, and the call where it goes on. */
export interface ReceivedCall {
  readonly verdict: ReplyVerdict;
  /** Once the agent has told what its tool gave, or that it failed: what hooks and middleware make of it. */
  readonly finish?: (after: Received, options: CallOptions) => Promise<ReplyVerdict>;
  /** Where the agent never will. Never rejects. */
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
  const { toolName, toolInput } = received.payload as HookPayload<HookEventName.BeforeTool>;
  const stages = new ReceivedStages(config, received, options);
  const stack = config.makeToolStack(stages);
  const callOptions = { ...options, callId: received.identity.callId };
  const call = await openToolCall({ getToolStack: () => stack }, toolName, toolInput, callOptions);
  if ('refused' in call) return { verdict: { ...stages.before, ...refusalOf(call.refused) } };
  const input = isDeepStrictEqual(call.input, toolInput) ? undefined : call.input;
  return {
    verdict: { ...stages.before, input },
    finish: async (after, afterOptions) => {
      stages.tell(after, afterOptions);
      const given = resultOf(after);
      return stages.verdictOn(given, await call.finish(given));
    },
    abandon: () => call.abandon(),
  };
}

/** What the stages of hooks are for a call that another process makes. */
class ReceivedStages {
  before: ReplyVerdict = { kind: 'none' };
  #after: ReplyVerdict = { kind: 'none' };
  #told: { readonly received: Received; readonly options: CallOptions } | undefined;

  constructor(
    private readonly config: Config,
    private readonly received: Received,
    private readonly options: CallOptions,
  ) {}

  tell(received: Received, options: CallOptions): void {
    this.#told = { received, options };
  }

  readonly beforeTool = async (call: ToolCall, next: Next): Promise<void> => {
    if (call.verdict !== ALLOW) return;
    const { received, options } = this;
    const payload = { ...received.payload, toolInput: call.input };
    const verdict = await decideReceived(this.config, { ...received, payload }, options);
    this.before = verdict;
    if (verdict.kind === 'block') return call.block(reasonOf(verdict));
    if (verdict.kind === 'stop') return call.stop(reasonOf(verdict));
    if (verdict.input) call.input = { ...verdict.input };
    call.seenInput = call.input;
    await next();
  };

  readonly afterTool = async (call: ToolCall, next: Next): Promise<void> => {
    await next();
    const { result } = call;
    if (!result || !call.executed || !this.#told) return;
    const { received, options } = this.#told;
    // What the agent has told stays, beside what middleware made of it.
    const { toolResponse } = received.payload as { readonly toolResponse: ToolResponse };
    const { llmContent, returnDisplay, error } = result;
    const seen = { ...toolResponse, llmContent, returnDisplay, ...(error && { error }) };
    // Its arguments, too: somebody may have changed them on the way to the tool.
    const payload = { ...received.payload, toolResponse: seen };
    const verdict = await decideReceived(this.config, { ...received, payload }, options);
    this.#after = verdict;
    if (verdict.output) call.result = withToolOutput(result, verdict.output);
    if (verdict.kind === 'stop') call.stop(reasonOf(verdict));
  };

  /** What came out of all layers: text behind the result is added to it, and any other one takes its place. */
  verdictOn(given: ToolResult, ended: ToolResult): ReplyVerdict {
    const { stopReason } = ended;
    const before = textOf(this.#after.output ? { llmContent: this.#after.output.text } : given);
    const text = textOf(ended);
    const decided: ReplyVerdict = {
      ...this.#after,
      ...(stopReason !== undefined && { kind: 'stop', reason: stopReason }),
      isHidden: this.#after.isHidden === true || ended.suppressDisplay === true,
    };
    if (text === before) return decided;
    const added = text.startsWith(`${before}\n\n`) && text.slice(before.length).trim();
    if (added) return { ...decided, context: [...(decided.context ?? []), added] };
    return { ...decided, output: { text, isDenial: ended.error !== undefined } };
  }
}

function refusalOf(refused: ToolResult): ReplyVerdict {
  const { stopReason } = refused;
  if (stopReason !== undefined) return { kind: 'stop', reason: stopReason, input: undefined };
  return { kind: 'block', reason: textOf(refused) || undefined, input: undefined };
}

function resultOf({ payload }: Received): ToolResult {
  const { toolResponse } = payload as HookPayload<HookEventName.AfterTool>;
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
