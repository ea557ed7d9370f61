import type { CommandOptions, CommandOutcome } from '../runCommand.js';
import type { ProcessGroup } from '../processGroup.js';
import type { StartOptions } from '../execution.js';

/** What is large and used more than once is sent once, and named by a number until it is forgotten. */
export type SharedId = number;

/** A command as it is sent, its environment and its input by their numbers. */
export interface SentCommand extends Omit<
  CommandOptions,
  'env' | 'input' | 'signal' | 'start' | 'takeHeld'
> {
  readonly env: SharedId;
  /** Absent where the input is behind the message. */
  readonly input?: SharedId;
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
  | {
      readonly type: 'run';
      readonly id: number;
      readonly command: SentCommand;
    }
  | { readonly type: 'abort'; readonly id: number }
  /** What ran before it was there, and will come again. */
  | {
      readonly type: 'prepare';
      readonly commands: readonly SentStart[];
      /** How many of them may be held. */
      readonly max: number;
    }
  | { readonly type: 'prestart'; readonly id: number; readonly start: SentStart }
  | {
      readonly type: 'drop';
      readonly what: 'held' | 'prestarted';
      readonly cwd: string;
    }
  /** All that is to end with the host, in place of what was named before. */
  | { readonly type: 'watch'; readonly groups: readonly WatchedGroup[] }
  | { readonly type: 'ping' };

/** A process that the host has started itself, with what it has started. */
export type WatchedGroup = Pick<ProcessGroup, 'id' | 'mark'>;

/** An outcome without its texts, which are the bytes behind it. */
export interface SentOutcome extends Omit<CommandOutcome, 'stdout' | 'stderr' | 'error'> {
  /** Of the bytes, how many are stdout. */
  readonly stdoutBytes: number;
  readonly error?: { readonly message: string; readonly code?: string };
}

/** What a spawner tells its host. */
export type FromSpawner =
  /** From here on the command may have been started, as this run: where a shell expected it, as that of the shell. */
  | { readonly type: 'taken'; readonly id: number; readonly runId?: string }
  | { readonly type: 'ended'; readonly id: number; readonly outcome: SentOutcome }
  /** What was to be started ahead ended too early too often. */
  | { readonly type: 'gave-up'; readonly id: number }
  /** It is up, or still there, and so many commands are held in it. */
  | { readonly type: 'alive'; readonly held: number };
