import { DEFAULT_STOP_REASON } from '../protocol/hookOutput.js';
import { claude } from './claude.js';
import { likeClaude } from './claudeLike.js';
import { CONTEXT, PERMISSION } from './claudeForms.js';
import { gemini } from './gemini.js';
import { recordOf, textOf } from './answers.js';
import type { Fields } from './dialect.js';

/** A call whose result is what the model reads of it. */
function asText({ tool_response: response, ...call }: Fields): Fields {
  const { response_parts: parts } = recordOf(response);
  const texts = (Array.isArray(parts) ? parts.map(recordOf) : []).flatMap((part) => {
    const { output, error } = recordOf(recordOf(part['functionResponse'])['response']);
    return textOf(output) || textOf(error) || [];
  });
  return { ...call, tool_response: texts.join('\n') };
}

/** The format of hooks for Qwen Code: that of Claude Code, with the tools of Gemini CLI, and times in milliseconds. */
export const qwen = likeClaude({
  refuses: ['continue'],
  agent: 'Qwen Code',
  settings: {
    files: ['.qwen/settings.json'],
    pluginFiles: ['.qwen/extensions/*/hooks/hooks.json'],
    notRead: 'system settings, and hooks of installed extensions',
  },
  projectVariable: 'QWEN_PROJECT_DIR',
  isSender: (fields, env) =>
    env['QWEN_PROJECT_DIR'] !== undefined && typeof fields['timestamp'] === 'string',
  rows: {
    PreToolUse: {
      // It denies at a stop as well, and goes on. It changes no arguments, and reads no context.
      answer: {
        words: PERMISSION.words,
        decision: PERMISSION.decision,
        reason: PERMISSION.reason,
        explainsAllow: true,
      },
    },
    PostToolUse: {
      answer: {
        blockIsContext: true,
        context: CONTEXT,
        replaced: (stopReason) => ({ continue: false, stopReason }),
      },
    },
    // It comes after each answer of tools as well, without a prompt.
    UserPromptSubmit: {
      isOther: ({ prompt, submitted_prompt: submitted }) =>
        prompt === '' && submitted === undefined,
    },
    // It has no place in what the sub-agent reads.
    SubagentStart: { answer: {} },
    PreCompact: { isSilent: false },
    PostCompact: { isSilent: false },
    // The results are read no more then, and it goes on.
    PostToolBatch: {
      toOurs: ({ tool_calls: calls }) => ({
        tool_calls: Array.isArray(calls) ? calls.map(recordOf).map(asText) : [],
      }),
      answer: {
        blockIsContext: true,
        context: CONTEXT,
        more: ({ kind, reason }) =>
          kind === 'stop' ? { continue: false, stopReason: reason ?? DEFAULT_STOP_REASON } : {},
      },
    },
  },
  otherEvents: [...claude.otherEvents, 'QueryEnd', 'SessionDelete', 'TodoCompleted', 'TodoCreated'],
  common: [
    'session_id',
    'transcript_path',
    'cwd',
    'timestamp',
    'hook_event_name',
    'agent_id',
    'agent_type',
  ],
  tools: gemini.tools,
  timeoutUnit: gemini.timeoutUnit,
  defaultTimeoutMs: gemini.defaultTimeoutMs,
  environment: ({ cwd }) => ({ QWEN_PROJECT_DIR: cwd }),
});
