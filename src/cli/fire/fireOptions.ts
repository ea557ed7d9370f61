import { text } from 'node:stream/consumers';

import { events } from '../../protocol/events.js';
import type { EventFields, HookEventName, Moment } from '../../protocol/types.js';
import { readText } from '../../util/guardedRead.js';
import { isRecord } from '../../util/records.js';
import { MAX_INPUT_BYTES } from '../hook/event.js';
import { makeFields, usedBy, type Given } from '../shared/eventFields.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { printNotice } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { standardInput } from '../shared/streams.js';

/** JSON may be `@FILE`, or `-` for stdin. */
export const EVENT_OPTIONS = ['tool', 'input', 'request', 'response', 'prompt'] as const;

type EventOptions = { readonly [Name in (typeof EVENT_OPTIONS)[number]]?: string };

export interface FireOptions extends WorkspaceOptions, EventOptions {
  readonly fromTrace?: string;
  /** Id of an event, or of a span in it. Default: the last blocked event, else the last one. */
  readonly span?: string;
  readonly trace?: string;
  readonly explain?: boolean;
  readonly repeat?: number;
  readonly record?: string;
}

/** @throws UsageError when a value cannot be read, or is not what the event takes */
export async function readFields<E extends HookEventName>(
  event: E,
  options: EventOptions,
  moment?: Moment,
): Promise<EventFields<E>> {
  for (const option of EVENT_OPTIONS) {
    if (options[option] === undefined || usedBy(event).includes(option)) continue;
    printNotice('note', `--${option} has no effect on ${event}`);
  }
  const given = await readGiven(event, options);
  return makeFields(event, moment === 'failed' ? withFailure(given) : given);
}

/** What a tool that failed gave. */
export function withFailure({ response, ...given }: Given): Given {
  const message = 'The tool failed';
  const failure = { llmContent: message, returnDisplay: message, error: { message } };
  return { ...given, response: isRecord(response) ? { ...failure, ...response } : failure };
}

async function readGiven(event: HookEventName, options: EventOptions): Promise<Given> {
  const uses = usedBy(event);
  const names = (['input', 'request', 'response'] as const).filter((name) => uses.includes(name));
  const fromStdin = names.filter((name) => options[name] === '-').map((name) => `--${name}`);
  if (fromStdin.length > 1) {
    throw new UsageError(
      `Only one option can read stdin, and ${fromStdin.join(' and ')} want to; use @FILE`,
    );
  }
  const given: Record<string, unknown> = { tool: options.tool, prompt: options.prompt };
  for (const name of names) {
    const isText = name === 'response' && 'prompt_response' in events[event].fields;
    const value = await readValue(`--${name}`, options[name]);
    given[name] = isText || value === undefined ? value : await parseJson(`--${name}`, value);
  }
  return given;
}

async function readValue(option: string, value: string | undefined): Promise<string | undefined> {
  if (value === '-') return text(standardInput());
  if (!value?.startsWith('@')) return value;
  return orUsageError(
    readText(value.slice(1), { maxBytes: MAX_INPUT_BYTES }),
    (detail) => `${option} ${value}: the file cannot be read (${detail})`,
  );
}

function parseJson(option: string, value: string): Promise<unknown> {
  return orUsageError(
    () => JSON.parse(value) as unknown,
    (detail) => `${option} is not JSON (${detail}); write JSON, @FILE, or - to read it from stdin`,
  );
}
