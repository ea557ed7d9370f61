import { recordOf, resultOfText, textOf } from './answers.js';
import { likeClaude, NO_MOMENTS } from './claudeLike.js';
import { PERMISSION } from './claudeForms.js';
import { errorFields } from './claudeMoments.js';

const BLOCK = { block: 'block', stop: 'block' } as const;

/**
 * The format of hooks for Copilot CLI, for events with a capital letter: fields and tools of Claude Code, and answers of
 * which some stand elsewhere.
 */
export const copilot = likeClaude({
  refuses: ['continue', 'suppressOutput', 'systemMessage'],
  agent: 'Copilot CLI',
  settings: {
    files: ['.github/hooks/*.json', '.github/copilot/settings.json'],
    userFiles: ['.copilot/hooks/*.json', '.copilot/settings.json'],
    localFiles: ['.github/copilot/settings.local.json'],
    foundBy: ['.copilot', '.github/hooks', '.github/copilot'],
    runsClaude: { scopes: ['project', 'local'] },
    afterInstall:
      'it runs hooks of a project only once a person has trusted its folder: start copilot there once',
    isFlat: true,
    timeoutKey: 'timeoutSec',
    head: { version: 1 },
    directoryVariable: { name: 'COPILOT_HOME', file: 'hooks/*.json' },
    pluginFiles: ['hooks.json', 'hooks/hooks.json'],
    notRead: 'policies of the machine, and hooks of installed plugins',
  },
  projectVariable: 'COPILOT_PROJECT_DIR',
  isSender: (fields, env) =>
    env['COPILOT_CLI'] !== undefined && fields['permission_mode'] === undefined,
  // Exit code 2 refuses a tool, and no prompt.
  refusal: (reason) => ({
    permissionDecision: 'deny',
    permissionDecisionReason: reason,
    decision: 'block',
    reason,
  }),
  eventName: ({ hook_event_name: name, agentName, agent_id: id }) =>
    name === undefined && typeof agentName === 'string' && typeof id === 'string'
      ? 'SubagentStart'
      : undefined,
  rows: {
    ...NO_MOMENTS,
    SubagentStart: { answer: { context: 'additionalContext' } },
    PreToolUse: { fields: ['tool_name', 'tool_input'], answer: { ...PERMISSION } },
    PermissionRequest: null,
    PostToolUse: {
      fields: ['tool_name', 'tool_input', ['tool_response', 'tool_result']],
      read: undefined,
      toResponse: ({ tool_result: result }) =>
        resultOfText(textOf(recordOf(result)['text_result_for_llm'])),
      answer: {
        blockIsContext: true,
        context: 'additionalContext',
        replaced: (text) => ({ modifiedResult: { resultType: 'success', textResultForLlm: text } }),
      },
    },
    PostToolUseFailure: { answer: { blockIsContext: true, context: 'additionalContext' } },
    UserPromptSubmit: { answer: { words: BLOCK, context: 'additionalContext' } },
    // That of a sub-agent is told by SubagentStop.
    Stop: {
      isOther: ({ agent_id: id }) => id !== undefined,
      answer: { words: { block: 'block' }, contextWith: ['block'] },
    },
    StopFailure: {
      name: 'ErrorOccurred',
      toInput: ({ error }) => ({ error, recoverable: false }),
      toOurs: errorFields,
    },
    SubagentStop: { answer: { words: { block: 'block' }, contextWith: ['block'] } },
    PreCompact: { answer: {} },
    SessionStart: { answer: { context: 'additionalContext' } },
  },
  // It asks for a permission only for what PreToolUse has let through.
  otherEvents: ['UserPromptTransformed', 'permissionRequest'],
  otherEventField: 'hookName',
  common: [
    'session_id',
    'cwd',
    'timestamp',
    'hook_event_name',
    'agent_id',
    'agent_type',
    ['parent_session_id', 'parent_agent_id'],
  ],
  defaultTimeoutMs: { otherwise: 30_000 },
  environment: ({ cwd }) => ({ COPILOT_PROJECT_DIR: cwd, COPILOT_CLI: '1' }),
});
