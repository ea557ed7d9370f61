import type { GenerateContentParameters } from '@google/genai';
import { type Decision, decisionOf } from '../context.js';
import type { ToolCallRecord } from '../core/coreToolScheduler.js';
import type { ModelTurn } from '../core/geminiChat.js';
import type { Answer, ApprovalRequest } from '../protocol/approval.js';
import { resolveOutput } from '../protocol/events.js';
import { hookIdentity } from '../protocol/identity.js';
import type { HookDecision, HookEventName, HookExecutionResult } from '../protocol/types.js';
import type { SpanOutcome } from '../trace/span.js';

/** What one hook did, for people and logs. */
export interface HookRecord {
  readonly event: HookEventName;
  /** The hook's name, else its command. */
  readonly hook: string;
  readonly durationMs: number;
  readonly success: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly decision: HookDecision | null;
  /** Why: of a stop, of a block, or whatever else the hook explained. */
  readonly reason: string | null;
  /** Of a hook that failed: the exception, its place, and the likely cause, where these are known. */
  readonly why: string | null;
}

/** One model call of an agent. */
export interface ModelCallRecord {
  /** The model was not called. */
  readonly blocked: boolean;
  /** The response was a hook's. */
  readonly synthetic: boolean;
  /** Why the call was blocked, where it was. */
  readonly blockReason?: string;
  /** The hooks that blocked it, where hooks did. */
  readonly blockedBy?: readonly string[];
  /** The parameters that were sent, or would have been. */
  readonly request: GenerateContentParameters;
}

/** What an agent tells while it works. */
export type AgentEvent =
  | { readonly type: 'session'; readonly sessionId: string; readonly model: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'model'; readonly call: ModelCallRecord }
  | { readonly type: 'tool'; readonly call: ToolCallRecord }
  | ({ readonly type: 'hook' } & HookRecord)
  /** A person is asked; told again with the answer. */
  | {
      readonly type: 'approval';
      readonly request: ApprovalRequest;
      readonly answer: Answer | null;
    }
  /** The agent ends before the model is done. */
  | ({ readonly type: 'stopped' } & Decision);

/** Token counts of all model calls, added up. */
export interface Usage {
  promptTokenCount: number;
  candidatesTokenCount: number;
  totalTokenCount: number;
}

/** How an agent's work ended. */
export interface AgentResult {
  readonly sessionId: string;
  /** The final text, or `''` when a hook kept it from the user. */
  readonly response: string;
  /** Model calls that were made, or were to be made. */
  readonly turns: number;
  /** The event, reason and hooks that ended the loop, AfterAgent past `maxStopHookRetries` included; else `null`. */
  readonly stopped: Decision | null;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly modelCalls: readonly ModelCallRecord[];
  readonly hooks: readonly HookRecord[];
  readonly usage: Usage;
}

export function describeHook(result: HookExecutionResult): HookRecord {
  const said = result.output && resolveOutput(result.eventName, result.output);
  const reason = said?.continue === false ? said.stopReason : said?.reason;
  return {
    event: result.eventName,
    hook: hookIdentity(result.hookConfig),
    durationMs: Math.round(result.duration),
    success: result.success,
    exitCode: result.exitCode ?? null,
    signal: result.signal ?? null,
    decision: said?.decision ?? null,
    reason: reason ?? null,
    why: result.why ?? null,
  };
}

export function verdictOf(stopped: AgentResult['stopped']): SpanOutcome {
  if (!stopped) return { verdict: 'allow' };
  return { verdict: 'stop', reason: stopped.reason, decidedBy: stopped.hooks };
}

export function describeModelCall({
  blocked,
  synthetic,
  request,
  verdict,
}: ModelTurn): ModelCallRecord {
  const { reason: blockReason, hooks: blockedBy } = decisionOf(verdict, 'block') ?? {};
  return {
    blocked,
    synthetic,
    request,
    ...(blockReason !== undefined && { blockReason }),
    ...(blockedBy && { blockedBy }),
  };
}
