import { SERVERS_TEAM } from '../../fleet/address.js';
import type { SpanRecord } from '../../trace/record.js';
import type { Column } from './columns.js';

/** What the record says of one span, by column; `null` where it says nothing. */
export type RecordRow = Readonly<Record<Column, string | number | null>>;

/** What tells whose a span is, and of which session. */
export type Related = Pick<SpanRecord, 'id' | 'parent'> & {
  readonly [field in 'from' | 'agent' | 'session' | 'trace']?: string | null | undefined;
};

/** Who, what, when, by which policy, with which verdict, and by whom approved. */
export function rowOf(span: SpanRecord): RecordRow {
  const { kind, name, from, agent, decidedBy, parent, isShadow } = span;
  const isHooks = kind === 'hook' || kind === 'question';
  return {
    time: new Date(span.start).toISOString(),
    from: from ?? null,
    agent: (isOfKnown(span) && agent) || from || null,
    session: span.session ?? null,
    kind,
    event: span.event ?? null,
    tool: span.tool ?? null,
    call: span.call ?? null,
    // What a shadow says had no effect: whoever asks for what was blocked must not be given it.
    verdict: isShadow ? null : span.verdict,
    shadow: isShadow ? span.verdict : null,
    counted: span.counted ?? null,
    hook: isHooks ? name : (decidedBy?.join(', ') ?? null),
    approver: saidIn(span, 'approver') ?? null,
    policy: saidIn(span, 'policy') ?? null,
    reason: span.reason ?? span.error ?? null,
    duration_ms: span.durationMs,
    id: span.id,
    parent,
    trace: span.trace ?? null,
  };
}

/**
 * What only a server knows. An agent could say that it is another one, or that somebody has allowed it: then it is shown as
 * its word.
 */
export function saidIn(span: SpanRecord, field: 'approver' | 'policy'): string | undefined {
  const { [field]: what = '', from } = span;
  if (what === '') return undefined;
  return isOfKnown(span) ? what : `${from} says: ${what}`;
}

/** Whether a span is of this machine, or of a policy server. */
export function isOfKnown({ from }: Pick<SpanRecord, 'from'>): boolean {
  return from === undefined || isOfServer(from);
}

/** Whether who has sent it (`team/agent`) is a policy server: no agent can be of its team. */
export function isOfServer(from: string): boolean {
  return from.startsWith(`${SERVERS_TEAM}/`);
}

/** No agent can take the id of another's span. */
export function keyOf({ id, from = '' }: Pick<SpanRecord, 'id' | 'from'>): string {
  return `${id} ${from}`;
}
