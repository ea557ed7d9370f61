import type { AgentEvent, AgentResult } from '../core/agentEvents.js';
import type { ToolCallRecord } from '../core/coreToolScheduler.js';
import { removeControls } from '../hooks/sanitizeText.js';
import type { RunOutput } from './runOutput.js';
import { printNotice, toOneLine } from './terminal.js';

/** The answer on stdout, and everything else on stderr, one short line each. */
export class TextOutput implements RunOutput {
  #isInAnswer = false;
  #endsLine = true;

  onEvent(event: AgentEvent): void {
    if (event.type === 'text') this.#writeText(event.text);
    if (event.type === 'tool') this.#tellToolCall(event.call);
    if (event.type !== 'model') return;
    this.#endAnswer();
    if (event.call.blockReason !== undefined) {
      this.#tell('blocked', 'red', `model call: ${event.call.blockReason}`);
    }
  }

  finish({ stopped }: AgentResult, failure?: string): void {
    this.#endAnswer();
    if (stopped) this.#tell('stopped', 'red', `by ${stopped.event}: ${stopped.reason}`);
    if (failure !== undefined) this.#tell('error', 'red', failure);
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

  #tellToolCall({ name, originalInput, status, result, stopped }: ToolCallRecord): void {
    if (status === 'scheduled') this.#tell('tool', 'cyan', `${name} ${toText(originalInput)}`);
    if (!result || result.suppressDisplay) return;
    const summary = `${name}: ${result.error?.message ?? result.returnDisplay}`;
    if (status === 'success') this.#tell('done', 'green', `${name}: ${result.returnDisplay}`);
    if (status === 'error') this.#tell('failed', 'red', summary);
    // A stop is told at the end.
    if (status === 'idle' && !stopped) this.#tell('blocked', 'red', summary);
  }

  #tell(label: string, style: 'red' | 'green' | 'cyan', text: string): void {
    printNotice(label, style, toOneLine(text));
  }
}

function toText(input: ToolCallRecord['originalInput']): string {
  return JSON.stringify(input);
}
