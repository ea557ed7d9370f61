import { failureOfText, recordOf, resultOfText, textOf } from './answers.js';
import { FEEDBACK, PERMISSION, REQUEST } from './claudeForms.js';
import { likeClaude, NO_MOMENTS } from './claudeLike.js';
import type { Fields } from './dialect.js';
import type { ReplyVerdict } from '../protocol/received.js';

/** What its own documentation names, beside what it takes from Claude Code. */
function decisionOf({ kind, reason }: ReplyVerdict): Fields {
  if (kind === 'allow') return { decision: 'approve', reason };
  return kind === 'block' || kind === 'stop' ? { decision: 'block', reason } : {};
}

const { allow, block, stop } = PERMISSION.words ?? {};

/** The format of hooks for Devin CLI: that of Claude Code, with other names of tools. */
export const devin = likeClaude({
  agent: 'Devin CLI',
  settings: {
    files: ['.devin/hooks.v1.json'],
    at: '',
    pluginFiles: [],
    notRead: 'hooks in config.json, and those of the organization',
  },
  projectVariable: 'DEVIN_PROJECT_DIR',
  isSender: (_fields, env) => env['DEVIN_PROJECT_DIR'] !== undefined,
  rows: {
    // Whether it asks, or takes other arguments, is not known.
    PreToolUse: {
      answer: { ...PERMISSION, words: { allow, block, stop }, input: undefined, more: decisionOf },
    },
    PermissionRequest: { answer: { ...REQUEST, input: undefined, more: decisionOf } },
    PostToolUse: {
      toResponse: ({ tool_response: response }) => {
        const { output, error } = recordOf(response);
        if (textOf(error) === '') return resultOfText(textOf(output));
        return { ...failureOfText(error), ...(textOf(output) && resultOfText(textOf(output))) };
      },
      answer: FEEDBACK,
    },
    PostToolUseFailure: null,
    ...NO_MOMENTS,
    SubagentStop: null,
    PreCompact: null,
    Notification: null,
  },
  toolNames: { run_shell_command: ['exec'], replace: ['edit'] },
  defaultTimeoutMs: { otherwise: 60_000 },
  environment: ({ cwd }) => ({ DEVIN_PROJECT_DIR: cwd }),
});
