import type { McpServer } from './mcpServer.js';
import type { DialectName, HookEventName, HookScope, Moment } from './names.js';

/** What a hook is. */
export type HookKind = 'command' | 'rule' | 'remote' | 'mcp_tool' | 'prompt' | 'plugin';

/** One hook as it is written in settings.json. */
export interface CommandHookConfig {
  /**
   * `command`; `rule`, which starts nothing; `remote`, which asks a server; `mcp_tool`, which calls a tool of an MCP server;
   * `prompt`, which asks a model; or `plugin`, which the registry accepts and the runner refuses.
   */
  readonly type: HookKind;
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
  /**
   * For which calls of tools the hook runs: one permission rule such as `Bash(git push *)`, or several of which one has to
   * match; `!` before one is for exceptions. Beside that of its group, both have to.
   */
  readonly when?: When;
  /** Of `type: "rule"`: its verdict where it runs. `allow` leaves no question to the agent, and other hooks may deny. */
  readonly decision?: 'allow' | 'ask' | 'deny';
  /** Of `type: "rule"`: why, for the model or the person who is asked. */
  readonly reason?: string;
  /** Of `type: "rule"`: what takes the place of texts in results, in requests of the model, or in its answers. */
  readonly redact?: readonly Redaction[];
  /** Of `type: "rule"` at `BeforeTool`: arguments of the call that are to have these values. */
  readonly set?: Readonly<Record<string, unknown>>;
  /**
   * Of `type: "rule"`: an expression in CEL over what a hook reads; the rule counts where it is true. Needs an optional
   * package.
   */
  readonly expr?: string;
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
   * Start the command and wait for nothing, at events after which nobody needs its answer. It can decide nothing; what it
   * says late is read by the model at its next call, once. It ends with the session. A guard cannot say it.
   */
  readonly async?: boolean;
  /** The same; and where it exits with code 2, or blocks, an agent that has finished is sent back to work with the reason. */
  readonly asyncRewake?: boolean;
  /** What the agent reads before that reason. */
  readonly rewakeMessage?: string;
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
  /** Of `type: "mcp_tool"`: the server, by its name in `mcpServers` of the same file. */
  readonly server?: string;
  /** Of `type: "mcp_tool"`: the tool that is called, whose text is read as what a command prints. */
  readonly tool?: string;
  /**
   * Of `type: "mcp_tool"`: the tool's arguments. In texts, `${tool_input.file_path}` is that field of what the hook reads.
   * Default: none.
   */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Of `type: "mcp_tool"`: the server itself. `loadSettings` puts it here; hooks in code say it. */
  readonly mcpServer?: McpServer;
  /** Of `type: "prompt"`: what the model is to judge; `$ARGUMENTS` is what the hook reads, else that follows it. */
  readonly prompt?: string;
  /** Of `type: "prompt"`: the model. Default: that of the host, or of `promptModel`. */
  readonly model?: string;
  /** The dialect of the hook's group. Set by the registry; in settings, the group says it. */
  readonly dialect?: DialectName;
  /** The only moment at which the hook runs, where its agent has an event of its own for that. Set by the registry. */
  readonly moment?: Moment;
  /** `when` of the hook's group. Set by the registry; in settings, the group says it. */
  readonly groupWhen?: When;
  /**
   * Absolute path of the extension that brought the hook, which its command finds as `${extensionPath}`. Set by the
   * registry; settings cannot say it.
   */
  readonly extensionPath?: string;
  /** Whose hook it is. Set by the registry; settings cannot say it. Default: the host's own. */
  readonly scope?: HookScope;
}

/** One permission rule, or several of which one has to match. */
export type When = string | readonly string[];

/** What a rule takes out of texts. */
export interface Redaction {
  /** A regular expression in JavaScript, for all places where it is found. At most 2,000 characters. */
  readonly pattern: string;
  /** What stands there then, as it is. */
  readonly with: string;
}

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
  /** For which calls of tools the hooks run; see the same of a hook. */
  readonly when?: When;
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

/** A hook as a host writes it in code: what starts no command has none. */
export type WrittenHook =
  | CommandHookConfig
  | (Omit<CommandHookConfig, 'type' | 'command'> & {
      readonly type: 'rule' | 'remote' | 'mcp_tool' | 'prompt';
    });

/** Hook groups by event, as a host writes them in code. */
export type WrittenHooks = {
  readonly [E in HookEventName]?: readonly (Omit<HookDefinition, 'hooks'> & {
    readonly hooks: readonly WrittenHook[];
  })[];
};

/** Hook groups by event, as under the `hooks` key of settings.json. */
export type HookDefinitions = { readonly [E in HookEventName]?: readonly HookDefinition[] };
