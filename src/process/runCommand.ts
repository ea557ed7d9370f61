import { setMaxListeners } from 'node:events';
import { drain } from './drain.js';
import { COMMAND_TIMINGS, type CommandTimings } from './limits.js';
import { untrackGroup } from './liveGroups.js';
import { OutputCollector } from './outputCollector.js';
import { dropPrestarted, takePrestarted } from './prestarted.js';
import { endGroup } from './processGroup.js';
import { letNextTry, noteEnd, noteStart, startWithRoom } from './shortage.js';
import { startCommand, type RunningCommand, type StartOptions } from './startCommand.js';
import { letPendingEventsThrough } from './waiting.js';
import { dropWarmShells, startInWarmShell } from './warmShells.js';

/** One command, and what it needs to run. */
export interface CommandOptions extends StartOptions {
  /** Bytes for stdin, shared between commands that run side by side and never modified. */
  readonly input: Uint8Array;
  /**
   * Ms until the command's process group is ended, as `normalizeTimeout` returns it; and until it is given up, where the
   * system has no room for it.
   */
  readonly timeoutMs: number;
  /** Ends the command's process group when it fires. */
  readonly signal?: AbortSignal;
  /** Bytes of stdout to keep; the rest is read and dropped. Default 1 MiB, as for stderr. */
  readonly keepStdoutBytes?: number;
  /**
   * Whether it has to answer on stdout: what holds an empty stdout after exit code 0 is then waited for, for as long as
   * output is waited for at all. Default false.
   */
  readonly mustAnswer?: boolean;
  /** Whether a shell that was started ahead may run it; see `prepareWarmShell`. Default false. */
  readonly warm?: boolean;
  /** Whether it may have been started ahead; see `prestart`. Default false. */
  readonly prestart?: boolean;
}

/**
 * How a command came to its end: by itself with an exit code, killed by a signal, ended at its deadline,
 * ended by the caller, or never started.
 */
export type CommandEnding = 'exit' | 'signal' | 'timeout' | 'aborted' | 'spawn-failed';

/** What became of one command. */
export interface CommandOutcome {
  readonly ending: CommandEnding;
  /** `null` when a signal ended the shell, or it never ran. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** UTF-8 without a byte order mark: the first `keepStdoutBytes`. */
  readonly stdout: string;
  /** The first MiB. */
  readonly stderr: string;
  /** Whether all of the input was taken. Little of it is in any case: a pipe holds some 200 kB that nobody reads. */
  readonly inputTaken: boolean;
  /** Bytes of both streams, kept or dropped. */
  readonly bytesRead: number;
  /** Whether bytes of either stream were dropped. */
  readonly truncated: boolean;
  /** Whether bytes of stdout were dropped, so that what was kept may not be all of an answer. */
  readonly stdoutTruncated: boolean;
  /** Whether something still held the pipes after the exit, for which it is ended where it can be found. */
  readonly stragglers: boolean;
  /** Whether that held stdout, so that what was read may not be all. */
  readonly stdoutHeld: boolean;
  readonly durationMs: number;
  /** Why the command never started, with the system's `code`. Present for `spawn-failed` only. */
  readonly error?: Error & { code?: string };
}

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
    const ahead = await takeStartedAhead(options);
    if (ahead) {
      const outcome = await follow(ahead, options, timings, startedAt);
      const hasEnded = outcome.ending === 'exit' || outcome.ending === 'signal';
      if (!hasEnded || !ahead.neverBegan?.()) return outcome;
    }
    const patience = { until: startedAt + timeoutMs, signal };
    const command = await startWithRoom(() => startCommand(options), dropPrepared, patience);
    return await follow(command, options, timings, startedAt);
  } catch (error) {
    const durationMs = millisecondsSince(startedAt);
    if (signal?.aborted) return { ...NOT_RUN, ending: 'aborted', durationMs };
    return { ...NOT_RUN, durationMs, error: error as Error };
  }
}

