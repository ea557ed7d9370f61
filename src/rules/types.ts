import type { CommandHookConfig } from '../protocol/types.js';

/** A word of a shell command, as far as it is known before it runs. */
export interface ShellWord {
  /** As it is written. */
  readonly text: string;
  /**
   * What it may become; several where a variable may have several, as that of a loop. `undefined` where only the shell
   * knows. Braces are words of their own.
   */
  readonly values?: readonly string[] | undefined;
  /** Whether a word without known values may become any number of words, also none: not quoted, or `"$@"`. */
  readonly isSplit?: boolean | undefined;
  /**
   * Whether the values are patterns of file names, which the shell replaces by the files that match. What was quoted in
   * them has a `\` before it.
   */
  readonly isGlob?: boolean | undefined;
}

/** One command that a text for a shell starts, or may start. */
export interface StartedCommand {
  /** The program and its arguments, without assignments and redirections. */
  readonly words: readonly ShellWord[];
  /** Files that a redirection has it read. */
  readonly reads: readonly ShellWord[];
  /** Files that a redirection has it write. */
  readonly writes: readonly ShellWord[];
  /** The part of the text that starts it. */
  readonly text: string;
  /** Absolute path where it runs; `undefined` after a `cd` to somewhere that only the shell knows. */
  readonly directory: string | undefined;
}

/** What is known of a text for a shell before it runs. */
export interface ShellReading {
  /** All that it may start, in any branch, function or substitution. What `sudo` or `xargs` starts stands beside them. */
  readonly commands: readonly StartedCommand[];
  /** Why there may be others: each the end of a sentence "It cannot be told what it starts, as it …". */
  readonly unknown: readonly string[];
}

/** A call of a tool, as conditions look at it. */
export interface Call {
  /** Our name of the tool, or one that is not known here. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Absolute path to which relative ones belong. */
  readonly cwd: string;
  /** Absolute path of the project. */
  readonly project: string;
}

/** A call, with what conditions have found in it: planner, runner and rule try the same ones. */
export interface KnownCall extends Call {
  /** The input as it was given, whatever it is. */
  readonly given: unknown;
  /** Why hooks run for it. */
  readonly found: Map<CommandHookConfig, FoundMatch>;
}

/** Why a condition matches. */
export interface FoundMatch {
  /** The pattern that matched, as it was written; `undefined` where there are exceptions only. */
  readonly pattern?: string;
  /** The part of the command, the path or the address that it matched. */
  readonly part?: string;
  /** Why that is not certain, the end of a sentence "It cannot be told, as …". Only guards match then. */
  readonly doubt?: string;
}

/** A list of patterns, ready to be tried. */
export interface Condition {
  /**
   * Why it matches; `undefined` where it does not. Never throws.
   *
   * @param isGuard whether what cannot be told counts as a match
   */
  find(call: Call, isGuard: boolean): FoundMatch | undefined;

  /**
   * Whether it matches all that the call does, for what is to allow it: each command that it starts, each file and address.
   * `find` is met by one of them, so that `git status && rm -rf ~` would pass as `Bash(git *)`.
   */
  covers(call: Call): FoundMatch | undefined;
}
