import type { HookEventInput, HookEventName, HookInput, Moment } from '../protocol/types.js';

/** How another agent calls a tool, and what its hooks read of it. */
export interface ToolWords {
  readonly ours: string;
  /** The names that its matchers may use; the first is the one that its hooks read. */
  readonly theirs: readonly [string, ...string[]];
  /** Arguments that it calls otherwise: our name → its name. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** Arguments, by its names, that its hooks expect to be absolute paths. */
  readonly paths?: readonly string[];
  /** Fields that its hooks look for in the tool's result, besides ours. */
  readonly response?: (response: Fields, input: Fields) => Record<string, unknown>;
  /** What the model reads of such fields, where a hook gave them in place of the tool's result. */
  readonly output?: (replacement: Fields) => string | undefined;
}

/** What a hook said, in the format of our own hooks; what that has no word for stands beside it. */
export interface DialectAnswer {
  readonly output: Record<string, unknown>;
  /** What the user is to be told, and not the model. */
  readonly forUser?: readonly unknown[];
  /** What will not happen as the hook's author expects, one sentence each; told once. */
  readonly remarks?: readonly string[];
  /** What takes the place of the tool's result, in the agent's format. */
  readonly toolOutput?: { readonly value: unknown; readonly isDenial: boolean };
  /** What the model is to read with the tool's result. */
  readonly contextOfResult?: unknown;
  /** Whether the block counts for an event that hooks of ours cannot block. */
  readonly prevents?: boolean;
  /** Where the hook said what has another path in `output`: our path → its path. */
  readonly theirNames?: Readonly<Record<string, string>>;
}

/** What becomes of text on stdout that is no JSON: context for the model, a message to the user, or nothing. */
export type PlainText = 'context' | 'user' | 'nothing';

/** One entry for each event that differs, and one for all others. */
export type ByEvent<T> = { readonly [E in HookEventName]?: T } & { readonly otherwise: T };

/** How a matcher is read: it matches all, the names that it lists, or any part of a name. */
export type MatcherReading =
  | 'all'
  | { readonly names: readonly string[] }
  | {
      /** A regular expression. */
      readonly expression: string;
      /** What it matches where it is not valid. */
      readonly otherwise: 'itself' | 'nothing';
    };

/**
 * Reads a parsed answer. Names of tools and arguments stay the agent's.
 *
 * @param tool the agent's name of the tool, for events that have one
 */
export type AnswerReader = (said: Fields, tool?: string) => DialectAnswer;

export type Fields = Readonly<Record<string, unknown>>;

/** An event of another agent that is a moment of one of ours. */
export interface DialectMoment {
  readonly event: HookEventName;
  /** Its name there. */
  readonly name: string;
  /** What its hooks read, made of the fields that those of the event itself read. */
  readonly input: (fields: Fields) => Record<string, unknown>;
  readonly answer: AnswerReader;
}

/** Where another agent has its hooks. */
export interface ForeignSettings {
  /** Paths, relative to the project or the home directory. */
  readonly files: readonly string[];
  /** The variable that names the directory with the user's own `settings.json`, where there is one. */
  readonly directoryVariable?: string;
  /** Where there are hooks too, which are not looked at. */
  readonly notRead: string;
}

/** The format in which another agent talks to its hooks: tables, and nothing that runs by itself. */
export interface Dialect {
  /** The agent, for messages. */
  readonly agent: string;
  /** Where its settings hold hooks, for `hookstack migrate`. */
  readonly settings: ForeignSettings;
  /** Its names of events. What is not here it does not have, and keeps our name. */
  readonly events: { readonly [E in HookEventName]?: string };
  /** Moments of ours for which it has an event of its own. Its hooks of our event do not run then. */
  readonly moments: { readonly [M in Moment]?: DialectMoment };
  readonly tools: readonly ToolWords[];
  /** What stands between the parts of the name of an MCP server's tool, which is `mcp__server__tool` here. */
  readonly mcpSeparator: string;
  /** Whether arguments that a hook gives back take the place of all, so that one that it leaves out is gone. */
  readonly replacesArguments: boolean;
  /** The unit of `timeout`, for messages, and its ms. */
  readonly timeoutUnit: { readonly name: string; readonly ms: number };
  /** Ms until a hook without `timeout` is ended. */
  readonly defaultTimeoutMs: ByEvent<number>;
  /** How its matchers are read that are there, not empty and not `*`. */
  readonly readMatcher: (matcher: string, event: HookEventName) => MatcherReading;
  /** What matchers of events without a tool are compared with: our word → its word. */
  readonly subjects: Readonly<Record<string, string>>;
  /** The variables that its hooks find in their environment, besides those that all hooks find. */
  readonly environment: (input: Pick<HookInput, 'cwd' | 'session_id'>) => Record<string, string>;
  /** Variables that its hooks may refer to there, and that no hook finds here. */
  readonly missingVariables: readonly string[];
  /** The fields that every event has, without the event's name. */
  readonly commonInput: (input: HookInput) => Record<string, unknown>;
  /** The fields of an event, where they are not ours. Tools and their arguments have its names already. */
  readonly eventInput: {
    readonly [E in HookEventName]?: (input: HookEventInput<E>) => Record<string, unknown>;
  };
  /** What `onFailure` of a guard is there, where it is not `deny`. */
  readonly guardWord?: string;
  /** Whether an exit code denies, whatever is printed with it. Above 2 it does so only with a text. */
  readonly denies: (exitCode: number) => boolean;
  /** Whether stderr is read as stdout is, where that is empty. */
  readonly readsStderr: boolean;
  /** What text on stdout means, after exit code 0. */
  readonly plainText: ByEvent<PlainText>;
  /** How an answer is read, which counts with every exit code; one that denies adds `{ decision: "deny", reason }`. */
  readonly answers: ByEvent<AnswerReader>;
  /**
   * Fields of answers that do something there and nothing here: path → what is told of it, once; `null` for what is so
   * here anyway.
   */
  readonly unsupported: Readonly<Record<string, string | null>>;
}
