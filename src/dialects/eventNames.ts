import { HookEventName } from '../protocol/types.js';

// Names of events, without anything that takes time to load.

/** What Claude Code calls our events. Those that are not here do not exist there. */
export const CLAUDE_EVENTS = {
  BeforeTool: 'PreToolUse',
  AfterTool: 'PostToolUse',
  BeforeAgent: 'UserPromptSubmit',
  AfterAgent: 'Stop',
  PreCompress: 'PreCompact',
  SessionStart: 'SessionStart',
  SessionEnd: 'SessionEnd',
  Notification: 'Notification',
} as const;

/** Events of Claude Code that are moments of ours. */
export const CLAUDE_MOMENTS = {
  asked: { event: 'BeforeTool', name: 'PermissionRequest' },
  failed: { event: 'AfterTool', name: 'PostToolUseFailure' },
} as const;

/** Events that Claude Code sends in addition to those, and what they are here. */
export const CLAUDE_ALSO = { SubagentStop: 'AfterAgent' } as const;

/** All names of the event that an agent calls by this one, its own and ours; none for an event that is not known. */
export function allNamesOf(theirs: string): readonly string[] {
  const groups = Object.values(HookEventName).map((ours): readonly string[] => [
    ours,
    ...Object.entries(CLAUDE_EVENTS).flatMap(([event, name]) => (event === ours ? [name] : [])),
    ...Object.values(CLAUDE_MOMENTS).flatMap(({ event, name }) => (event === ours ? [name] : [])),
    ...Object.entries(CLAUDE_ALSO).flatMap(([name, event]) => (event === ours ? [name] : [])),
  ]);
  return groups.find((names) => names.includes(theirs)) ?? [];
}
