import { diffValues } from '../../../trace/diff.js';
import { toVisible } from '../../shared/terminal.js';
import type { OpenQuestion } from './openQuestions.js';

/** What stands around a character that is shown as an escape. Escapes themselves are made of what can be seen. */
const OPEN = '\u{E000}';
const CLOSE = '\u{E001}';

/** A question as the page shows it: every text is data, with escapes for what nobody could see. */
export function viewOf({ key, revision, from, request, until }: OpenQuestion) {
  const { event, hooks, toolName, callId, input, originalInput, sessionId, workingDir } = request;
  const diff = diffValues(toolName === undefined ? 'input' : 'tool_input', originalInput, input);
  return {
    key,
    revision,
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
    leftMs: Math.max(0, Math.round(until - performance.now())),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Lines stay lines. Whatever else has no shape, or changes the direction of text, is marked and spelled out. */
function show(text: string): string {
  return text
    .split('\n')
    .map((line) => (toVisible(line) === line ? line : Array.from(line, showCharacter).join('')))
    .join('\n');
}

function showCharacter(character: string): string {
  const visible = toVisible(character);
  return visible === character ? character : `${OPEN}${visible}${CLOSE}`;
}
