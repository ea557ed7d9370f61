import { writeSync } from 'node:fs';
import { inspect } from 'node:util';

/** What a hook says of one event, as a process of its own would with its exit code, stdout and stderr. */
export interface Said {
  readonly exitCode: number | string;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** The event that waits for its answer. */
interface OpenEvent {
  readonly id: unknown;
  /** What the hook has written to `process.stdout` meanwhile. */
  readonly written: Buffer[];
}

let open: OpenEvent | undefined;

/**
 * Answers the events on stdin one after the other, each a line of JSON, and ends the process when stdin ends. See
 * docs/persistent-hooks.md for the protocol.
 *
 * @param answer answers one input; never rejects
 * @returns all of stdin, where it is the input of an ordinary hook. Otherwise it never settles.
 */
export async function answerEvents(answer: (input: unknown) => Promise<Said>): Promise<string> {
  const releaseStdout = holdStdout();
  process.on('uncaughtExceptionMonitor', answerCrash);
  process.on('exit', answerExit);
  send('{"hookstack":1}');
  let isFirst = true;
  const nextLine = readLines();
  for (let line = await nextLine(); line !== undefined; line = await nextLine()) {
    const event = readEventLine(line);
    if (event) await answerEvent(event, answer);
    else if (isFirst) {
      releaseStdout();
      process.on('exit', answerSilence);
      return [line, ...(await restOf(nextLine))].join('\n');
    } else throw new Error(`A line on stdin is no event: ${line.slice(0, 100)}`);
    isFirst = false;
  }
  return process.exit(0);
}

/** Gives the next line of stdin, and `undefined` at its end. */
type NextLine = () => Promise<string | undefined>;

/** Without the iterator of a stream, which takes longer than all else that an event takes here. */
function readLines(): NextLine {
  const lines: string[] = [];
  let rest = '';
  let isOver = false;
  let fault: Error | undefined;
  let wake: (() => void) | undefined;
  const end = (error?: Error) => {
    if (rest !== '') lines.push(rest);
    [rest, isOver, fault] = ['', true, error];
    wake?.();
  };
  const { stdin } = process;
  stdin.setEncoding('utf8').on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    rest += first;
    for (const line of others) {
      lines.push(rest);
      rest = line;
    }
    if (lines.length > 0) wake?.();
  });
  stdin.on('end', () => end()).on('error', end);
  return async () => {
    if (lines.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve));
    if (fault) throw fault;
    return lines.shift();
  };
}

async function restOf(nextLine: NextLine): Promise<string[]> {
  const rest: string[] = [];
  for (let line = await nextLine(); line !== undefined; line = await nextLine()) rest.push(line);
  return rest;
}

interface EventLine {
  readonly id: unknown;
  readonly input: unknown;
}

function readEventLine(line: string): EventLine | undefined {
  try {
    const value = JSON.parse(line) as Partial<EventLine> | null;
    if (value?.id === undefined || value.input === undefined) return undefined;
    return { id: value.id, input: value.input };
  } catch {
    return undefined;
  }
}

async function answerEvent({ id, input }: EventLine, answer: (input: unknown) => Promise<Said>) {
  open = { id, written: [] };
  process.exitCode = undefined;
  sendAnswer(await answer(input));
}

/** Answers the event that waits, if there is one; `isLast` where the process is about to end. */
function sendAnswer({ exitCode, stdout = '', stderr = '' }: Said, isLast = false): void {
  if (!open) return;
  const { id, written } = open;
  open = undefined;
  const fields = [`"id":${JSON.stringify(id)}`];
  // As a process ends with it.
  const code = Number(exitCode) & 255;
  if (code !== 0) fields.push(`"exitCode":${code}`);
  if (written.length === 0 && stdout.startsWith('{')) fields.push(`"output":${stdout.trimEnd()}`);
  else {
    const text = Buffer.concat(written).toString() + stdout;
    if (text !== '') fields.push(`"stdout":${JSON.stringify(text)}`);
  }
  if (stderr !== '') fields.push(`"stderr":${JSON.stringify(stderr)}`);
  if (isLast) fields.push('"last":true');
  send(`{${fields.join(',')}}`);
}

/** The hook has called `process.exit`, or nothing is left that could settle its promise. */
function answerExit(exitCode: number): void {
  sendAnswer({ exitCode }, true);
}

/** After a hello, silence is no answer to the input of an ordinary hook. */
function answerSilence(exitCode: number): void {
  if (exitCode === 0 && process.stdout.bytesWritten === 0) send('{}');
}

function answerCrash(error: unknown): void {
  const isHandled =
    process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback();
  if (!open || isHandled) return;
  const text = error instanceof Error ? inspect(error) : `Uncaught ${inspect(error)}`;
  sendAnswer({ exitCode: 1, stderr: `${text}\n\nNode.js ${process.version}\n` }, true);
  // Node would write it to stderr as well.
  process.exit(1);
}

/** Keeps from the host what the hook writes to `process.stdout`: it belongs into the answer. */
function holdStdout(): () => void {
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  type Done = (error?: Error | null) => void;
  stdout.write = (chunk: string | Uint8Array, how?: BufferEncoding | Done, done?: Done) => {
    const encoding = typeof how === 'string' ? how : 'utf8';
    open?.written.push(
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk),
    );
    const written = typeof how === 'function' ? how : done;
    if (written) process.nextTick(written);
    return true;
  };
  return () => {
    stdout.write = write;
  };
}

const STDOUT = 1;
const PAUSE_MS = 1;

/** At once, as the process may be about to end. */
function send(line: string): void {
  let left = Buffer.from(`${line}\n`);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(STDOUT, left));
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
      // The reader has left, and there is nobody else to tell.
      if (!isFull) process.exit(0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
