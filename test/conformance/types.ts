import type { Config } from '../../src/config/config.js';
import type { Approval, ApprovalRequest, Approver } from '../../src/protocol/approval.js';
import type { CallSession, HookDefinitions, HookInput } from '../../src/protocol/types.js';

/** A tool that the host's agent is given for a turn. It records its runs. */
export interface ScenarioTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly parameters: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, { readonly type: 'string' }>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
  /**
   * What the tool does. Throws, where the scenario is about that.
   *
   * @param signal the one that the host gives to its tools
   */
  readonly execute: (args: Record<string, unknown>, signal?: AbortSignal) => Promise<string>;
}

/** What the mock model says next. Without `calls`, the turn is over. */
export interface ModelAnswer {
  readonly text: string;
  /** The text in the pieces in which a model that streams gives it. */
  readonly chunks: AsyncIterable<string>;
  readonly calls: readonly ModelAnswerCall[];
}

export interface ModelAnswerCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What the host's mock model was sent, as far as scenarios look at it. */
export interface SentRequest {
  /** All messages in order. The text of a tool's result is what the model reads of it, written as text. */
  readonly messages: readonly {
    readonly role: 'system' | 'user' | 'assistant' | 'tool';
    readonly text: string;
  }[];
  /** Names of the tools that the model is offered. */
  readonly tools: readonly string[];
  readonly temperature?: number | undefined;
}

/** One turn of the host's agent, with everything that it needs. */
export interface Turn {
  /** Hooks are on. Give it to the adapter. */
  readonly config: Config;
  /** For a host in another process: what `config` was made of, as settings. */
  readonly settings: {
    readonly enableHooks: true;
    readonly hooks: HookDefinitions;
    readonly afterModelDisplay: 'hold' | 'stream';
  };
  /** The directory of `config`, an empty one for this turn alone. */
  readonly workingDir: string;
  readonly tools: readonly ScenarioTool[];
  /**
   * The name of an agent that the host's agent can start, in the way of the host, with the argument `request`. It has the
   * same tools, model and system instruction.
   */
  readonly subagent?: string | undefined;
  readonly prompt: string;
  readonly systemInstruction: string;
  /** Whether to use the host's way of streaming. */
  readonly stream: boolean;
  /** Aborts the turn, where the scenario is about that. */
  readonly signal: AbortSignal;
  /** The identity to give to the adapter. */
  readonly session: CallSession;
  /** The person that hooks ask; `config` knows it. For hosts that ask in another way, who say what they know. */
  readonly approver: (
    request: Partial<ApprovalRequest>,
    options: Parameters<Approver>[1],
  ) => Promise<Approval>;
  /**
   * To be called by the mock model for every request: notes it, and gives the answer.
   *
   * @param signal the one that the host gives to its models
   */
  readonly model: (request: SentRequest, signal?: AbortSignal) => Promise<ModelAnswer>;
  /** To be called with every piece of text as soon as the host's caller gets it, where the host streams. */
  readonly show: (text: string) => void;
  /**
   * For what a host leaves open after a turn, such as processes: `close` is called once everything has been looked at,
   * so that nothing seems to end with an abort which ends only with the host.
   */
  readonly onEnd: (close: () => Promise<void> | void) => void;
}

/** What became of a turn. A turn that fails may just reject. */
export interface TurnResult {
  /** The agent's final answer, as the host's caller gets it. */
  readonly text: string;
  /** Why hooks ended the turn, in the way in which the adapter tells its host. */
  readonly stopped?: string | undefined;
}

