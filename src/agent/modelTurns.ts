import type { FunctionCall } from '@google/genai';
import { decisionOf } from '../context.js';
import type { SpanOutcome } from '../trace/span.js';
import type { AgentResult, ModelCallRecord } from './agentEvents.js';
import type { ModelTurn } from '../core/geminiChat.js';
import { isAnswerText } from '../protocol/response.js';

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

export function stopOf({ verdict }: ModelTurn): AgentResult['stopped'] {
  return decisionOf(verdict, 'stop') ?? null;
}

/** `undefined` without a restriction. */
export function allowedToolsOf({ request }: ModelTurn): readonly string[] | undefined {
  const { mode, allowedFunctionNames } = request.config?.toolConfig?.functionCallingConfig ?? {};
  return mode === 'NONE' ? [] : allowedFunctionNames;
}

export function functionCallsOf({ response }: ModelTurn): FunctionCall[] {
  const parts = response.candidates?.[0]?.content?.parts ?? [];
  return parts.flatMap((part) => part?.functionCall ?? []);
}

/** The text of an answer, without thoughts. */
export function textOf({ candidates }: ModelTurn['response']): string {
  const parts = candidates?.[0]?.content?.parts ?? [];
  return parts
    .filter(isAnswerText)
    .map((part) => part.text)
    .join('');
}
