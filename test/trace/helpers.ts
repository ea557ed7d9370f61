import { randomBytes } from 'node:crypto';
import type { SpanRecord } from '../../src/trace/record.js';

/** A span as a line of a trace has it. */
export function record(fields: Partial<SpanRecord> = {}): SpanRecord {
  return {
    id: randomBytes(8).toString('hex'),
    parent: null,
    kind: 'hook',
    name: 'check',
    start: 1_000,
    durationMs: 10,
    verdict: 'allow',
    ...fields,
  };
}

/** A session of so many spans: a tool call with an event and two hooks each, one of which is slow. */
export function longSession(count: number): SpanRecord[] {
  const session = record({ kind: 'session', name: 'long', durationMs: count * 10 });
  const spans = [session];
  while (spans.length < count) {
    const start = 1_000 + spans.length * 10;
    const tool = record({ parent: session.id, kind: 'tool', name: `tool ${spans.length}`, start });
    const event = record({
      parent: tool.id,
      kind: 'event',
      name: 'BeforeTool',
      event: 'BeforeTool',
      start,
    });
    const hook = { parent: event.id, event: 'BeforeTool', start, input: '{"a":1}'.repeat(100) };
    spans.push(
      tool,
      event,
      record({ ...hook, name: 'first', durationMs: 1 }),
      record({ ...hook, name: 'second', verdict: 'change', durationMs: 2 + (spans.length % 7) }),
    );
  }
  return spans.slice(0, count);
}
