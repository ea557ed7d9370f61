import type { CallFacts } from '../protocol/events.js';
import type { DialectName, HookEventName, HookInput, Moment } from '../protocol/types.js';
import type { ReplyVerdict } from '../protocol/received.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Pairs of words: ours → the agent's. */
export type Words = Readonly<Record<string, string>>;

/** The names of a field: ours and the agent's, or one that both have. */
export type FieldNames = string | readonly [ours: string, theirs: string];

/** Arguments that an agent gives its tool in another form than ours. */
export interface ArgumentForm {
  readonly toTheirs: (tool: string, input: Fields) => Record<string, unknown>;
  /** The calls that it is here; `undefined` where it cannot be read. */
  readonly toOurs: (input: Fields) => readonly OurCall[] | undefined;
}

/** A call by our names. */
export interface OurCall {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

/** How another agent calls a tool, and what is in its result. */
export interface ToolWords {
  readonly ours: string;
  /** The names that its matchers may use; the first is the one that its hooks read. */
  readonly theirs: readonly [string, ...string[]];
  /** Arguments that it calls otherwise. */
  readonly arguments?: Words;
  /** The same, where it is not by their names alone. */
  readonly form?: ArgumentForm;
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
 * Fields of all answers that an agent does not know, or for which it takes an answer for none, with the denial in it. A
 * stop is said in the word of an answer then.
 */
export type CommonField = 'continue' | 'suppressOutput' | 'systemMessage';

/**
 * Where an answer has what hooks decided: its words for our verdicts, and the places of all else, as names with dots
 * between them. What has no place cannot be said.
 */
export interface AnswerWords {
  readonly words?: { readonly [K in ReplyVerdict['kind']]?: string | boolean };
  /** Default `decision`; `''` where the reason says it all. */
  readonly decision?: string;
  /** Default `reason`. */
  readonly reason?: string;
  /** Whether there is a reason of what is allowed as well. */
  readonly explainsAllow?: boolean;
  /** What the model is to read. */
  readonly context?: string;
  /** Whether it is not read, or makes the answer invalid, beside changed arguments. */
  readonly isContextAlone?: boolean;
  /** Verdicts whose reason is followed by the context. */
  readonly contextWith?: readonly ReplyVerdict['kind'][];
  /** Whether the model reads the reason of a block as context, and nothing else comes of it. */
  readonly blockIsContext?: boolean;
  /** The arguments of the tool. */
  readonly input?: string;
  /** Why the tool is refused whose arguments are changed, where they count beside a decision only. */
  readonly needsDecision?: string;
  /** The decision that changed arguments need, where there is no other one. */
  readonly inputWith?: string;
  /** What takes the place of the tool's result. */
  readonly output?: string;
  /** The answer that has the model read this text in place of the tool's result, where that is the one way to replace it. */
  readonly replaced?: (text: string) => Fields;
  /** What is true where the agent is to end. */
  readonly end?: string;
  /** Further ones than those that the agent refuses at all events. */
  readonly refuses?: readonly CommonField[];
  /** Whether the agent asks its user where nothing is said; elsewhere a question that it has no word for is a block. */
  readonly asksItself?: boolean;
  /** What is said of a stop at an event that cannot end the agent. */
  readonly cannotStop?: string;
  /** What it holds beside that, by place. */
  readonly more?: (verdict: ReplyVerdict) => Fields;
}

/** An event of another agent, what its hooks read of it, and what they say. */
export interface EventWords {
  readonly event: HookEventName;
  readonly name: string;
  /** What it is called in what the agent sends, where that is another name. */
  readonly sentAs?: string;
  /** The tools, by our names, that it is about; without it, all. */
  readonly about?: RegExp;
  /** The moment of our event that it stands for; hooks of the event itself do not run then. */
  readonly moment?: Moment;
  /** Whether what the agent sent is something else that goes by the same name, and none of our events. */
  readonly isOther?: (fields: Fields) => boolean;
  /** Fields of its input; without it, all of ours. Facts of a call are `tool_use_id` and `duration_ms`. */
  readonly fields?: readonly FieldNames[];
  /** Fields of its input that are always the same. */
  readonly constants?: Fields;
  /** Our fields, where they are not by another name alone. */
  readonly toOurs?: (fields: Fields) => Fields;
  /** The call that it tells, where that is not by the name of a tool and its arguments. */
  readonly toCall?: (fields: Fields) => OurCall | undefined;
  /** Its input, where it has a call, or its result, in another form than these fields. */
  readonly toInput?: (fields: Fields) => Record<string, unknown>;
  /** What our hooks read as the tool's result, which is this text; by default nothing but it. */
  readonly toResponse?: (fields: Fields, tool: string, text: string) => Record<string, unknown>;
  /** Whether nothing is printed where there is nothing to say, as the agent shows whatever it is. */
  readonly isSilent?: boolean;
  /** How an answer is read, where its places do not say that. */
  readonly read?: AnswerReader;
  /** Where an answer has what; without it, nothing can be said, and nothing is missed. */
  readonly answer?: AnswerWords;
  /** Whether the answer is an exit code: 2 refuses, for the reason on stderr. Text on stdout is what the model is to read, or nothing. */
  readonly exitCode?: 'context' | 'nothing';
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

/** Where an agent has hooks. */
export interface HookPlaces {
  /** Paths, relative to the project or the home directory. A `*` is any name; the first is the one to write. */
  readonly files: readonly string[];
  /** Those of the home directory, where they are others. */
  readonly userFiles?: readonly string[];
  /** The same, of a project, for one person alone: it is not committed. */
  readonly localFiles?: readonly string[];
  /** Where the events are in a file, as names with dots; `''` for the file itself. Default `hooks`. */
  readonly at?: string;
  /** Whether each key of a file is a name, with the events of its hooks. */
  readonly isNamed?: boolean;
  /** Whether hooks stand under their event one by one, with a matcher each; else in groups. */
  readonly isFlat?: boolean;
  /** A list of hooks that name their event as `trigger`, a folder with a program for each event, or a module of functions. */
  readonly form?: 'triggers' | 'programs' | 'plugin';
  /** The key of the time limit of a hook; `null` where there is none. Default `timeout`. */
  readonly timeoutKey?: string | null;
  /** Further names of its events in a file: that → its own. */
  readonly eventNames?: Words;
  /** Whether the commands of the user's own file are started in its folder, and not in the project. */
  readonly userFolder?: boolean;
  /** A file in which there may be hooks as well, of which `hookstack migrate` tells. */
  readonly tomlFile?: string;
  /** What a file that is made begins with. */
  readonly head?: Fields;
  /** What is there where the agent is used, in a project or the home directory. Default: the first folder of its files. */
  readonly foundBy?: readonly string[];
  /** Whose of the files for Claude Code it runs as well. */
  readonly runsClaude?: {
    readonly scopes: readonly ('project' | 'local' | 'user')[];
    /** Its switch for that, where it is off by default. */
    readonly ifOn?: string;
    /** Whether hooks have no `CLAUDE_PROJECT_DIR` there. */
    readonly lacksVariable?: boolean;
  };
  /** What a person has to do before it runs the hooks of a file. */
  readonly afterInstall?: string;
  /** The variable that names the directory with the user's own file, where there is one, and the file. */
  readonly directoryVariable?: { readonly name: string; readonly file: string };
  /**
   * Where plugins or extensions in a project have hooks: it may be one itself. A `*` is any folder.
   */
  readonly pluginFiles: readonly string[];
  /** Other places with hooks, which `hookstack migrate` does not read. */
  readonly notRead: string;
}

/**
 * The format in which another agent talks to its hooks: tables, and nothing that runs by itself. They are read in both
 * directions: for hooks that were written for the agent, and for the agent where it runs ours.
 */
export interface Dialect {
  /** The agent, for messages. */
  readonly agent: string;
  readonly settings: HookPlaces;
  /** The variable that names the project to its hooks. */
  readonly projectVariable?: string;
  /** Whether it was this agent that sent an event, as far as that can be told. */
  readonly isSender?: (fields: Fields, env: Readonly<NodeJS.ProcessEnv>) => boolean;
  readonly refuses?: readonly CommonField[];
  /** Under whose name its entry is written, where both run the same files; who sends an event is seen by what it sends. */
  readonly installedAs?: DialectName;
  /** Whether what it sends does not say which event it is, so that the command has to. */
  readonly tellsNoEvent?: boolean;
  /** What refuses an event that cannot be read, where exit code 2 does not, or not every one. */
  readonly refusal?: (reason: string) => Fields;
  /** Whether it runs a tool that hooks kept from the model, so that this is refused when it is called. */
  readonly runsWhatIsNotOffered?: boolean;
  /** Whether somebody answers its questions, where it would wait without end otherwise; elsewhere the agent knows. */
  readonly isAttended?: (env: Readonly<NodeJS.ProcessEnv>) => boolean;
  /** Whether nothing is printed where there is nothing to say; else an empty object. */
  readonly isSilent?: boolean;
  /** Its events, in the order in which `hookstack install` writes them. One of ours that is not here keeps our name. */
  readonly events: readonly EventWords[];
  /** Events that are only sent, and for which no hook is registered: by a mod of ours, or as a case of another event. */
  readonly sentOnly?: readonly EventWords[];
  /** Which event it is, where the name that was sent, or none, does not tell. */
  readonly eventName?: (fields: Fields) => string | undefined;
  /** Events that it also sends, of which there is nothing here. Nobody's hooks run then. */
  readonly otherEvents: readonly string[];
  /** Where it is named in one of those, if elsewhere. */
  readonly otherEventField?: string;
  /** Whether an event happens inside of a sub-agent, where all events name the agent. Default: those that name one. */
  readonly isHelper?: (fields: Fields) => boolean;
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
  /** Which of its other types of hooks mean here what they mean there. */
  readonly askedTypes?: readonly ('mcp_tool' | 'prompt')[];
  /** Whether its hooks may have an `if`, a permission rule as our `when`, which runs them where it cannot be told as well. */
  readonly hasConditions?: boolean;
  /** Whether an exit code denies. Above 2 it does so only with a text. */
  readonly denies: (exitCode: number) => boolean;
  /** Whether stderr is read in place of an empty stdout. */
  readonly readsStderr: boolean;
  /** After exit code 0. */
  readonly plainText: ByEvent<PlainText>;
  /** Fields of answers without an effect here: path → what to say about it, once; `null` for nothing. */
  readonly unsupported: Readonly<Record<string, string | null>>;
}
