import { events, isHookEventName } from '../../protocol/events.js';
import type { HookEventName } from '../../protocol/types.js';
import { findPlaceholders, isCut, type SpanRecord } from '../../trace/record.js';
import { isRecord } from '../../util/records.js';
import { checkFields, toModelFields } from '../shared/eventFields.js';
import { lastBlock, openTrace } from '../shared/readTrace.js';
import { printNotice } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import type { Workspace } from '../shared/workspace.js';
import { EVENT_OPTIONS, type FireOptions } from './fireOptions.js';

/** @throws UsageError when there is no event, its input was cut, or is not what the event takes */
export async function readRecorded(file: string, options: FireOptions) {
  const unused = EVENT_OPTIONS.find((option) => options[option] !== undefined);
  if (unused !== undefined) {
    throw new UsageError(
      `--${unused} cannot be given with --from-trace: the trace says what it was`,
    );
  }
  const spans = await openTrace(file);
  const span =
    options.span === undefined ? lastEvent(spans, file) : eventAround(spans, options.span, file);
  const { event, input: text = '' } = span;
  const where = `${file}: the event ${span.id}`;
  if (!isHookEventName(event)) throw new UsageError(`${where} is none of ours`);
  if (isCut(text)) {
    throw new UsageError(
      `${where} cannot be fired again: the trace holds only the beginning of its input; fire ${event} with options that hold all of it, which may read files (@FILE)`,
    );
  }
  const payload = parsePayload(text, where);
  const moment = span.moment === 'asked' ? ('asked' as const) : undefined;
  return { event, moment, fields: await fieldsOf(event, payload, where), text };
}

export function noticePlaceholders(text: string, { config }: Workspace): void {
  const placeholders = findPlaceholders(text, config.getHookEnvironment());
  if (placeholders.length === 0) return;
  printNotice(
    'note',
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
    // Reported below, as is JSON that is not an object.
  }
  throw new UsageError(`${where} has no input that could be fired again`);
}

/** Requests and responses are recorded as hooks read them, and fired as the model has them. */
function fieldsOf(event: HookEventName, given: Record<string, unknown>, where: string) {
  const names = Object.keys(events[event].fields);
  const fields = names.flatMap((name) => (Object.hasOwn(given, name) ? [[name, given[name]]] : []));
  const known = Object.fromEntries(fields) as Record<string, unknown>;
  const read = () => checkFields(event, toModelFields(event, known));
  return orUsageError(read, () => `${where} has no input that could be fired again`);
}
