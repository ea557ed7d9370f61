import type { StartOptions } from '../command/execution.js';
import type { ProcessGroup } from '../command/processGroup.js';
import type { CommandOptions, CommandOutcome } from '../command/runCommand.js';

/** What is large and used more than once is sent once, and named by a number until it is forgotten. */
export type SharedId = number;

/** A command as it is sent, its environment and its input by their numbers. */
export interface SentCommand extends Omit<
  CommandOptions,
  'env' | 'input' | 'signal' | 'start' | 'held'
> {
  readonly env: SharedId;
  /** Absent where the input is behind the message. */
  readonly input?: SharedId | undefined;
}

/** What starts ahead of its event, in an environment by its number. */
export interface SentStart extends Omit<StartOptions, 'env'> {
  readonly env: SharedId;
}

/** What a host tells its spawner. */
export type ToSpawner =
  /** The bytes behind it are an input, or the JSON of an environment. */
  | { readonly type: 'share'; readonly id: SharedId; readonly what: 'input' | 'environment' }
  | { readonly type: 'forget'; readonly id: SharedId }
  | { readonly type: 'run'; readonly id: number; readonly command: SentCommand }
  | { readonly type: 'abort'; readonly id: number }
  /** What will come: of those that do not say `prestart`, how many may be held. */
  | {
      readonly type: 'expect';
      readonly id: number;
      readonly start: SentStart;
      readonly max: number;
    }
  /** Lets go of all that waits in a directory. */
  | { readonly type: 'drop'; readonly cwd: string }
  /** All that is to end with the host, in place of what was named before. */
  | { readonly type: 'watch'; readonly groups: readonly WatchedGroup[] }
  | { readonly type: 'ping' };

/** A process that the host has started itself, with what it has started. */
export type WatchedGroup = Pick<ProcessGroup, 'id' | 'mark'>;

/** An outcome without its texts, which are the bytes behind it. */
export interface SentOutcome extends Omit<CommandOutcome, 'stdout' | 'stderr' | 'error'> {
  /** Of the bytes, how many are stdout. */
  readonly stdoutBytes: number;
  readonly error?: { readonly message: string; readonly code?: string | undefined } | undefined;
}

/** What a spawner tells its host. */
export type FromSpawner =
  /** From here on the command may have been started, as this run: that which it was held as, if it was. */
  | { readonly type: 'taken'; readonly id: number; readonly runId?: string | undefined }
  | { readonly type: 'ended'; readonly id: number; readonly outcome: SentOutcome }
  /** What was expected ended too early too often. */
  | { readonly type: 'gave-up'; readonly id: number }
  /** It is up, or still there. */
  | { readonly type: 'alive' };
