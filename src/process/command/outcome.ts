import type { StartOptions } from './execution.js';
import type { HeldCommand } from './heldCommands.js';
import type { RunningCommand } from './runningCommand.js';

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
   * what of a server has failed that gave one. Present for `spawn-failed` and `broken`, and of a server for `exit`; for
   * `timeout`, what to do about it, where that is known.
   */
  readonly error?: Error & { code?: string };
  /** Of an answer that came from a process that is kept: that process, and whether this was its first event. */
  readonly kept?: { readonly pid: number; readonly isNew: boolean };
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