/** Everything that was seen of a turn. */
export interface Seen {
  readonly text: string;
  readonly stopped: string | undefined;
  /** What the harness rejected with. */
  readonly error: unknown;
  /** Pieces of text, as they were shown. */
  readonly shown: readonly string[];
  /** Ms since 1970, of the first of them. */
  readonly shownAt: number | undefined;
  readonly sent: readonly SentRequest[];
  /** Tools that ran, with the arguments that they got. */
  readonly runs: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
  /** What hooks read, in order of their timestamps. */
  readonly read: readonly (HookInput & Readonly<Record<string, unknown>>)[];
  /** What the person was asked. */
  readonly asked: readonly Partial<ApprovalRequest>[];
  /** Ms from the abort to the end of the turn, where there was one. */
  readonly endedAfterAbort: number | undefined;
  /** Whether the tool or the model that was at work at the abort got it from the host. */
  readonly wasToldOfAbort: boolean;
  /** Whether a hook that waits has outlived the turn. */
  readonly hookIsLeft: boolean;
  /** What the adapter warned of, in the log of `config`. */
  readonly warnings: readonly string[];
}

/** Something that a harness declares to be otherwise in its host. */
export interface Difference {
  /** What happens instead: a few words for a cell of the table. */
  readonly instead: string;
  /** Whether that is what happened: a difference that cannot be seen is none. */
  readonly isSeen: (seen: Seen) => boolean;
}

/** Scenarios of tools. */
export type ToolScenarioName =
  | 'untouched'
  | 'rewrite'
  | 'block'
  | 'stop'
  | 'stopAfterTool'
  | 'ask'
  | 'annotate'
  | 'result'
  | 'failingHook'
  | 'failingGuard'
  | 'toolThrows'
  | 'parallel'
  | 'abort'
  | 'abortDuringTool'
  | 'identity';

/** Scenarios of model calls. */
export type ModelScenarioName =
  | 'synthetic'
  | 'syntheticStream'
  | 'blockModel'
  | 'stopModel'
  | 'stopAfterModel'
  | 'request'
  | 'redact'
  | 'redactHeld'
  | 'redactShown'
  | 'stream'
  | 'restrict'
  | 'restrictCalls'
  | 'abortModel'
  | 'abortDuringModel'
  | 'abortDuringStream'
  | 'modelReads';

/** Scenarios of what happens between them. */
export type MomentScenarioName =
  | 'batchEnd'
  | 'batchBlocked'
  | 'batchStop'
  | 'modelError'
  | 'modelRetry'
  | 'modelRetryStream'
  | 'subagent'
  | 'subagentInside'
  | 'subagentBlock'
  | 'subagentStop'
  | 'subagentBack';

export type ScenarioName = ToolScenarioName | ModelScenarioName | MomentScenarioName;

/** What an adapter's author writes: how one turn of an agent is run in the host, with the adapter and a mock model. */
export interface Harness {
  /** Host and version, for the table. */
  readonly host: string;
  readonly run: (turn: Turn) => Promise<TurnResult>;
  /** By scenario. */
  readonly differences?: Readonly<Partial<Record<ScenarioName, Difference>>>;
}

/** What is tried, and how one can tell that it works. */
export interface Scenario {
  /** What the adapter does, for the table. */
  readonly title: string;
  readonly hooks: HookDefinitions;
  /** What the model says, one after the other; in the end it always says `Done.` */
  readonly answers?: readonly ScriptedAnswer[];
  readonly stream?: boolean;
  readonly hold?: boolean;
  /** How often the model fails before it answers. */
  readonly modelFails?: number;
  /** The name of a sub-agent that the model can call, with a `request`. */
  readonly subagent?: string;
  /** Whether the tool throws. */
  readonly toolThrows?: boolean;
  /** What the person says, one after the other. */
  readonly person?: readonly ('allow' | 'deny')[];
  /** Aborts the turn as soon as this has begun; `stream` has once some text was shown. */
  readonly aborts?: 'hook' | 'tool' | 'model' | 'stream';
  /** Says what is not as it should be. */
  readonly check: (seen: Seen) => string | undefined;
}

/** A text, in one piece or several, or calls of tools. */
export type ScriptedAnswer =
  | string
  | readonly string[]
  | {
      readonly calls: readonly {
        readonly name: string;
        readonly args: Readonly<Record<string, unknown>>;
      }[];
    };
