import { readSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { receive, refusedVerdict, reply, UnreadableEvent } from '../../dialects/reverse.js';
import type { Received } from '../../dialects/received.js';
import type { HookEventName, DialectName } from '../../protocol/types.js';
import { errorCode, errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import { hostEnvironment } from '../../util/requester.js';
import type { LastWords } from '../shared/watchdog.js';
import type { HookOptions } from './hookArguments.js';

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
      readonly event?: HookEventName | undefined;
      /** What can be answered where the event is known, though not what happened. */
      readonly unread?: Received | undefined;
    };

export function readEvent({ from }: HookOptions, input: HookInputReading): EventReading {
  if ('problem' in input) return input;
  try {
    return { received: receive(from, input.value) };
  } catch (error) {
    const { event, unread } = error instanceof UnreadableEvent ? error : {};
    return { problem: errorMessage(error), event, unread };
  }
}

const STUCK =
  'the hooks have not answered in time, and their process does not go on: look at code of extensions, and at drives that do not answer';

/** What an agent is told of a process that cannot say anything any more, and has no exit code of its own. */
export function lastWords(event: EventReading): Required<LastWords> {
  const received = 'received' in event ? event.received : event.unread;
  // Agents read this form at all events, besides those of their own.
  const json = received
    ? reply(received, refusedVerdict(received, `Blocked, as ${STUCK}`)).json
    : { decision: 'block', reason: `Blocked, as ${STUCK}` };
  return { out: `${JSON.stringify(json)}\n`, err: `Blocked, as ${STUCK}\n` };
}

/** Where agents say which project is open. The agent itself may be in another directory by now. */
const PROJECT_VARIABLES: Readonly<Record<DialectName, string>> = {
  claude: 'CLAUDE_PROJECT_DIR',
  gemini: 'GEMINI_PROJECT_DIR',
};

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
  const variable = PROJECT_VARIABLES[from];
  const said = [
    { value: hostEnvironment()[variable], source: variable },
    { value: fields['cwd'], source: 'the "cwd" of the event,' },
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
