import { HookEventName } from '../../../protocol/types.js';

const { BeforeTool, AfterTool } = HookEventName;

/** What the hook does at an event. */
export interface Answer {
  /** What it prints: a text as it is. */
  readonly out?: unknown;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly waitMs?: number;
}

/** By event and mark; a call of a tool, or an answer of the model, has its mark in it. */
export type Answers = { readonly [E in HookEventName]?: Readonly<Record<string, Answer>> };

/** Time limit of the hook, in ms. */
export const LIMIT = 4000;

/** A guard: it answers by the mark of what it is asked about, and writes down which tools it saw. */
export const HOOK = `import { appendFileSync, readFileSync, writeSync } from 'node:fs';
const event = JSON.parse(readFileSync(0, 'utf8'));
const { hook_event_name: name, tool_name: tool, tool_input: input, stop_hook_active } = event;
const about = JSON.stringify(input ?? event.prompt_response ?? '');
const [, mark = ''] = /MARK-(\\w+)/.exec(about) ?? [];
appendFileSync(import.meta.dirname + '/seen', name + ' ' + tool + '\\n');
const answers = JSON.parse(readFileSync(import.meta.dirname + '/answers.json', 'utf8'));
const { out, exitCode, signal, waitMs } = (!stop_hook_active && answers[name]?.[mark]) || {};
if (signal) process.kill(process.pid, signal);
if (out) writeSync(1, typeof out === 'string' ? out : JSON.stringify(out));
if (exitCode) writeSync(2, 'it failed');
setTimeout(() => process.exit(exitCode ?? 0), waitMs ?? 0);
`;

const reason = (mark: string) => `REASON-${mark}.`;
const block = (mark: string) => ({ out: { decision: 'block', reason: reason(mark) } });
const specific = (fields: object) => ({ out: { hookSpecificOutput: fields } });

/** What the guard says of a mark, in words by which it is found in what the model reads. */
export const says = {
  reason,
  block,
  specific,
  context: (mark: string) => ({ additionalContext: `CONTEXT-${mark}.` }),
  ask: (mark: string) => ({ out: { decision: 'ask', reason: reason(mark) } }),
  end: (mark: string) => ({ out: { continue: false, stopReason: reason(mark) } }),
  blocked: (mark: string) => ({ [mark]: { [BeforeTool]: block(mark) } }),
  replaced: (mark: string) => ({
    [mark]: { [AfterTool]: specific({ tool_response: `REPLACED-${mark}.` }) },
  }),
};

/** Makes a file, and prints a word that does not stand in the command. */
export const commandOf = (mark: string, more = '') =>
  `touch MARK-${mark}.ran; printf 'SEC%s.' RET-${mark}${more}`;
