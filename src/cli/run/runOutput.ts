import type { AgentEvent, AgentResult } from '../../agent/agentEvents.js';
import type { Answer, ApprovalRequest } from '../../protocol/approval.js';
import type { ToolCallRecord } from '../../core/coreToolScheduler.js';
import { printJson } from '../shared/terminal.js';
import { TextOutput } from './textOutput.js';

/** `json` is one object at the end, `stream-json` one object per line as things happen. */
export type OutputFormat = 'text' | 'json' | 'stream-json';

interface RunOutput {
  onEvent(event: AgentEvent): void;
  /** Called once, at the end. `failure` says why the agent did not finish. */
  finish(result: AgentResult, failure?: string): void;
}

export const runOutputs: Record<OutputFormat, () => RunOutput> = {
  text: () => new TextOutput(),
  json: () => ({
    onEvent: () => undefined,
    finish: (result, failure) => printJson(describeRun(result, failure)),
  }),
  'stream-json': () => ({
    onEvent: streamEvent,
    finish: (result, failure) => printJson({ type: 'result', ...describeRun(result, failure) }),
  }),
};

function streamEvent(event: AgentEvent): void {
  // Text and tool calls tell of model calls; the result has them in full.
  if (event.type === 'model') return;
  if (event.type === 'approval') return streamApproval(event.request, event.answer);
  if (event.type !== 'tool') return printJson(event);
  const { callId, name, originalInput, status, result } = event.call;
  if (status === 'scheduled') printJson({ type: 'tool_call', callId, name, originalInput });
  if (result) printJson({ type: 'tool_result', callId, ...describeToolCall(event.call) });
}

function streamApproval(request: ApprovalRequest, answer: Answer | null): void {
  if (answer === null) printJson({ type: 'awaiting_approval', request });
  else printJson({ type: 'approval', id: request.id, ...answer });
}

function describeRun(result: AgentResult, failure: string | undefined) {
  const { sessionId, response, turns, stopped, hooks, usage } = result;
  return {
    sessionId,
    response,
    turns,
    stopped,
    toolCalls: result.toolCalls.map(describeToolCall),
    modelCalls: result.modelCalls.map(
      ({ blocked, blockReason, blockedBy, synthetic, request }) => ({
        blocked,
        blockReason: blockReason ?? null,
        blockedBy: blockedBy ?? null,
        synthetic,
        request,
      }),
    ),
    hooks,
    usage,
    ...(failure !== undefined && { error: { message: failure } }),
  };
}

function describeToolCall({ name, originalInput, input, status, blocked, result }: ToolCallRecord) {
  return {
    name,
    originalInput,
    input,
    status,
    blocked: blocked ?? null,
    llmContent: result?.llmContent ?? null,
    suppressDisplay: result?.suppressDisplay ?? false,
  };
}
