import { removeControls } from '../protocol/sanitizeText.js';
import { readSpan, type SpanRecord } from '../trace/record.js';
import { isFleetName } from './address.js';

/** The stream of JetStream that keeps the record. */
export const RECORD_STREAM = 'HOOKS_RECORD';
/** What it keeps: of each agent its own subject. */
export const RECORD_SUBJECTS = 'hooks.event.>';

export const RECORD_NEEDS_NATS =
  'the record goes over NATS only: write nats://HOST:PORT/TEAM/AGENT as its url';

export function recordSubject(team: string, agent: string): string {
  return `hooks.event.${team}.${agent}`;
}

/** A span of an agent of the fleet. */
export interface FleetSpan extends SpanRecord {
  /** `team/agent`, as the server says that let it in. */
  readonly from: string;
}

/** A larger message is no span. In bytes. */
const MAX_SPAN_BYTES = 4 * 1024 * 1024;
const ID = /^(?!0+$)[0-9a-f]{16}$/u;

/**
 * Reads a message of the record. An agent can send anything: only fields of the right type are taken, without control
 * characters, and who it is from is what the subject says.
 *
 * @returns the span, or why it is none
 */
export function readFleetSpan(subject: string, data: Uint8Array): FleetSpan | string {
  const [hooks, event, team = '', agent = '', ...more] = subject.split('.');
  const isOfAgent = isFleetName(team) && isFleetName(agent) && more.length === 0;
  if (hooks !== 'hooks' || event !== 'event' || !isOfAgent) return 'its subject names no agent';
  if (data.length > MAX_SPAN_BYTES) return `it has ${data.length} bytes`;
  const span = readSpan(new TextDecoder().decode(data));
  if (!span) return 'it is no span';
  if (!ID.test(span.id)) return 'its id is none of a span';
  return { ...cleaned(span), from: `${team}/${agent}` };
}

function cleaned(span: SpanRecord): SpanRecord {
  const text = JSON.stringify(span, (_, value: unknown) =>
    typeof value === 'string' ? removeControls(value) : value,
  );
  return JSON.parse(text) as SpanRecord;
}
