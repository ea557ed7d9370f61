import { setMaxListeners } from 'node:events';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { releaseHeld, takeHeld } from './heldCommands.js';
import { COMMAND_TIMINGS, MAX_KEPT_BYTES, type CommandTimings } from './limits.js';
import { NOT_RUN, type CommandOptions, type CommandOutcome } from './outcome.js';
import { endGroup } from './processGroup.js';
import { letPendingEventsThrough, releaseMemory } from './reading.js';
import {
  enterRoom,
  hasExited,
  leaveRoom,
  letNextTry,
  untrackGroup,
  type Patience,
  type RunningCommand,
} from './runningCommand.js';
import { startCommand, startWithRoom } from './startCommand.js';

/**
 * Runs one command to its end, whatever happens: by its deadline plus 6 s there is an answer, and no
 * process of its group is left but background jobs that let go of its pipes.
 *
 * Never rejects: a command that could not be started is an outcome like any other.
 *
 * @param timings for tests; the defaults hold everywhere else
 */
export async function runCommand(
  options: CommandOptions,
  timings: CommandTimings = COMMAND_TIMINGS,
): Promise<CommandOutcome> {
  const startedAt = performance.now();
  const { signal, timeoutMs } = options;
  if (signal?.aborted) return { ...NOT_RUN, ending: 'aborted' };
  try {
    const { held = takeHeld(options) } = options;
    if (held && (await releaseHeld(held))) {
      enterRoom();
      const outcome = await superviseCommand(held, options, timings, startedAt);
      const hasEnded = outcome.ending === 'exit' || outcome.ending === 'signal';
      // With the word to go unread, nothing of it was run.
      if (!hasEnded || !held.gate?.errored) return outcome;
    }
    const patience = waitUntil(startedAt + timeoutMs, signal);
    const start = (options.start ?? startCommand).bind(undefined, options);
    const command = await startWithRoom(start, patience);
    return await superviseCommand(command, options, timings, startedAt);
  } catch (error) {
    const durationMs = Math.round(performance.now() - startedAt);
    const ending = signal?.aborted ? 'aborted' : 'spawn-failed';
    return { ...NOT_RUN, ending, durationMs, ...(!signal?.aborted && { error: error as Error }) };
  }
}

/** Waits for an event until a time of `performance.now()`, or an abort. */
export function waitUntil(until: number, signal: AbortSignal | undefined): Patience {
  return (event) => firstOf(event, { timeoutMs: Math.max(0, until - performance.now()), signal });
}

