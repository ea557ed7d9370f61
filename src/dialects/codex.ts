import { likeClaude, patchForm } from './claudeLike.js';
import { CONTEXT, PERMISSION, REQUEST } from './claudeForms.js';

// One of these, beside a denial, has Codex drop both, and run the tool.
const refuses = ['continue'] as const;
const REFUSAL = { block: 'deny', stop: 'deny' } as const;
const patches = patchForm('command');

/** The format of hooks for Codex: that of Claude Code, but for answers that it refuses, and one tool for all files. */
export const codex = likeClaude({
  agent: 'Codex',
  askedTypes: ['mcp_tool'],
  refuses: ['suppressOutput'],
  settings: {
    files: ['.codex/hooks.json'],
    tomlFile: '.codex/config.toml',
    pluginFiles: ['hooks/hooks.json'],
    afterInstall:
      'it skips hooks, without a word, until a person has trusted them: run /hooks in Codex once, in a project that it trusts',
    notRead: 'managed hooks, and those of installed plugins',
  },
  isSender: ({ turn_id: turn, hook_event_name: name }) =>
    typeof turn === 'string' && typeof name === 'string',
  rows: {
    PreToolUse: {
      answer: {
        ...PERMISSION,
        words: REFUSAL,
        explainsAllow: false,
        inputWith: 'allow',
        isContextAlone: true,
        refuses,
      },
    },
    PermissionRequest: {
      answer: {
        words: { allow: 'allow', ...REFUSAL },
        decision: REQUEST.decision,
        reason: REQUEST.reason,
        asksItself: true,
        refuses,
      },
    },
    PostToolUse: {
      answer: {
        blockIsContext: true,
        context: CONTEXT,
        replaced: (reason) => ({ decision: 'block', reason }),
        refuses,
      },
    },
    PostToolUseFailure: null,
    Notification: null,
    // It shows nothing of what is printed.
    PreCompact: { isSilent: false },
    PostCompact: { fields: ['trigger'], isSilent: false, answer: {} },
    StopFailure: null,
    PostToolBatch: null,
  },
  otherEvents: ['Interrupt'],
  tools: [
    { ours: 'run_shell_command', theirs: ['Bash'] },
    { ours: 'write_file', theirs: ['apply_patch', 'Write'], paths: ['file_path'], form: patches },
    { ours: 'replace', theirs: ['apply_patch', 'Edit'], paths: ['file_path'], form: patches },
  ],
  otherTools: ['spawn_agent'],
  defaultTimeoutMs: { SessionEnd: 3000, otherwise: 600_000 },
  missingVariables: ['PLUGIN_ROOT', 'PLUGIN_DATA', 'CLAUDE_PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA'],
});
