import { decisionOf } from '../context.js';
import type { SpanOutcome } from '../trace/span.js';
import type { AgentResult, ModelCallRecord } from './agentEvents.js';
import type { ModelTurn } from '../core/geminiChat.js';

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
