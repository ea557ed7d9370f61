import { removeControls } from '../protocol/sanitizeText.js';
import type { SpanVerdict } from './span.js';
import type { StorySpan } from './story.js';

export type StoryStyle = 'bold' | 'dim' | 'green' | 'blue' | 'red' | 'magenta' | 'yellow';

/** How text is styled, and how foreign text is put on one line. */
export interface StoryFormat {
  readonly paint: (style: StoryStyle, text: string) => string;
  readonly toOneLine: (text: string) => string;
}

const STYLES: Record<SpanVerdict, StoryStyle> = {
  allow: 'green',
  change: 'blue',
  block: 'red',
  stop: 'magenta',
  fail: 'yellow',
};

/** Deeper levels are not indented further. */
const MAX_INDENT = 24;
const MAX_CHANGE_LINES = 8;

export function formatStory(story: readonly StorySpan[], format: StoryFormat): string {
  const reasons = findReasons(story);
  return story
    .map((span, index) => {
      const indent = '  '.repeat(Math.min(span.depth, MAX_INDENT));
      return formatSpan(span, { indent, why: reasons[index], format });
    })
    .join('\n');
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

export function formatSlowest(spans: readonly StorySpan[], format: StoryFormat): string {
  return spans
    .map((span) => `${formatMs(span.ownMs).padStart(9)}  ${titleOf(span, format)}`)
    .join('\n');
}

interface Line {
  readonly indent: string;
  readonly why: string | undefined;
  readonly format: StoryFormat;
}

function formatSpan(span: StorySpan, { indent, why, format }: Line): string {
  const { exitCode, signal } = span;
  const facts = [
    formatMs(span.durationMs),
    exitCode && `exit code ${exitCode}`,
    signal && format.toOneLine(signal),
  ].filter(Boolean);
  const { decidedBy = [] } = span;
  const by = decidedBy.length > 0 ? `by ${format.toOneLine(decidedBy.join(', '))}: ` : '';
  const reason = why === undefined ? [] : [`${by}${format.toOneLine(why)}`];
  const below = [...reason, ...changeOf(span, format)];
  return [
    `${indent}${titleOf(span, format)}  ${format.paint('dim', facts.join(', '))}`,
    ...below.map((line) => `${indent}    ${line}`),
  ].join('\n');
}

function titleOf({ kind, name, event, verdict }: StorySpan, format: StoryFormat): string {
  const isOfEvent = event !== undefined && event !== name;
  const of = isOfEvent ? ` ${format.paint('dim', `(${format.toOneLine(event)})`)}` : '';
  const title = format.paint('bold', format.toOneLine(name));
  const said = verdict === 'allow' ? '' : ` ${format.paint(STYLES[verdict], verdict)}`;
  return `${kind} ${title}${of}${said}`;
}

/** Only of hooks and middleware: the spans around them have the same change. */
function changeOf({ kind, change }: StorySpan, format: StoryFormat): string[] {
  if (change === undefined || (kind !== 'hook' && kind !== 'middleware')) return [];
  const lines = removeControls(change).split('\n');
  const shown = lines.slice(0, MAX_CHANGE_LINES).map((line) => paintChange(line, format));
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, format.paint('dim', `… ${more} more lines`)] : shown;
}

function paintChange(line: string, { paint, toOneLine }: StoryFormat): string {
  if (line.startsWith('@')) return paint('dim', toOneLine(line));
  const text = `${line.slice(0, 2)}${toOneLine(line.slice(2))}`;
  if (text.startsWith('+')) return paint('green', text);
  return text.startsWith('-') ? paint('red', text) : paint('dim', text);
}

function formatMs(ms: number): string {
  if (ms >= 1000) return `${Number((ms / 1000).toFixed(2))} s`;
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
