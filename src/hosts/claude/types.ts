/** What one hook of the host answers, in its words. */
export interface ClaudeAnswer {
  continue?: boolean;
  stopReason?: string;
  suppressOutput?: boolean;
  systemMessage?: string;
  decision?: 'block';
  reason?: string;
  hookSpecificOutput?: SpecificAnswer;
}

type SpecificAnswer =
  | {
      hookEventName: 'PreToolUse';
      permissionDecision?: 'allow' | 'deny' | 'ask';
      permissionDecisionReason?: string;
      updatedInput?: Record<string, unknown>;
      additionalContext?: string;
    }
  | { hookEventName: 'PermissionRequest'; decision: Permission }
  | { hookEventName: 'PostToolUse'; additionalContext?: string; updatedToolOutput?: unknown }
  | { hookEventName: 'PostToolUseFailure'; additionalContext?: string }
  | { hookEventName: 'UserPromptSubmit'; additionalContext?: string }
  | {
      hookEventName: 'SessionStart' | 'SubagentStart' | 'SubagentStop' | 'PostToolBatch';
      additionalContext?: string;
    };

type Permission =
  | { behavior: 'allow'; updatedInput?: Record<string, unknown> }
  | { behavior: 'deny'; message?: string; interrupt?: boolean };

/** A function that the host calls when something happens. */
export type ClaudeHook = (
  input: object,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
) => Promise<ClaudeAnswer>;

/** The events of the host for which there are hooks here. */
export type ClaudeEvent =
  | 'PreToolUse'
  | 'PermissionRequest'
  | 'PostToolUse'
  | 'PostToolUseFailure'
  | 'UserPromptSubmit'
  | 'Stop'
  | 'SubagentStart'
  | 'SubagentStop'
  | 'PreCompact'
  | 'PostCompact'
  | 'PostToolBatch'
  | 'StopFailure'
  | 'SessionStart'
  | 'SessionEnd'
  | 'Notification';

/** For `options.hooks` of the host. */
export type ClaudeHooks = Record<ClaudeEvent, { hooks: ClaudeHook[]; timeout: number }[]>;
