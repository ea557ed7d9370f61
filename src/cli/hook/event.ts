import { refusedVerdict } from '../../core/verdict.js';
import { readSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { dialects, sentEvent } from '../../dialects/dialects.js';
import { isHookEventName } from '../../protocol/events.js';
import { fieldOf, theirField } from '../../dialects/inputs.js';
import { receive, reply, UnreadableEvent } from '../../dialects/reverse.js';
import type { Received } from '../../protocol/received.js';
import type { Sender } from '../../protocol/names.js';
import { DIALECT_NAMES, type HookEventName, type DialectName } from '../../protocol/types.js';
import { errorCode, errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import { hostEnvironment } from '../../util/requester.js';
import type { LastWords } from '../shared/watchdog.js';
import type { HookOptions } from './hookArguments.js';
import { lastStop } from './sessionMemory.js';

/** What an agent sent: JSON that was parsed, or why there is none. */
export type HookInputReading = { readonly value: unknown } | { readonly problem: string };

/** Tools may give megabytes; more than this nobody sends who means it. */
export const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/** Whoever writes too much is heard out, up to here: a closed pipe would be his fault then, and not the hook's. */
const MAX_READ_BYTES = 16 * MAX_INPUT_BYTES;

const CHUNK_BYTES = 64 * 1024;

/** Reads stdin to its end. Never rejects. */
export async function readInput(): Promise<HookInputReading> {
  const chunks: Buffer[] = [];
  let size = 0;
  const keep = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_INPUT_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    return size <= MAX_READ_BYTES;
  };
  try {
    // Streams take a while to load.
    if (!readAtOnce(keep)) {
      for await (const chunk of process.stdin) if (!keep(chunk as Buffer)) break;
    }
    if (size > MAX_INPUT_BYTES) {
      return { problem: `the input is larger than ${MAX_INPUT_BYTES / 1024 / 1024} MiB` };
    }
    return parseInput(Buffer.concat(chunks));
  } catch (error) {
    return notJson(error);
  }
}

/** Reads what an agent has sent, as a whole. */
export function parseInput(bytes: Buffer): HookInputReading {
  try {
    return { value: JSON.parse(bytes.toString()) as unknown };
  } catch (error) {
    return notJson(error);
  }
}

function notJson(error: unknown): HookInputReading {
  return { problem: `the input is not JSON (${errorMessage(error)})` };
}

/**
 * @param keep whether it wants more
 * @returns whether that was all; `false` where stdin cannot be waited for like this
 */
function readAtOnce(keep: (chunk: Buffer) => boolean): boolean {
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    try {
      const bytes = readSync(0, buffer);
      if (bytes === 0 || !keep(buffer.subarray(0, bytes))) return true;
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') return false;
      throw error;
    }
  }
}

/** What an agent has sent; `undefined` for an event of its own that is none here. */
export type EventReading =
  | { readonly received: Received | undefined }
  | {
      readonly problem: string;
      /** Who sent it, where that could be seen. */
      readonly from?: DialectName;
      readonly event?: HookEventName | undefined;
      /** What can be answered where the event is known, though not what happened. */
      readonly unread?: Received | undefined;
    };

/** Whose files others run, too. */
const SHARED: ReadonlySet<DialectName> = new Set(['claude', 'copilot']);

/**
 * Several agents run what stands in the settings of another one, and tell it in their own words; so who sent an event is
 * looked for in what was sent, first. The environment is that of whoever asks.
 */
export function senderOf<S extends Sender>(sender: S, input: HookInputReading): S {
  const value = 'value' in input ? input.value : undefined;
  if (!SHARED.has(sender.from) || !isRecord(value)) return sender;
  const env = hostEnvironment();
  const told = DIALECT_NAMES.find((name) => dialects[name].isSender?.(value, env));
  const { hook_event_name: event, tool_name: tool } = value;
  const knows = (name: DialectName) =>
    sentEvent(dialects[name], event) !== undefined &&
    dialects[name].tools.some(({ theirs }) => theirs.some((each) => each === tool));
  const byTool = knows(sender.from) ? undefined : DIALECT_NAMES.find(knows);
  // Gemini CLI calls its events as we do.
  const isOurs = isHookEventName(event) && !sentEvent(dialects.claude, event);
  return { ...sender, from: told ?? byTool ?? (isOurs ? 'gemini' : sender.from) };
}

