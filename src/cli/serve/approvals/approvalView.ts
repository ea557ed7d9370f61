import { diffValues } from '../../../trace/diff.js';
import { markInvisible } from '../../shared/terminal.js';
import type { OpenQuestion } from './openQuestions.js';

/** What stands around a character that is shown as an escape. Escapes themselves are made of what can be seen. */
const OPEN = '\u{E000}';
const CLOSE = '\u{E001}';

/** More than a person reads, and than a page can show of every question that may be open. In characters. */
const MAX_SHOWN = 512 * 1024;
const MAX_ESCAPES = 20_000;

/** A question as the page shows it: every text is data, with escapes for what nobody could see. */
export function viewOf(question: OpenQuestion) {
  const { key, revision, until } = question;
  let shown = known.get(question);
  if (!shown) known.set(question, (shown = shownOf(question)));
  return { key, revision, ...shown, leftMs: Math.max(0, Math.round(until - performance.now())) };
}

/** Of a question, all pages show the same. */
const known = new WeakMap<OpenQuestion, ReturnType<typeof shownOf>>();

/** Why nobody could read a question, as the end of a sentence about it; `undefined` where somebody can. */
export function whyUnreadable(
  question: Pick<OpenQuestion, 'from' | 'request'>,
): string | undefined {
  const text = JSON.stringify(shownOf(question));
  if (text.length > MAX_SHOWN) {
    return `as a person is shown it, has more than ${MAX_SHOWN / 1024} K characters`;
  }
  if (text.split(OPEN).length - 1 <= MAX_ESCAPES) return undefined;
  return `as a person is shown it, has more than ${MAX_ESCAPES} characters that nobody can see`;
}

function shownOf({ from, request }: Pick<OpenQuestion, 'from' | 'request'>) {
  const { event, hooks, toolName, callId, input, originalInput, sessionId, workingDir } = request;
  const diff = diffValues(toolName === undefined ? 'input' : 'tool_input', originalInput, input);
  return {
    from: show(from),
    event,
    hooks: hooks.map(({ name, source, reason }) => ({
      name: show(name),
      source: show(source),
      ...(reason !== undefined && { reason: show(reason) }),
    })),
    ...(toolName !== undefined && { tool: show(toolName) }),
    ...(callId !== undefined && { call: show(callId) }),
    session: show(sessionId),
    directory: show(workingDir),
    input: Object.entries(input).map(([name, value]) => ({
      name: show(name),
      value: show(textOf(value)),
    })),
    diff: diff.map(show),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Lines stay lines. Whatever else has no shape, or changes the direction of text, is marked and spelled out. */
function show(text: string): string {
  return text
    .split('\n')
    .map((line) => markInvisible(line, (escape) => `${OPEN}${escape}${CLOSE}`))
    .join('\n');
}