/** Writes the input and waits for the end of the command. Leftover processes are ended after the outcome is known. */
async function superviseCommand(
  command: RunningCommand,
  options: CommandOptions,
  timings: CommandTimings,
  startedAt: number,
): Promise<CommandOutcome> {
  const { group, subprocess } = command;
  const { stdin } = subprocess;
  const stdout = collectOutput(subprocess.stdout, options.keepStdoutBytes);
  const stderr = collectOutput(subprocess.stderr);
  stdin.on('error', ignore);
  stdin.once('close', letNextTry);
  stdin.end(options.input);

  const first = await firstOf(command.exited, options);
  // An exit that nobody has noticed yet came before a deadline or an abort.
  if (first) await letPendingEventsThrough();
  const interruption = hasExited(subprocess) ? undefined : first;
  if (interruption) await endInterrupted(command, [stdout, stderr], timings);
  else {
    const hasAnswered = () => isClosed(subprocess.stdout) || stdout.text().trim() !== '';
    const mustWait = options.mustAnswer && subprocess.exitCode === 0;
    const ended = Promise.all([stdout.closed, stderr.closed]);
    await drain([stdout, stderr], ended, timings, mustWait ? hasAnswered : undefined);
  }

  const inputTaken = stdin.writableFinished;
  const stdoutHeld = !interruption && !isClosed(subprocess.stdout);
  const stragglers = stdoutHeld || (!interruption && !isClosed(subprocess.stderr));
  setImmediate(() => {
    for (const pipe of [stdin, subprocess.stdout, subprocess.stderr]) pipe.destroy();
    leaveRoom();
    if (stragglers) void endStragglers(command, timings);
  });
  if (!stragglers) untrackGroup(group);

  const { exitCode, signalCode } = subprocess;
  return {
    ending: interruption ?? (signalCode ? 'signal' : 'exit'),
    exitCode,
    signal: signalCode,
    stdout: stdout.text(),
    stderr: stderr.text(),
    inputTaken,
    bytesRead: stdout.bytesRead + stderr.bytesRead,
    truncated: stdout.isTruncated || stderr.isTruncated,
    stdoutTruncated: stdout.isTruncated,
    stragglers,
    stdoutHeld,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/** Ignores EPIPE: a command need not read its input. */
function ignore(): void {}

async function endInterrupted(
  { group, exited }: RunningCommand,
  outputs: readonly CollectedOutput[],
  { graceMs, quietMs, drainMs, answerMs }: CommandTimings,
): Promise<void> {
  const answerBy = performance.now() + answerMs;
  await endGroup(group, graceMs);
  const ended = Promise.all([exited, ...outputs.map(({ closed }) => closed)]);
  await drain(outputs, ended, {
    quietMs,
    drainMs: Math.min(drainMs, answerBy - performance.now()),
  });
}

/** Runs after the outcome was returned: nobody waits for it. */
async function endStragglers({ group }: RunningCommand, timings: CommandTimings): Promise<void> {
  await endGroup(group, timings.stragglerGraceMs);
  untrackGroup(group);
}

/** What was read of a stream so far. */
interface CollectedOutput {
  /** Settles when nothing more can come: everybody who could write to the stream is gone. */
  readonly closed: Promise<unknown>;
  /** All bytes, kept or dropped. */
  readonly bytesRead: number;
  /** When the last bytes came, on the clock of `performance.now()`. */
  readonly lastReadAt: number;
  readonly isTruncated: boolean;
  /** What was kept, as UTF-8 without a byte order mark. A character that the limit cut in two is left out. */
  text(): string;
}

/**
 * Reads a stream to its end and keeps only its beginning, so that a flood costs time but no memory. It is to be destroyed
 * by whoever reads it. Its end comes one turn of the loop before it is closed, and not at all after an error.
 */
function collectOutput(stream: Readable, maxKeptBytes = MAX_KEPT_BYTES): CollectedOutput {
  const chunks: Uint8Array[] = [];
  let keptBytes = 0;
  const output = {
    closed: new Promise<unknown>((resolve) => {
      if (isClosed(stream)) resolve(undefined);
      for (const event of ['end', 'close']) stream.once(event, resolve);
    }),
    bytesRead: 0,
    lastReadAt: -Infinity,
    isTruncated: false,
    text: () => new TextDecoder().decode(Buffer.concat(chunks), { stream: output.isTruncated }),
  };
  // Nobody writes to it. Unless told so, Node closes it at its end, and takes its time before it hears of the exit.
  if (stream instanceof Socket) stream.allowHalfOpen = true;
  stream.on('error', ignore);
  stream.on('data', (chunk: Uint8Array) => {
    output.bytesRead += chunk.length;
    output.lastReadAt = performance.now();
    const kept = chunk.subarray(0, Math.max(0, maxKeptBytes - keptBytes));
    keptBytes += kept.length;
    output.isTruncated = keptBytes < output.bytesRead;
    if (kept.length > 0) chunks.push(kept);
    else releaseMemory(chunk);
  });
  return output;
}

function isClosed(stream: Readable): boolean {
  return stream.readableEnded || stream.closed;
}

/**
 * Reads what is left: until `ended` settles, `quietMs` pass without a byte, or `drainMs` are over.
 * A host that is too busy to read meanwhile does not count as silence.
 *
 * @param canEnd silence counts once it says so; without it, at once
 */
async function drain(
  outputs: readonly CollectedOutput[],
  ended: Promise<unknown>,
  { quietMs, drainMs }: { quietMs: number; drainMs: number },
  canEnd?: () => boolean,
): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const now = performance.now();
    let quietSince = canEnd?.() === false ? now : startedAt;
    for (const { lastReadAt } of outputs) quietSince = Math.max(quietSince, lastReadAt);
    const quietUntil = quietSince + quietMs;
    const remainingMs = Math.min(quietUntil, startedAt + drainMs) - now;
    if (remainingMs <= 0) return;
    if ((await firstOf(ended, { timeoutMs: remainingMs })) === undefined) return;
    await letPendingEventsThrough();
  }
}

/** What ends a command before it does so itself. */
export type Interruption = 'timeout' | 'aborted';

/**
 * Waits for an event. Says what came before it, if anything did.
 *
 * Written out, because promises of `node:timers` and `node:events` that are called off cost a third of a ms. Many
 * commands may wait for one signal, and each of them lets go of it.
 */
export function firstOf(
  event: Promise<unknown>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<Interruption | undefined> {
  return new Promise((resolve) => {
    const settle = (first?: unknown) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(first === 'timeout' || first === 'aborted' ? first : undefined);
    };
    const timer = setTimeout(settle, timeoutMs, 'timeout');
    const onAbort = () => settle('aborted');
    if (signal) setMaxListeners(0, signal);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    void event.then(settle);
  });
}
