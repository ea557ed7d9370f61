import type { AgentEvent, AgentResult, HookRecord } from '../../agent/agentEvents.js';
import type { ToolCallRecord } from '../../core/coreToolScheduler.js';
import type { Answer, ApprovalRequest } from '../../protocol/approval.js';
import { isBlocking } from '../../protocol/hookOutput.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import { HookEventName } from '../../protocol/types.js';
import { standardOutput } from '../shared/streams.js';
import { type NoticeLabel, printJson, printNotice, toOneLine } from '../shared/terminal.js';

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

/** The answer goes to stdout, everything else to stderr, one short line each. */
class TextOutput {
  #isInAnswer = false;
  #endsLine = true;

  onEvent(event: AgentEvent): void {
    if (event.type === 'text') this.#writeText(event.text);
    if (event.type === 'tool') this.#tellToolCall(event.call);
    if (event.type === 'hook') this.#tellObjection(event);
    if (event.type !== 'model') return;
    this.#endAnswer();
    const { blockReason, blockedBy } = event.call;
    if (blockReason !== undefined) {
      tell('blocked', `model call${by(blockedBy)}: ${blockReason}`);
    }
  }

  finish({ stopped }: AgentResult, failure?: string): void {
    this.#endAnswer();
    if (stopped) {
      const { event, hooks, reason } = stopped;
      tell('stopped', `at ${event}${by(hooks)}: ${reason}`);
    }
    if (failure !== undefined) tell('error', failure);
  }

  #writeText(text: string): void {
    // Models like to begin with empty lines.
    const shown = removeControls(this.#isInAnswer ? text : text.replace(/^\s*\n/, ''));
    if (shown === '') return;
    standardOutput().write(shown);
    this.#isInAnswer = true;
    this.#endsLine = shown.endsWith('\n');
  }

  #endAnswer(): void {
    if (!this.#endsLine) standardOutput().write('\n');
    this.#isInAnswer = false;
    this.#endsLine = true;
  }

  /** Blocks after which the agent goes on; others are reported with what they prevented. */
  #tellObjection({ event, hook, decision, reason }: HookRecord): void {
    if (!isBlocking(decision) || !OBJECTIONS.has(event)) return;
    this.#endAnswer();
    tell('blocked', `${event}${by([hook])}: ${reason ?? ''}`);
  }

  #tellToolCall({ name, originalInput, status, result, blocked, stopped }: ToolCallRecord): void {
    if (status === 'scheduled') tell('tool', `${name} ${JSON.stringify(originalInput)}`);
    if (!result || result.suppressDisplay) return;
    const summary = `${name}${by(blocked?.hooks)}: ${result.error?.message ?? result.returnDisplay}`;
    if (status === 'success') tell('done', `${name}: ${result.returnDisplay}`);
    if (status === 'error') tell('failed', summary);
    // `finish` reports stops.
    if (status === 'idle' && !stopped) tell('blocked', summary);
  }
}

function tell(label: NoticeLabel, text: string): void {
  printNotice(label, toOneLine(text));
}

/** Events whose block prevents no operation. */
const OBJECTIONS: ReadonlySet<HookEventName> = new Set([
  HookEventName.AfterTool,
  HookEventName.AfterAgent,
  HookEventName.SubagentStop,
  HookEventName.ToolBatchEnd,
]);

/** A hook without a name is shown by its command, which may be long. */
const MAX_NAMES = 60;

function by(hooks: readonly string[] | undefined): string {
  if (!hooks) return '';
  const names = toOneLine(hooks.join(', '));
  return ` by ${names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES)}…` : names}`;
}
