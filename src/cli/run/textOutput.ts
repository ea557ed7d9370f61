import type { AgentEvent, AgentResult, HookRecord } from '../../agent/agentEvents.js';
import type { ToolCallRecord } from '../../core/coreToolScheduler.js';
import { isBlocking } from '../../protocol/hookOutput.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import { HookEventName } from '../../protocol/types.js';
import { printNotice, toOneLine, type NoticeLabel } from '../shared/terminal.js';

/** The answer on stdout, and everything else on stderr, one short line each. */
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
    // Models like to begin with empty lines, above all those that answer with nothing else.
    const shown = removeControls(this.#isInAnswer ? text : text.replace(/^\s*\n/, ''));
    if (shown === '') return;
    process.stdout.write(shown);
    this.#isInAnswer = true;
    this.#endsLine = shown.endsWith('\n');
  }

  #endAnswer(): void {
    if (!this.#endsLine) process.stdout.write('\n');
    this.#isInAnswer = false;
    this.#endsLine = true;
  }

  /** A block after which the agent goes on. Every other one is told with what it prevented. */
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
    // A stop is told at the end.
    if (status === 'idle' && !stopped) tell('blocked', summary);
  }
}

function tell(label: NoticeLabel, text: string): void {
  printNotice(label, toOneLine(text));
}

/** The events whose block prevents no operation and no end, or only puts it off. */
const OBJECTIONS: ReadonlySet<HookEventName> = new Set([
  HookEventName.AfterTool,
  HookEventName.AfterAgent,
]);

/** A hook without a name is called by its command, which may be long; what it said is what matters. */
const MAX_NAMES = 60;

function by(hooks: readonly string[] | undefined): string {
  if (!hooks) return '';
  const names = toOneLine(hooks.join(', '));
  return ` by ${names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES)}…` : names}`;
}
