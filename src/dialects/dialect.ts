import type { CallFacts } from '../protocol/events.js';
import type { HookEventInput, HookEventName, HookInput, Moment } from '../protocol/types.js';

/** How another agent calls a tool, and what its hooks read of it. */
export interface ToolWords {
  readonly ours: string;
  /** The names that its matchers may use; the first is the one that its hooks read. */
  readonly theirs: readonly [string, ...string[]];
  /** Arguments that it calls otherwise: our name → its name. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** Those of our names in `arguments` that our own hooks look for; the others are names of some hosts only. */
  readonly own?: readonly string[];
  /** Arguments, by its names, that its hooks expect to be absolute paths. */
  readonly paths?: readonly string[];
  /** Fields that its hooks look for in the tool's result, besides ours. */
  readonly response?: (response: Fields, input: Fields) => Record<string, unknown>;
  /** What the model reads of such fields, where a hook gave them in place of the tool's result. */
  readonly output?: (replacement: Fields) => string | undefined;
}

/** A hook's answer in our own format, and beside it what that format cannot express. */
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
  /** Where the hook's answer had the fields of `output`: our path → its path. */
  readonly theirNames?: Readonly<Record<string, string>>;
}

/** What text on stdout that is no JSON becomes: context for the model, a message to the user, or nothing. */
export type PlainText = 'context' | 'user' | 'nothing';

/** One entry for each event that differs, and one for all others. */
export type ByEvent<T> = { readonly [E in HookEventName]?: T } & { readonly otherwise: T };

/** A matcher matches all, or the names that it lists, or names in which an expression is found. */
export type MatcherReading =
  | 'all'
  | { readonly names: readonly string[] }
  | {
      readonly expression: string;
      /** What it matches where it is not valid. */
      readonly otherwise: 'itself' | 'nothing';
    };

/**
 * Reads a parsed answer. Names of tools and arguments stay the agent's.
 *
 * @param tool the agent's name of the tool, for events that have one
 */
export type AnswerReader = (said: Fields, tool?: string, facts?: CallFacts) => DialectAnswer;

export type Fields = Readonly<Record<string, unknown>>;

/** An event of another agent that is a moment of one of ours. */
export interface DialectMoment {
  readonly event: HookEventName;
  readonly name: string;
  /** What its hooks read, made of the fields that those of the event itself read. */
  readonly input: (fields: Fields) => Record<string, unknown>;
  readonly answer: AnswerReader;
}

export interface ForeignSettings {
  /** Paths, relative to the project or the home directory. */
  readonly files: readonly string[];
  /** The same, of a project, for one person alone: it is not committed. */
  readonly localFiles?: readonly string[];
  /** The variable that names the directory with the user's own `settings.json`, where there is one. */
  readonly directoryVariable?: string;
  /**
   * Where plugins or extensions in a project have hooks, of which `hookstack migrate` tells: it may be one itself. A `*` is
   * any folder.
   */
  readonly pluginFiles: readonly string[];
  /** Other places with hooks, which `hookstack migrate` does not read. */
  readonly notRead: string;
}

/** The format in which another agent talks to its hooks: tables, and nothing that runs by itself. */
export interface Dialect {
  /** The agent, for messages. */
  readonly agent: string;
  /** Where its settings hold hooks, for `hookstack migrate`. */
  readonly settings: ForeignSettings;
  /** Its names of events. An event that is not here keeps our name. */
  readonly events: { readonly [E in HookEventName]?: string };
  /** Moments of our events for which it has a separate event; hooks of the event itself do not run then. */
  readonly moments: { readonly [M in Moment]?: DialectMoment };
  readonly tools: readonly ToolWords[];
  /** The separator in the names of an MCP server's tools; here `__`, as in `mcp__server__tool`. */
  readonly mcpSeparator: string;
  /** Whether an argument that a hook leaves out of those that it gives back is removed. */
  readonly replacesArguments: boolean;
  /** The unit of `timeout`, for messages, and its ms. */
  readonly timeoutUnit: { readonly name: string; readonly ms: number };
  /** Ms until a hook without `timeout` is ended. */
  readonly defaultTimeoutMs: ByEvent<number>;
  /** How its matchers are read, except for empty ones and `*`. */
  readonly readMatcher: (matcher: string, event: HookEventName) => MatcherReading;
  /** The words that matchers of events without a tool are compared with: our word → its word. */
  readonly subjects: Readonly<Record<string, string>>;
  /** Environment variables of its hooks, besides those of all hooks. */
  readonly environment: (input: Pick<HookInput, 'cwd' | 'session_id'>) => Record<string, string>;
  /** Variables that its hooks may have there, and no hook has here. */
  readonly missingVariables: readonly string[];
  /** The fields that every event has, without the event's name. */
  readonly commonInput: (input: HookInput) => Record<string, unknown>;
  /** The fields of an event, where they are not ours. Tools and their arguments have its names already. */
  readonly eventInput: {
    readonly [E in HookEventName]?: (
      input: HookEventInput<E>,
      facts: CallFacts,
    ) => Record<string, unknown>;
  };
  /** Its word for `onFailure: "deny"`, if it has another one. */
  readonly guardWord?: string;
  /** Whether it has hooks of `type: "http"`, which are remote hooks here. */
  readonly hasHttpHooks?: boolean;
  /** Whether an exit code denies. Above 2 it does so only with a text. */
  readonly denies: (exitCode: number) => boolean;
  /** Whether stderr is read in place of an empty stdout. */
  readonly readsStderr: boolean;
  /** After exit code 0. */
  readonly plainText: ByEvent<PlainText>;
  /** How an answer is read, which counts with every exit code; one that denies adds `{ decision: "deny", reason }`. */
  readonly answers: ByEvent<AnswerReader>;
  /** Fields of answers without an effect here: path → what to say about it, once; `null` for nothing. */
  readonly unsupported: Readonly<Record<string, string | null>>;
}
