import { removeControls } from '../../protocol/sanitizeText.js';
import type { FleetSpan } from '../../fleet/recordSubject.js';
import { pointOf } from './point.js';
import type { SpanRecord } from '../../trace/record.js';
import type { SpanVerdict } from '../../trace/span.js';
import { believed, type StorySpan } from './story.js';
import { paint, toOneLine, type TextStyle } from '../shared/terminal.js';

const STYLES: Record<SpanVerdict, TextStyle> = {
  allow: 'green',
  ask: 'cyan',
  change: 'blue',
  block: 'red',
  stop: 'magenta',
  fail: 'yellow',
};

/** Deeper levels are not indented further. */
const MAX_INDENT = 24;
const MAX_CHANGE_LINES = 8;
/** In characters, of what a span worked on. */
const MAX_POINT = 60;

export function formatStory(story: readonly StorySpan[]): string {
  const reasons = findReasons(story);
  return story.map((span, index) => formatSpan(span, reasons[index])).join('\n');
}

/** A reason is shown only for the innermost of the spans that give it. */
function findReasons(story: readonly StorySpan[]): (string | undefined)[] {
  /** By depth: the reasons of spans that have been passed and whose parent is yet to come. */
  const told: Set<string>[] = [];
  const reversed = story.toReversed().map(({ depth, reason, error }) => {
    const within = told[depth + 1] ?? new Set();
    told.length = depth + 1;
    const why = reason ?? error;
    const here = (told[depth] ??= new Set());
    for (const each of within) here.add(each);
    if (why === undefined || within.has(why)) return undefined;
    here.add(why);
    return why;
  });
  return reversed.toReversed();
}

export function formatSlowest(spans: readonly StorySpan[]): string {
  return spans.map((span) => `${formatMs(span.ownMs).padStart(9)}  ${titleOf(span)}`).join('\n');
}

/** One that has just ended, of which the spans around it are not known yet. */
export function formatEnded(span: SpanRecord): string {
  const { start, durationMs, reason, error } = span;
  const time = new Date(start + durationMs).toISOString().slice(11, 23);
  const { ownMs = durationMs } = span;
  const told = { ...believed(span), depth: 0, ownMs, point: pointOf(span) };
  return `${paint('dim', time)} ${formatSpan(told, reason ?? error)}`;
}

/** One of a fleet that has just ended, on one line. */
export function formatFleetSpan(span: FleetSpan): string {
  const { start, durationMs, from, kind, name, event, verdict, reason, error, counted } = span;
  const time = new Date(start + durationMs).toISOString().slice(11, 23);
  const of = event === undefined || event === name ? '' : ` (${toOneLine(event)})`;
  const why = reason ?? error;
  return [
    paint('dim', time),
    from,
    kind,
    `${paint('bold', toOneLine(name))}${of}`,
    ...(counted === undefined ? [] : [`${toOneLine(counted)} counted, and not`]),
    `${paint(STYLES[verdict], verdict)}${why === undefined ? '' : `: ${toOneLine(why)}`}`,
  ].join(' ');
}

function formatSpan(span: StorySpan, why: string | undefined): string {
  const indent = '  '.repeat(Math.min(span.depth, MAX_INDENT));
  const { exitCode, signal, process: age, decidedBy = [], approver, policy, counted } = span;
  const facts = [
    formatMs(span.durationMs),
    exitCode && `exit code ${exitCode}`,
    signal && toOneLine(signal),
    age && `${age} process`,
    policy !== undefined && toOneLine(`policy ${policy}`),
    counted !== undefined && toOneLine(`${counted} counted`),
    approver !== undefined && toOneLine(`answered by ${approver}`),
    span.from !== undefined && toOneLine(span.from),
  ].filter(Boolean);
  const by = decidedBy.length > 0 ? `by ${toOneLine(decidedBy.join(', '))}: ` : '';
  const reason = why === undefined ? [] : [`${by}${toOneLine(why)}`];
  const below = [...reason, ...changeOf(span)];
  return [
    `${indent}${titleOf(span)}  ${paint('dim', facts.join(', '))}`,
    ...below.map((line) => `${indent}    ${line}`),
  ].join('\n');
}

function titleOf({ kind, name, event, verdict, point }: StorySpan): string {
  const isOfEvent = event !== undefined && event !== name;
  const of = isOfEvent ? ` ${paint('dim', `(${toOneLine(event)})`)}` : '';
  const title = paint('bold', toOneLine(name));
  const said = verdict === 'allow' ? '' : ` ${paint(STYLES[verdict], verdict)}`;
  const about = point === '' ? '' : ` ${toOneLine(point, MAX_POINT)}`;
  return `${kind} ${title}${of}${about}${said}`;
}

/** Only of hooks and middleware: the spans around them have the same change. */
function changeOf({ kind, change }: StorySpan): string[] {
  if (change === undefined || (kind !== 'hook' && kind !== 'middleware')) return [];
  const lines = removeControls(change).split('\n');
  const shown = lines.slice(0, MAX_CHANGE_LINES).map(paintChange);
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, paint('dim', `… ${more} more lines`)] : shown;
}

function paintChange(line: string): string {
  if (line.startsWith('@')) return paint('dim', toOneLine(line));
  const text = `${line.slice(0, 2)}${toOneLine(line.slice(2))}`;
  if (text.startsWith('+')) return paint('green', text);
  return text.startsWith('-') ? paint('red', text) : paint('dim', text);
}

function formatMs(ms: number): string {
  if (ms >= 1000) return `${Number((ms / 1000).toFixed(2))} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
