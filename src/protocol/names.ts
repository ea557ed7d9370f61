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
  SubagentStart = 'SubagentStart',
  SubagentStop = 'SubagentStop',
  PostCompress = 'PostCompress',
  ModelError = 'ModelError',
  ToolBatchEnd = 'ToolBatchEnd',
}

/**
 * Occasions of an event that other agents have an event of their own for. `asked`: BeforeTool hooks want the user to be
 * asked; then the event is fired once more, for the hooks of this moment alone. `failed`: the tool failed.
 */
export const MOMENTS = ['asked', 'failed'] as const;
export type Moment = (typeof MOMENTS)[number];

/** Agents whose hooks run here as they are, by the names that settings use. */
export const DIALECT_NAMES = [
  'claude',
  'gemini',
  'codex',
  'copilot',
  'vscode',
  'cursor',
  'antigravity',
  'droid',
  'qwen',
  'openhands',
  'devin',
  'windsurf',
  'kiro',
  'goose',
  'cline',
  'opencode',
] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** Who sends an event: an agent, and the event where what it sends does not name that. */
export interface Sender {
  readonly from: DialectName;
  readonly event?: string;
}

/** Reads `NAME`, or `NAME_EVENT`; `undefined` for no such agent. */
export function readSender(text: string): Sender | undefined {
  const [, name, event] = /^([a-z]+)(?:_(\w+))?$/.exec(text) ?? [];
  const from = DIALECT_NAMES.find((each) => each === name);
  return from && { from, ...(event !== undefined && { event }) };
}

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

/**
 * Whose hook it is, from the most trusted to the least: of the system, the host, or a file that it was given; of the
 * user; of an extension that the user has installed; of the project or one of its extensions. What less trusted hooks
 * say can only tighten what more trusted ones left.
 */
export const HOOK_SCOPES = ['system', 'user', 'extension', 'project'] as const;
export type HookScope = (typeof HOOK_SCOPES)[number];
