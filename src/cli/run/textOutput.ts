import type { AgentEvent, AgentResult, HookRecord } from '../../agent/agentEvents.js';
import type { ToolCallRecord } from '../../core/coreToolScheduler.js';
import { isBlocking } from '../../protocol/hookOutput.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import { HookEventName } from '../../protocol/types.js';
import { printNotice, toOneLine, type NoticeLabel } from '../shared/terminal.js';
import { standardOutput } from '../shared/streams.js';

/** The answer goes to stdout, everything else to stderr, one short line each. */
export class TextOutput {
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
]);

/** A hook without a name is shown by its command, which may be long. */
const MAX_NAMES = 60;

function by(hooks: readonly string[] | undefined): string {
  if (!hooks) return '';
  const names = toOneLine(hooks.join(', '));
  return ` by ${names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES)}…` : names}`;
}
