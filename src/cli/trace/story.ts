import { saidIn } from '../record/row.js';
import { pointOf } from './point.js';
import type { SpanRecord } from '../../trace/record.js';

type Believed = Omit<SpanRecord, 'approver' | 'policy'> & {
  readonly [field in 'approver' | 'policy']: string | undefined;
};

export interface StorySpan extends Believed {
  /** 0 for a root. */
  readonly depth: number;
  /** Ms without the spans inside; of middleware, without what `next()` took. */
  readonly ownMs: number;
  /** Who recorded it, where that is not who recorded the span around it. */
  readonly from?: string | undefined;
  /** What it worked on, in one line; of middleware, what the span around it did. */
  readonly point: string;
}

interface Node {
  readonly span: SpanRecord;
  readonly within: Node[];
}

interface Pending {
  readonly node: Node;
  readonly depth: number;
  /** What the span around it worked on, and who recorded that. */
  readonly around: string;
  readonly by?: string | undefined;
}

/** Depth first, siblings by start. A span whose parent is missing (killed, or not ended yet) is a root. */
export function storyOf(spans: readonly SpanRecord[]): StorySpan[] {
  const nodes = spans.map((span): Node => ({ span, within: [] }));
  const byId = new Map(nodes.map((node) => [node.span.id, node]));
  const roots: Node[] = [];
  for (const node of nodes) {
    const parent = node.span.parent === null ? undefined : byId.get(node.span.parent);
    (parent?.within ?? roots).push(node);
  }
  const story: StorySpan[] = [];
  const seen = new Set<Node>();
  // Spans that contain each other are reached from no root.
  for (const root of [...roots.toSorted(byStart), ...nodes]) {
    const pending: Pending[] = [{ node: root, depth: 0, around: '' }];
    // Not recursive: a file may say that a million spans contain each other.
    for (let next = pending.pop(); next; next = pending.pop()) {
      const { node, depth, around, by } = next;
      if (seen.has(node)) continue;
      seen.add(node);
      const point = node.span.kind === 'middleware' ? around : pointOf(node.span);
      const { from } = node.span;
      const elsewhere = from === by ? undefined : from;
      story.push({ ...believed(node.span), from: elsewhere, depth, ownMs: ownTime(node), point });
      const within = node.within.toSorted(byStart).toReversed();
      pending.push(
        ...within.map((each) => ({ node: each, depth: depth + 1, around: point, by: from })),
      );
    }
  }
  return story;
}

/** With what only servers know as they have said it, or as the word of who says so. */
export function believed(span: SpanRecord): Believed {
  return { ...span, approver: saidIn(span, 'approver'), policy: saidIn(span, 'policy') };
}

function byStart({ span: a }: Node, { span: b }: Node): number {
  return a.start - b.start;
}

function ownTime({ span, within }: Node): number {
  if (span.ownMs !== undefined) return span.ownMs;
  let covered = 0;
  let until = span.start;
  for (const { span: part } of within.toSorted(byStart)) {
    const end = Math.min(part.start + part.durationMs, span.start + span.durationMs);
    covered += Math.max(0, end - Math.max(until, part.start));
    until = Math.max(until, end);
  }
  return Math.max(0, span.durationMs - covered);
}

export function slowest(story: readonly StorySpan[], count: number): StorySpan[] {
  return story.toSorted((a, b) => b.ownMs - a.ownMs).slice(0, count);
}
