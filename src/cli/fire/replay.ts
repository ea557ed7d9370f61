import type { EventFields } from '../protocol/hookValidators.js';
import { isHookEventName } from '../protocol/events.js';
import { isRecord } from '../util/records.js';
import type { HookEventName, Moment } from '../protocol/types.js';
import { findPlaceholders, isCut, type SpanRecord } from '../trace/record.js';
import { recordedFields, OPTIONS, type PayloadOptions } from './firePayload.js';
import { lastBlock, openTrace } from './openTrace.js';
import { printNotice } from './terminal.js';
import { UsageError } from './usageError.js';
import type { Workspace } from './workspace.js';

/** Which event of a trace is fired again, in place of one that is made from options. */
export interface ReplayOptions {
  /** The trace. */
  readonly fromTrace?: string;
  /** The id of an event, or of a hook or middleware in it. Default: the last blocked event, else the last one. */
  readonly span?: string;
}

/** An event as a trace has it. */
export interface Recorded {
  readonly event: HookEventName;
  readonly fields: EventFields<HookEventName>;
  readonly moment?: Moment;
  /** The text that the trace has of it. */
  readonly text: string;
}

/**
 * Reads an event from a trace.
 *
 * @throws UsageError when there is none, or its input was cut, or is not what the event takes
 */
export async function readRecorded(
  file: string,
  { span: id, ...given }: ReplayOptions & PayloadOptions,
): Promise<Recorded> {
  const unused = OPTIONS.find((option) => given[option] !== undefined);
  if (unused !== undefined) {
    throw new UsageError(
      `--${unused} cannot be given with --from-trace: the trace says what it was`,
    );
  }
  const spans = await openTrace(file);
  const {
    event,
    input: text = '',
    ...span
  } = id === undefined ? lastEvent(spans, file) : eventAround(spans, id, file);
  const where = `${file}: the event ${span.id}`;
  if (!isHookEventName(event)) throw new UsageError(`${where} is none of ours`);
  if (isCut(text)) {
    throw new UsageError(
      `${where} cannot be fired again: the trace holds only the beginning of its input; fire ${event} with options that hold all of it, which may read files (@FILE)`,
    );
  }
  const payload = parsePayload(text, where);
  const moment = payload['isAsked'] === true ? 'asked' : undefined;
  return { event, moment, fields: recordedFields(event, payload), text };
}

/** Tells on stderr what of a recorded event is not what the hooks of then have read. */
export function noticePlaceholders({ text }: Recorded, { config }: Workspace): void {
  const placeholders = findPlaceholders(text, config.getHookEnvironment());
  if (placeholders.length === 0) return;
  printNotice(
    'note',
    'cyan',
    `the trace has ${placeholders.join(', ')} in place of what was masked or left out; a hook that looks at it may decide otherwise`,
  );
}

function lastEvent(spans: readonly SpanRecord[], file: string): SpanRecord {
  const found = lastBlock(spans) ?? spans.findLast(({ kind }) => kind === 'event');
  if (found) return found;
  throw new UsageError(`${file} holds no event; name a trace in which hooks ran`);
}

function eventAround(spans: readonly SpanRecord[], id: string, file: string): SpanRecord {
  const byId = new Map(spans.map((span) => [span.id, span]));
  const named = byId.get(id);
  if (!named) {
    throw new UsageError(`${file} holds no span ${id}; hookstack trace ${file} --json lists them`);
  }
  const passed = new Set<SpanRecord>();
  for (let span = named; !passed.has(span); span = byId.get(span.parent ?? '') ?? span) {
    if (span.kind === 'event') return span;
    passed.add(span);
  }
  throw new UsageError(
    `${file}: the span ${id} is a ${named.kind}, and part of no event; name an event, or a hook`,
  );
}

function parsePayload(text: string, where: string): Record<string, unknown> {
  try {
    const payload = JSON.parse(text) as unknown;
    if (isRecord(payload)) return payload;
  } catch {
    // Told below, as is what is JSON and no object.
  }
  throw new UsageError(`${where} has no input that could be fired again`);
}