/** Hands a command its input, and stays with it to its end. */
async function follow(
  command: RunningCommand,
  options: CommandOptions,
  timings: CommandTimings,
  startedAt: number,
): Promise<CommandOutcome> {
  const stdout = new OutputCollector(command.stdout, options.keepStdoutBytes);
  const stderr = new OutputCollector(command.stderr);
  writeInput(command, options.input);

  const interruption = await waitForExit(command, options);
  if (interruption) await endInterrupted(command, [stdout, stderr], timings);
  else {
    const isAwaited = options.mustAnswer && command.status.exitCode === 0;
    const canEnd = () => !isAwaited || stdout.isClosed || stdout.text().trim() !== '';
    const ended = Promise.all([stdout.closed, stderr.closed]);
    await drain([stdout, stderr], ended, timings, canEnd);
  }

  const inputTaken = command.stdin.writableFinished;
  const stdoutHeld = !interruption && !stdout.isClosed;
  const stragglers = stdoutHeld || (!interruption && !stderr.isClosed);
  // Once there is an answer, because it takes a while.
  setImmediate(() => {
    closePipes(command);
    if (stragglers) void endStragglers(command, timings);
  });
  if (!stragglers) untrackGroup(command.group);

  const { exitCode, signalCode } = command.status;
  return {
    ending: interruption ?? (signalCode ? 'signal' : 'exit'),
    exitCode,
    signal: signalCode,
    stdout: stdout.text(),
    stderr: stderr.text(),
    inputTaken,
    bytesRead: stdout.bytesRead + stderr.bytesRead,
    truncated: stdout.truncated || stderr.truncated,
    stdoutTruncated: stdout.truncated,
    stragglers,
    stdoutHeld,
    durationMs: millisecondsSince(startedAt),
  };
}

/** Descriptors and processes that are only kept ready are the first to go. */
function dropPrepared(): boolean {
  const hadShells = dropWarmShells();
  return dropPrestarted() || hadShells;
}

async function takeStartedAhead(options: CommandOptions): Promise<RunningCommand | undefined> {
  const prestarted = options.prestart ? await takePrestarted(options) : undefined;
  const command = prestarted ?? (options.warm ? startInWarmShell(options) : undefined);
  if (command) noteStart();
  return command;
}

const NOT_RUN = {
  ending: 'spawn-failed',
  exitCode: null,
  signal: null,
  stdout: '',
  stderr: '',
  inputTaken: false,
  bytesRead: 0,
  truncated: false,
  stdoutTruncated: false,
  stragglers: false,
  stdoutHeld: false,
  durationMs: 0,
} as const satisfies CommandOutcome;

function writeInput({ stdin }: RunningCommand, input: Uint8Array): void {
  // EPIPE: a command need not read its input.
  stdin.on('error', () => undefined);
  stdin.once('close', letNextTry);
  stdin.end(input);
}

/** Waits for the shell's exit, and says what came before it. An exit that nobody has noticed yet comes first. */
async function waitForExit(
  { exited, status }: RunningCommand,
  options: CommandOptions,
): Promise<Interruption | undefined> {
  const first = await firstOf(exited, options);
  if (!first) return undefined;
  await letPendingEventsThrough();
  const hasExited = status.exitCode !== null || status.signalCode !== null;
  return hasExited ? undefined : first;
}

type Interruption = 'timeout' | 'aborted';

/** Written out, because promises of `node:timers` and `node:events` that are called off cost a third of a ms. */
function firstOf(
  exited: Promise<void>,
  { timeoutMs, signal }: CommandOptions,
): Promise<Interruption | undefined> {
  return new Promise((resolve) => {
    const settle = (first?: Interruption) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(first);
    };
    const timer = setTimeout(settle, timeoutMs, 'timeout');
    const onAbort = () => settle('aborted');
    // Many commands may wait for one signal, and each of them lets go of it.
    if (signal) setMaxListeners(0, signal);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    void exited.then(() => settle());
  });
}

async function endInterrupted(
  { group, exited }: RunningCommand,
  outputs: readonly OutputCollector[],
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

/** Goes on after the answer: nobody has to wait for it. */
async function endStragglers({ group }: RunningCommand, timings: CommandTimings): Promise<void> {
  await endGroup(group, timings.stragglerGraceMs);
  untrackGroup(group);
}

function closePipes({ stdin, stdout, stderr }: RunningCommand): void {
  for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
  noteEnd();
}

function millisecondsSince(start: number): number {
  return Math.round(performance.now() - start);
}
