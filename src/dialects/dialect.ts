import type { CallFacts } from '../protocol/events.js';
import type { HookEventName, HookInput, Moment } from '../protocol/types.js';
import type { ReplyVerdict } from './received.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Pairs of words: ours → the agent's. */
export type Words = Readonly<Record<string, string>>;

/** The names of a field: ours and the agent's, or one that both have. */
export type FieldNames = string | readonly [ours: string, theirs: string];

/** How another agent calls a tool, and what is in its result. */
export interface ToolWords {
  readonly ours: string;
  /** The names that its matchers may use; the first is the one that its hooks read. */
  readonly theirs: readonly [string, ...string[]];
  /** Arguments that it calls otherwise. */
  readonly arguments?: Words;
  /** The same of names that only some hosts have: nothing that the agent sends is read by them. */
  readonly hostArguments?: Words;
  /** Arguments, by its names, that its hooks expect to be absolute paths. */
  readonly paths?: readonly string[];
  /** Fields that its hooks look for in the tool's result, besides ours. */
  readonly response?: (response: Fields, input: Fields) => Record<string, unknown>;
  /** What the model reads of such fields, where a hook gave them in place of the tool's result. */
  readonly output?: (replacement: Fields) => string | undefined;
  /** A result that holds nothing but a text, in the form of the one that the agent gave. */
  readonly replacement?: (text: string, given: Fields, input: Fields) => unknown;
}

/**
 * Where an answer has what hooks decided: its words for our verdicts, and the places of all else, as names with dots
 * between them. What has no place cannot be said.
 */
export interface AnswerWords {
  readonly words?: { readonly [K in ReplyVerdict['kind']]?: string };
  /** Default `decision`. */
  readonly decision?: string;
  /** Default `reason`. */
  readonly reason?: string;
  /** Whether there is a reason of what is allowed as well. */
  readonly explainsAllow?: boolean;
  /** What the model is to read. */
  readonly context?: string;
  /** Verdicts whose reason is followed by the context. */
  readonly contextWith?: readonly ReplyVerdict['kind'][];
  /** Whether the model reads the reason of a block as context, and nothing else comes of it. */
  readonly blockIsContext?: boolean;
  /** The arguments of the tool. */
  readonly input?: string;
  /** Why the tool is refused whose arguments are changed, where they count beside a decision only. */
  readonly needsDecision?: string;
  /** What takes the place of the tool's result. */
  readonly output?: string;
  /** The decision whose reason the model reads in place of the tool's result, where that is the one way to replace it. */
  readonly replacing?: string;
  /** What is true where the agent is to end. */
  readonly end?: string;
  /** What is said of a stop at an event that cannot end the agent. */
  readonly cannotStop?: string;
  /** What it holds beside that, by place. */
  readonly more?: (verdict: ReplyVerdict) => Fields;
}

/** An event of another agent, what its hooks read of it, and what they say. */
export interface EventWords {
  readonly event: HookEventName;
  readonly name: string;
  /** The moment of our event that it stands for; hooks of the event itself do not run then. */
  readonly moment?: Moment;
  /** Whether it is this event only where the agent sends it: no hooks are registered for it here. */
  readonly isOnlySent?: boolean;
  /** Fields of its input; without it, all of ours. Facts of a call are `tool_use_id` and `duration_ms`. */
  readonly fields?: readonly FieldNames[];
  /** Fields of its input that are always the same. */
  readonly constants?: Fields;
  /** Its input, where it has the result of a tool in another form than these fields. */
  readonly toInput?: (fields: Fields) => Record<string, unknown>;
  /** What our hooks read as the tool's result, which is this text; by default nothing but it. */
  readonly toResponse?: (fields: Fields, tool: string, text: string) => Record<string, unknown>;
  /** How an answer is read, where its places do not say that. */
  readonly read?: AnswerReader;
  /** Where an answer has what; without it, nothing can be said, and nothing is missed. */
  readonly answer?: AnswerWords;
}

/** A hook's answer in our own format, and beside it what that format cannot express. */
export interface DialectAnswer {
  readonly output: Record<string, unknown>;
  /** What the user is to be told, and not the model. */
  readonly forUser?: readonly unknown[];
  /** Warnings about what has another effect here than the hook's author expects; each is written once. */
  readonly remarks?: readonly string[];
  /** What takes the place of the tool's result, in the agent's format. */
  readonly toolOutput?: { readonly value: unknown; readonly isDenial: boolean };
  /** What the model is to read with the tool's result. */
  readonly contextOfResult?: unknown;
  /** Whether the block counts for an event that hooks of ours cannot block. */
  readonly prevents?: boolean;
  /** Where the hook's answer had the fields of `output`: our path → its path. */
  readonly theirNames?: Words;
}

/**
 * Reads a parsed answer. Names of tools and arguments stay the agent's.
 *
 * @param tool the agent's name of the tool, for events that have one
 */
export type AnswerReader = (said: Fields, tool?: string, facts?: CallFacts) => DialectAnswer;

/** What plain text on stdout becomes: context for the model, a message to the user, or nothing. */
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
 * The format in which another agent talks to its hooks: tables, and nothing that runs by itself. They are read in both
 * directions: for hooks that were written for the agent, and for the agent where it runs ours.
 */
export interface Dialect {
  /** The agent, for messages. */
  readonly agent: string;
  /** Its events, in the order in which `hookstack install` writes them. One of ours that is not here keeps our name. */
  readonly events: readonly EventWords[];
  /** Events that it also sends, of which there is nothing here. Nobody's hooks run then. */
  readonly otherEvents: readonly string[];
  /** The fields that every event has. */
  readonly common: readonly FieldNames[];
  /** Those that are always the same. */
  readonly constants?: Fields;
  readonly tools: readonly ToolWords[];
  /** Its other tools, of which there is nothing here: they keep their names. */
  readonly otherTools?: readonly string[];
  /** Our name of the tool that a call is about, where its own does not tell. */
  readonly toolName?: (fields: Fields) => string | undefined;
  /** The separator in the names of an MCP server's tools; here `__`, as in `mcp__server__tool`. */
  readonly mcpSeparator: string;
  /** Whether an argument is removed that is not among those that a hook gives back; else those are merged. */
  readonly replacesArguments: boolean;
  /** The words that matchers of events without a tool are compared with. */
  readonly subjects: Words;
  /** Further words of its own for such a subject: its word → ours. */
  readonly otherSubjects?: Words;
  /** The unit of `timeout`, for messages, and its ms. */
  readonly timeoutUnit: { readonly name: string; readonly ms: number };
  /** Ms until a hook without `timeout` is ended. */
  readonly defaultTimeoutMs: ByEvent<number>;
  /** How its matchers are read, except for empty ones and `*`. */
  readonly readMatcher: (matcher: string, event: HookEventName) => MatcherReading;
  /** Environment variables of its hooks, besides those of all hooks. */
  readonly environment: (input: Pick<HookInput, 'cwd' | 'session_id'>) => Record<string, string>;
  /** Variables that its hooks may have there, and no hook has here. */
  readonly missingVariables: readonly string[];
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
  /** Fields of answers without an effect here: path → what to say about it, once; `null` for nothing. */
  readonly unsupported: Readonly<Record<string, string | null>>;
}
