import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { ToolResult } from '../tools/tools.js';
import type { LLMRequest, LLMResponse } from './modelTypes.js';

/** The moments of an agent's life at which hooks run. The values are the names used in settings.json. */
export enum HookEventName {
  BeforeTool = 'BeforeTool',
  AfterTool = 'AfterTool',
  BeforeModel = 'BeforeModel',
  AfterModel = 'AfterModel',
  BeforeToolSelection = 'BeforeToolSelection',
  BeforeAgent = 'BeforeAgent',
  AfterAgent = 'AfterAgent',
  SessionStart = 'SessionStart',
  SessionEnd = 'SessionEnd',
  PreCompress = 'PreCompress',
  Notification = 'Notification',
}

/**
 * Occasions of an event that other agents have an event of their own for. `asked`: BeforeTool hooks want the user to be
 * asked; then the event is fired once more, for the hooks of this moment alone. `failed`: the tool failed.
 */
export const MOMENTS = ['asked', 'failed'] as const;
export type Moment = (typeof MOMENTS)[number];

/** Agents whose hooks run here as they are, by the names that settings use. */
export const DIALECT_NAMES = ['claude', 'gemini'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** The kind of hook that starts a process. `remote` asks a server; `plugin` is accepted in settings but has no runner. */
export enum HookType {
  Command = 'command',
}

/** Where a hook came from. Earlier in this list means higher priority: it runs first and wins deduplication. */
export enum ConfigSource {
  Project = 'project',
  User = 'user',
  System = 'system',
  Extensions = 'extensions',
}

/** Why a session began. */
export enum SessionStartSource {
  Startup = 'startup',
  Resume = 'resume',
  Clear = 'clear',
}

/** Why a session ended. */
export enum SessionEndReason {
  Exit = 'exit',
  Clear = 'clear',
  Logout = 'logout',
  PromptInputExit = 'prompt_input_exit',
  Other = 'other',
}

/** What caused the history to be compressed. */
export enum PreCompressTrigger {
  Manual = 'manual',
  Auto = 'auto',
}

/** What the user is being notified of. */
export enum NotificationType {
  ToolPermission = 'ToolPermission',
  Idle = 'Idle',
  Other = 'Other',
}

/** One hook as it is written in settings.json. */
export interface CommandHookConfig {
  /** `command`; `remote`, which asks a server; or `plugin`, which the registry accepts and the runner refuses. */
  readonly type: 'command' | 'remote' | 'plugin';
  /** The shell command; beside `args` the program. Required for `type: "command"`, and `''` for others. */
  readonly command: string;
  /**
   * The arguments of the program that `command` names, which is started without a shell: nothing is expanded but
   * references to the project or the extension.
   */
  readonly args?: readonly string[];
  /** The shell that runs the command: `bash` is the only one, and what runs it anyway. */
  readonly shell?: 'bash';
  /** A stable name for lists, logs and `disabledHooks`; the command is used where it is missing. */
  readonly name?: string;
  readonly description?: string;
  /** Milliseconds until the hook's process group is ended. Default 60,000; in a dialect, what its agent has. */
  readonly timeout?: number;
  /** Additional environment variables of the hook's process. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * What a failure of the hook (start, timeout, crash, signal, unreadable output) means for the operation. Default
   * `allow`: it goes on. `deny` is for guards: it does not. After a tool or the model, where nothing can be prevented,
   * what they gave is withheld.
   */
  readonly onFailure?: 'allow' | 'deny';
  /** Failures in a row after which the hook is switched off until the next reload. Never for `onFailure: "deny"`. */
  readonly maxConsecutiveFailures?: number;
  /**
   * Start the command ahead, so that it waits for its input when the event comes. What it does before it reads stdin
   * happens early then. `timeout` counts from the event.
   */
  readonly prestart?: boolean;
  /**
   * Keep the process for the events to come, which it answers line by line; see docs/persistent-hooks.md. `processes`:
   * how many may answer side by side, default 1; `maxMemory`: MB of memory after which it is started anew, default 512.
   */
  readonly persistent?: boolean | PersistentOptions;
  /**
   * Of `type: "remote"`: the server that is asked, `https://HOST/PATH` or `nats://HOST:PORT/TEAM/AGENT`. It gets what a
   * command reads on stdin, and answers what one prints.
   */
  readonly url?: string;
  /** Of `type: "remote"`: a file that others cannot read, with what proves who asks; `~/` is the home directory. */
  readonly tokenFile?: string;
  /** The same, in a variable of the host. */
  readonly tokenVariable?: string;
  /** Of `type: "remote"`: a file with the certificates to believe, in place of those of Node. */
  readonly caFile?: string;
  /** Of `type: "remote"`: a certificate of one's own, and its key. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Of `type: "remote"` with `https://`: additional headers of the request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The dialect of the hook's group. Set by the registry; in settings, the group says it. */
  readonly dialect?: DialectName;
  /** The only moment at which the hook runs, where its agent has an event of its own for that. Set by the registry. */
  readonly moment?: Moment;
  /**
   * Absolute path of the extension that brought the hook, which its command finds as `${extensionPath}`. Set by the
   * registry; settings cannot say it.
   */
  readonly extensionPath?: string;
  /** Whose hook it is. Set by the registry; settings cannot say it. Default: the host's own. */
  readonly scope?: HookScope;
}

/**
 * Whose hook it is, from the most trusted to the least: of the system, the host, or a file that it was given; of the
 * user; of an extension that the user has installed; of the project or one of its extensions. What less trusted hooks
 * say can only tighten what more trusted ones left.
 */
export const HOOK_SCOPES = ['system', 'user', 'extension', 'project'] as const;
export type HookScope = (typeof HOOK_SCOPES)[number];

/** What a hook may say of the processes that are kept for it. */
export interface PersistentOptions {
  readonly processes?: number;
  readonly maxMemory?: number;
}

/** The settings file that a hook was read from, for lists and messages. */
export interface HookOrigin {
  readonly scope: 'project' | 'user' | 'system' | 'file' | 'extension';
  /** Absolute path of the file, where there is one. */
  readonly file?: string;
}

/** A group of hooks that share a matcher. */
export interface HookDefinition {
  /** Regular expression tested against the tool's name; absent, `""` and `"*"` match every tool. */
  readonly matcher?: string;
  /** Run the hooks of this event one after the other, each seeing what the one before it changed. */
  readonly sequential?: boolean;
  /**
   * The agent that the hooks were written for, when it is another one. Its hooks run as they are: matcher and `timeout`
   * are as that agent reads them (`claude`: lists of names, seconds), and so is everything that the hooks read and say.
   */
  readonly dialect?: DialectName;
  readonly hooks: readonly CommandHookConfig[];
  /** The moment that the agent's name of the event stands for, where the group was found under such a name. */
  readonly moment?: Moment;
  /** Set by `loadSettings`; hooks that a host passes in code have none. */
  readonly origin?: HookOrigin;
}

/** Hook groups by event, as under the `hooks` key of settings.json. */
export type HookDefinitions = { readonly [E in HookEventName]?: readonly HookDefinition[] };

/** What a hook may decide. Absent, `null`, `allow`, `approve` and `ask` let the operation go on. */
export type HookDecision = 'block' | 'deny' | 'allow' | 'approve' | 'ask' | null | undefined;

/** The JSON object that a hook prints on stdout. Every field is optional. */
export interface HookOutput {
  decision?: HookDecision;
  /** Why. Shown to the model, or the user, when the operation is blocked. */
  reason?: string;
  /** `false` ends the agent loop. */
  continue?: boolean;
  stopReason?: string;
  /** `true` hides the operation's output from the user; the model still sees it. */
  suppressOutput?: boolean;
  /** Text for the model, never for the user. */
  systemMessage?: string;
  hookSpecificOutput?: Record<string, unknown>;
  /** Written by the hook's dialect and its failure, and never read from what a hook prints. */
  foreign?: ForeignEffects;
}

/** What our own format has no word for: what a hook of another agent wants, and what its own failure means. */
export interface ForeignEffects {
  /** BeforeTool: arguments, by our names, that are gone from those of the call. */
  readonly droppedArguments?: readonly string[];
  /** AfterTool: what takes the place of the tool's result. */
  readonly toolOutput?: ToolOutput;
  /** BeforeTool: what the model reads with the tool's result. */
  readonly contextOfResult?: string;
  /** PreCompress: the block prevents it. */
  readonly prevents?: boolean;
  /**
   * AfterTool, AfterModel: what is read in place of the result, or the answer, as a guard has failed that had to see it.
   * Nothing that another hook says of it counts beside.
   */
  readonly withheld?: string;
}

/** The text that model and user read in place of what a tool gave. */
export interface ToolOutput {
  readonly text: string;
  /** Whether it is the reason of a denial, over which no other replacement counts. */
  readonly isDenial: boolean;
}

/** For whom a call is made, where one host serves several sessions. What is left out is that of the `Config`. */
export interface CallSession {
  /** What hooks read as `session_id`. A yes of a person for the session counts for it alone. */
  readonly sessionId?: string;
  /** What hooks read as `cwd`. Their processes run in the directory of the `Config` all the same. */
  readonly cwd?: string;
  /** What hooks read as `transcript_path`. Of a session with an id of its own, there is none by default. */
  readonly transcriptPath?: string;
  /** What hooks read as `agent`: which of several agents makes the call. */
  readonly agent?: string;
}

/** The fields that every hook receives. */
export interface HookInput {
  session_id: string;
  cwd: string;
  /** ISO 8601. */
  timestamp: string;
  hook_event_name: HookEventName;
  /** Path of the session's transcript, or `''`. */
  transcript_path: string;
  /** Which of several agents makes the call, where the host has said so. */
  agent?: string;
}

export interface BeforeToolInput extends HookInput {
  tool_name: string;
  tool_input: Record<string, unknown>;
}

export interface AfterToolInput extends BeforeToolInput {
  /** `llmContent`, `returnDisplay`, and where present `metadata` and `error` of the tool's result. */
  tool_response: Record<string, unknown>;
}

export interface BeforeModelInput extends HookInput {
  llm_request: LLMRequest;
}

export interface AfterModelInput extends BeforeModelInput {
  llm_response: LLMResponse;
}

export type BeforeToolSelectionInput = BeforeModelInput;

export interface BeforeAgentInput extends HookInput {
  prompt: string;
}

export interface AfterAgentInput extends BeforeAgentInput {
  prompt_response: string;
  /** True when this turn was asked for by an AfterAgent hook that blocked the one before. */
  stop_hook_active: boolean;
}

export interface SessionStartInput extends HookInput {
  source: SessionStartSource;
}

export interface SessionEndInput extends HookInput {
  reason: SessionEndReason;
}

export interface PreCompressInput extends HookInput {
  trigger: PreCompressTrigger;
}

export interface NotificationInput extends HookInput {
  notification_type: NotificationType;
  message: string;
  details: Record<string, unknown>;
}

/** What a caller hands in per event (`payload`), and what a script reads on stdin (`input`). */
export interface HookEventTypes {
  BeforeTool: {
    payload: {
      toolName: string;
      toolInput: Record<string, unknown>;
      callId?: string;
      /** Whether the hooks of the call have answered, and want the user to be asked. */
      isAsked?: boolean;
      /** Whether the caller puts to a person what hooks ask. */
      canAsk?: boolean;
    };
    input: BeforeToolInput;
  };
  AfterTool: {
    payload: {
      toolName: string;
      toolInput: Record<string, unknown>;
      toolResponse: ToolResult | Record<string, unknown>;
      callId?: string;
      durationMs?: number;
    };
    input: AfterToolInput;
  };
  BeforeModel: { payload: { llmRequest: GenerateContentParameters }; input: BeforeModelInput };
  AfterModel: {
    payload: { llmRequest: GenerateContentParameters; llmResponse: GenerateContentResponse };
    input: AfterModelInput;
  };
  BeforeToolSelection: {
    payload: { llmRequest: GenerateContentParameters };
    input: BeforeToolSelectionInput;
  };
  BeforeAgent: { payload: { prompt: string }; input: BeforeAgentInput };
  AfterAgent: {
    payload: { prompt: string; promptResponse: string; stopHookActive: boolean };
    input: AfterAgentInput;
  };
  SessionStart: { payload: { source: SessionStartSource }; input: SessionStartInput };
  SessionEnd: { payload: { reason: SessionEndReason }; input: SessionEndInput };
  PreCompress: { payload: { trigger: PreCompressTrigger }; input: PreCompressInput };
  Notification: {
    payload: {
      notificationType: NotificationType;
      message: string;
      details: Record<string, unknown>;
    };
    input: NotificationInput;
  };
}

export type HookPayload<E extends HookEventName> = HookEventTypes[E]['payload'];
export type HookEventInput<E extends HookEventName> = HookEventTypes[E]['input'];

/** Which hooks run for one event, in order. */
export interface HookExecutionPlan {
  readonly eventName: HookEventName;
  readonly hookConfigs: readonly CommandHookConfig[];
  readonly sequential: boolean;
}

/** What became of one hook. */
export interface HookExecutionResult {
  readonly hookConfig: CommandHookConfig;
  readonly eventName: HookEventName;
  /** True for exit code 0 only. Says whether the hook was healthy, not what it decided. */
  readonly success: boolean;
  /** What the hook said, read and checked; absent when it said nothing. */
  readonly output?: HookOutput;
  readonly stdout?: string;
  readonly stderr?: string;
  /** The exit code; 0 beside `success: false` when a signal ended the hook (see `signal`). */
  readonly exitCode?: number;
  readonly signal?: string;
  /** Milliseconds. */
  readonly duration: number;
  /** Why the hook could not be run to its end. Absent for a plain exit, whatever its code. */
  readonly error?: Error;
  /**
   * What went wrong, and what to do about it: the exception of its stderr, with file and line, or what of its stdout
   * does not count. Absent where that is not known.
   */
  readonly why?: string;
  /** Of a persistent hook: whether its process was started for this event, or had answered another one before. */
  readonly process?: ProcessAge;
}

/** How old the process of a persistent hook was at an event. */
export type ProcessAge = 'new' | 'kept';