/** With the event's name, where what is sent does not say it. */
function withEvent(name: DialectName, event: string | undefined, value: unknown): unknown {
  if (event === undefined || !isRecord(value)) return value;
  return { [theirField(dialects[name].common, 'hook_event_name')]: event, ...value };
}

/** @param sender as {@link senderOf} has found it */
export function readEvent({ from, event }: Sender, input: HookInputReading): EventReading {
  if ('problem' in input) return input;
  try {
    return { received: receive(from, withEvent(from, event, input.value)) };
  } catch (error) {
    const { event: ours, unread } = error instanceof UnreadableEvent ? error : {};
    return { problem: errorMessage(error), from, event: ours, unread };
  }
}

/** How whoever sent an event is refused it, where that is no exit code. */
export function refusalBy(event: EventReading, from: DialectName) {
  const sender = 'received' in event ? event.received?.dialect : event.from;
  return dialects[sender ?? from].refusal;
}

const STUCK =
  'the hooks have not answered in time, and their process does not go on: look at code of extensions, and at drives that do not answer';

/** What an agent is told of a process that cannot say anything any more, and has no exit code of its own. */
export function lastWords(event: EventReading, from: DialectName): LastWords & { out: string } {
  const received = 'received' in event ? event.received : event.unread;
  const reason = `Blocked, as ${STUCK}`;
  // Agents read this form at all events, besides those of their own.
  const unknown = refusalBy(event, from)?.(reason) ?? { decision: 'block', reason };
  const said = received && reply(received, refusedVerdict(received, reason));
  const out = `${said?.text ?? JSON.stringify(said?.json ?? unknown)}\n`;
  const isUnheard = received && said?.stops !== undefined;
  return { out, err: reason, ...(isUnheard && { keeps: (why) => lastStop(received, why) }) };
}

/**
 * Where the project of an event is looked for.
 *
 * @param current the directory in which the agent has started this
 * @returns what names the directory, where that is no option, in `source`
 */
export function projectDirectory(
  { from, cwd }: HookOptions,
  input: HookInputReading,
  current: string,
): { readonly directory: string; readonly source?: string } {
  if (cwd !== undefined) return { directory: cwd };
  const [named] = namedDirectories(from, input);
  if (named) return { directory: nearestFolder(named.value), source: named.source };
  return { directory: current, source: 'the current directory' };
}

/** What names the project, what counts most first. Nothing of it has been looked at. */
export function namedDirectories(
  from: DialectName,
  input: HookInputReading,
): readonly { readonly value: string; readonly source: string }[] {
  const fields = 'value' in input && isRecord(input.value) ? input.value : {};
  const { projectVariable: variable = '' } = dialects[from];
  const said = [
    // The agent itself may be in another directory by now.
    { value: hostEnvironment()[variable], source: variable },
    { value: fieldOf(fields, dialects[from].common, 'cwd'), source: 'the "cwd" of the event,' },
  ];
  return said.flatMap(({ value, source }) => (isPath(value) ? [{ value, source }] : []));
}

/** The system has no longer ones, and each folder of it costs a look. */
const MAX_PATH = 4096;

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_PATH && isAbsolute(value);
}

/** Agents may go on in a folder that is gone by now, and it was part of the project. */
function nearestFolder(directory: string): string {
  const above = dirname(directory);
  return above === directory || isFolder(directory) ? directory : nearestFolder(above);
}

function isFolder(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch (error) {
    return errorCode(error) === 'EACCES';
  }
}
