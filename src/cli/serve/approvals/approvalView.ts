import { hash } from 'node:crypto';
import { diffValues } from '../../../trace/diff.js';
import { MARK, revealMarked } from '../../shared/reveal.js';
import type { OpenQuestion } from './openQuestions.js';

/** More than a person reads, and than a page can show of every question that may be open. In characters. */
const MAX_SHOWN = 512 * 1024;
const MAX_ESCAPES = 20_000;

/** A question as the page shows it. `digest` is of all that it shows. */
export function viewOf(question: OpenQuestion) {
  const { until } = question;
  let whole = known.get(question);
  if (!whole) known.set(question, (whole = wholeOf(question)));
  return { ...whole, leftMs: Math.max(0, Math.round(until - performance.now())) };
}

/** Of a question, all pages show the same. */
const known = new WeakMap<OpenQuestion, ReturnType<typeof wholeOf>>();

function wholeOf(question: OpenQuestion) {
  const { key, revision } = question;
  const whole = { key, revision, ...shownOf(question) };
  return { ...whole, digest: hash('sha256', JSON.stringify(whole), 'base64url') };
}

/** Why nobody could read a question, as the end of a sentence about it; `undefined` where somebody can. */
export function whyUnreadable(
  question: Pick<OpenQuestion, 'from' | 'request'>,
): string | undefined {
  const text = JSON.stringify(shownOf(question));
  if (text.length > MAX_SHOWN) {
    return `as a person is shown it, has more than ${MAX_SHOWN / 1024} K characters`;
  }
  if (text.split(MARK.open).length - 1 <= MAX_ESCAPES) return undefined;
  return `as a person is shown it, has more than ${MAX_ESCAPES} characters that nobody can see, or that look like others`;
}

function shownOf({
  from,
  request,
  allowedBy,
}: Pick<OpenQuestion, 'from' | 'request' | 'allowedBy'>) {
  const { event, hooks, toolName, callId, input, originalInput } = request;
  const { sessionId, workingDir, agent } = request;
  const diff = diffValues(toolName === undefined ? 'input' : 'tool_input', originalInput, input);
  return {
    from: show(from),
    ...(allowedBy !== undefined && { allowedBy: show(allowedBy) }),
    event,
    hooks: hooks.map(({ name, source, reason, policy, decidedBy = [] }) => ({
      name: show(name),
      source: show(
        (policy === undefined ? source : `${source}, policy ${policy}`) +
          decidedBy.map((each) => `, its hook ${JSON.stringify(each)}`).join(''),
      ),
      ...(reason !== undefined && { reason: show(reason) }),
    })),
    ...(toolName !== undefined && { tool: show(toolName) }),
    ...(callId !== undefined && { call: show(callId) }),
    session: show(sessionId),
    directory: show(workingDir),
    ...(agent !== undefined && { agent: show(agent) }),
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

/** Every text that the page shows goes through here, and is data. Lines stay lines. */
export function show(text: string): string {
  return text.split('\n').map(revealMarked).join('\n');
}
