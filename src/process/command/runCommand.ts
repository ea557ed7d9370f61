import type { StartOptions } from './execution.js';
import { dropHeld, releaseHeld, takeHeld, type HeldCommand } from './heldCommands.js';
import { COMMAND_TIMINGS, type CommandTimings } from './limits.js';
import {
  collectOutput,
  drain,
  firstOf,
  letPendingEventsThrough,
  type CollectedOutput,
  type Interruption,
} from './outputCollector.js';
import { endGroup, untrackGroup } from './processGroup.js';
import { enterRoom, leaveRoom, letNextTry, startWithRoom } from './room.js';
import { startCommand, type RunningCommand } from './startCommand.js';

/** One command, and what it needs to run. */
export interface CommandOptions extends StartOptions {
  /** Bytes for stdin, shared between commands that run side by side and never modified. */
  readonly input: Uint8Array;
  /**
   * Ms until the command's process group is ended, at most 2^31 - 1; and until it is given up, where the
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
  /** How many of it may be held ready by the spawner. Default 0. */
  readonly warmShells?: number;
  /** What was started for it ahead of its event. Default: what is held for it in this process. */
  readonly held?: HeldCommand | undefined;
  /** What starts it. Default `startCommand`. */
  readonly start?: (options: StartOptions) => Promise<RunningCommand>;
}

/**
 * How a command came to its end: by itself with an exit code, killed by a signal, ended at its deadline,
 * ended by the caller, or never started. One that is kept, and one whose spawner is lost, may also have broken off, without an
 * answer.
 */
export type CommandEnding = 'exit' | 'signal' | 'timeout' | 'aborted' | 'spawn-failed' | 'broken';

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
  /**
   * Why the command never started, with the system's `code`; or, as the end of "The hook …", why it gave no answer, and
   * what of a server has failed that gave one. Present for `spawn-failed` and `broken`, and of a server for `exit`.
   */
  readonly error?: Error & { code?: string };
  /** Of an answer that came from a process that is kept: that process, and whether this was its first event. */
  readonly kept?: { readonly pid: number; readonly isNew: boolean };
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
    const { held = takeHeld(options) } = options;
    const ahead = held && (await releaseHeld(held));
    if (ahead) {
      enterRoom();
      const outcome = await superviseCommand(ahead, options, timings, startedAt);
      const hasEnded = outcome.ending === 'exit' || outcome.ending === 'signal';
      if (!hasEnded || !ahead.neverBegan?.()) return outcome;
    }
    const patience = { until: startedAt + timeoutMs, signal };
    const start = (options.start ?? startCommand).bind(undefined, options);
    const command = await startWithRoom(start, dropHeld, patience);
    return await superviseCommand(command, options, timings, startedAt);
  } catch (error) {
    const durationMs = Math.round(performance.now() - startedAt);
    const ending = signal?.aborted ? 'aborted' : 'spawn-failed';
    return { ...NOT_RUN, ending, durationMs, ...(!signal?.aborted && { error: error as Error }) };
  }
}

/** Writes the input and waits for the end of the command. Leftover processes are ended after the outcome is known. */
async function superviseCommand(
  command: RunningCommand,
  options: CommandOptions,
  timings: CommandTimings,
  startedAt: number,
): Promise<CommandOutcome> {
  const stdout = collectOutput(command.stdout, options.keepStdoutBytes);
  const stderr = collectOutput(command.stderr);
  const { stdin } = command;
  stdin.on('error', ignore);
  stdin.once('close', letNextTry);
  stdin.end(options.input);

  const first = await firstOf(command.exited, options);
  const interruption = first && (await unlessExited(command, first));
  if (interruption) await endInterrupted(command, [stdout, stderr], timings);
  else {
    const hasAnswered = () => stdout.isClosed || stdout.text().trim() !== '';
    const mustWait = options.mustAnswer && command.status.exitCode === 0;
    const ended = Promise.all([stdout.closed, stderr.closed]);
    await drain([stdout, stderr], ended, timings, mustWait ? hasAnswered : undefined);
  }

  const inputTaken = stdin.writableFinished;
  const stdoutHeld = !interruption && !stdout.isClosed;
  const stragglers = stdoutHeld || (!interruption && !stderr.isClosed);
  setImmediate(() => {
    for (const pipe of [stdin, command.stdout, command.stderr]) pipe.destroy();
    leaveRoom();
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
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/** The outcome of a command that never ran, without its reason. */
export const NOT_RUN = {
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

/** Ignores EPIPE: a command need not read its input. */
function ignore(): void {}

/** An exit that nobody has noticed yet came before a deadline or an abort. */
async function unlessExited(
  { status }: RunningCommand,
  interruption: Interruption,
): Promise<Interruption | undefined> {
  await letPendingEventsThrough();
  const hasExited = status.exitCode !== null || status.signalCode !== null;
  return hasExited ? undefined : interruption;
}

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
