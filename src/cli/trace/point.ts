import { isRecord } from '../../util/records.js';
import type { SpanRecord } from '../../trace/record.js';

/** In characters. */
const MAX_POINT = 160;
/** Arguments that need no name to be understood, the most informative first. */
const SELF_EXPLANATORY = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'prompt'];
/** Fields of every event: they say nothing about this one. */
const COMMON = new Set(['session_id', 'cwd', 'timestamp', 'hook_event_name', 'transcript_path']);

/** What a span worked on, in one line: the arguments of a call, what was asked of the model, the prompt of a session. */
export function pointOf({ kind, input = '' }: Pick<SpanRecord, 'kind' | 'input'>): string {
  const value = kind === 'session' ? input : parse(input);
  const text = kind === 'tool' && isRecord(value) ? describeArguments(value) : describe(value);
  const line = text
    .slice(0, 4 * MAX_POINT)
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (line.length <= MAX_POINT) return line;
  // A cut must not leave half of a character.
  return `${line.slice(0, MAX_POINT).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A long input was cut, and is no JSON any more. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function describe(value: unknown): string {
  if (!isRecord(value)) return Array.isArray(value) ? describeParts(value) : textOf(value);
  const { tool_name: tool, tool_input: args, llm_response: response, llm_request: request } = value;
  if (tool !== undefined) return `${textOf(tool)} ${isRecord(args) ? describeArguments(args) : ''}`;
  if (isRecord(response)) return textOf(response['text'] ?? '');
  const asked = isRecord(request) ? request['messages'] : value['contents'];
  if (asked !== undefined) return describeMessage(Array.isArray(asked) ? asked.at(-1) : asked);
  return describeArguments(value);
}

/** The last one of a request is what is new. */
function describeMessage(message: unknown): string {
  if (!isRecord(message)) return textOf(message);
  const { content, parts } = message;
  return Array.isArray(parts) ? describeParts(parts) : textOf(content ?? message);
}

function describeParts(parts: readonly unknown[]): string {
  return parts
    .map((part) => {
      if (!isRecord(part)) return textOf(part);
      const called = part['functionResponse'];
      return isRecord(called) ? `result of ${textOf(called['name'])}` : textOf(part['text'] ?? '');
    })
    .join(' ');
}

function describeArguments(args: Readonly<Record<string, unknown>>): string {
  const rank = (name: string) =>
    SELF_EXPLANATORY.includes(name) ? SELF_EXPLANATORY.indexOf(name) : SELF_EXPLANATORY.length;
  const [first, ...others] = Object.entries(args)
    .filter(([name]) => !COMMON.has(name))
    .toSorted(([a], [b]) => rank(a) - rank(b));
  if (!first) return '';
  const named = ([name, value]: readonly [string, unknown]) => `${name}: ${textOf(value)}`;
  const begin = rank(first[0]) < SELF_EXPLANATORY.length ? textOf(first[1]) : named(first);
  return [begin, ...others.map(named)].join(', ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
