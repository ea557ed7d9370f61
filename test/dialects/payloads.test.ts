import { describe, expect, it } from 'vitest';
import { readEvent, senderOf } from '../../src/cli/hook/event.js';
import { onBehalfOf } from '../../src/util/requester.js';
import { receive, reply } from '../../src/dialects/reverse.js';
import type { DialectName } from '../../src/protocol/types.js';
import { PAYLOADS } from './agentPayloads.js';

interface Case {
  /** What it sends in place of that: other names of the same fields, or other arguments. */
  readonly sent?: Readonly<Record<string, unknown>>;
  readonly event: string;
  readonly call?: { readonly toolName: string; readonly toolInput: Record<string, unknown> };
  readonly prompt?: string;
  /** What a block is answered with; a text is the reason of exit code 2. */
  readonly blocked?: object | string;
}

const PUSH = { toolName: 'run_shell_command', toolInput: { command: 'git push' } };
const PUSH_IN_SHOP = {
  ...PUSH,
  toolInput: { command: 'git push', directory: '/shop' },
};
const GO = { event: 'BeforeAgent', prompt: 'Go.' };
const TOLD = { decision: 'block', reason: 'No.' };
const DENIED = { decision: 'deny', reason: 'No.' };
const DENIAL = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'No.',
  },
};
const REFUSED = { permission: 'deny', agent_message: 'No.' };

/** By the payload of an agent. */
const CASES: readonly [DialectName, string, Case][] = [
  ['cursor', 'preToolUse', { event: 'BeforeTool', call: PUSH, blocked: REFUSED }],
  [
    'cursor',
    'preToolUse of a server',
    {
      event: 'BeforeTool',
      call: { toolName: 'mcp__cursor__log', toolInput: { a: 1 } },
      blocked: REFUSED,
    },
  ],
  ['cursor', 'beforeSubmitPrompt', { ...GO, blocked: { continue: false, user_message: 'No.' } }],
  ['cursor', 'stop', { event: 'AfterAgent', blocked: { followup_message: 'No.' } }],
  ['antigravity', 'PreToolUse', { event: 'BeforeTool', call: PUSH_IN_SHOP, blocked: DENIED }],
  [
    'antigravity',
    'PreToolUse of a file that is read',
    {
      event: 'BeforeTool',
      call: { toolName: 'read_file', toolInput: { file_path: '/shop/.env' } },
      blocked: DENIED,
    },
  ],
  [
    'antigravity',
    'Stop',
    { event: 'AfterAgent', blocked: { decision: 'continue', reason: 'No.' } },
  ],
  ['windsurf', 'pre_run_command', { event: 'BeforeTool', call: PUSH_IN_SHOP, blocked: 'No.' }],
  [
    'windsurf',
    'pre_write_code',
    {
      event: 'BeforeTool',
      call: {
        toolName: 'replace',
        toolInput: { file_path: '/shop/a.txt', old_string: 'one', new_string: 'two' },
      },
      blocked: 'No.',
    },
  ],
  [
    'windsurf',
    'pre_mcp_tool_use',
    {
      event: 'BeforeTool',
      call: { toolName: 'mcp__git__log', toolInput: { a: 1 } },
      blocked: 'No.',
    },
  ],
  ['windsurf', 'pre_user_prompt', { ...GO, blocked: 'No.' }],
  ['kiro', 'preToolUse', { event: 'BeforeTool', call: PUSH, blocked: 'No.' }],
  ['kiro', 'userPromptSubmit', { ...GO, blocked: 'No.' }],
  ['goose', 'PreToolUse', { event: 'BeforeTool', call: PUSH, blocked: TOLD }],
  [
    'cline',
    'tool_call',
    { event: 'BeforeTool', call: PUSH, blocked: { cancel: true, errorMessage: 'No.' } },
  ],
  ['vscode', 'PreToolUse', { event: 'BeforeTool', call: PUSH, blocked: DENIAL }],
  [
    'vscode',
    'PreToolUse of files',
    {
      event: 'BeforeTool',
      call: { toolName: 'replace', toolInput: { file_path: '/shop/a' } },
      blocked: DENIAL,
    },
  ],
  [
    'droid',
    'PreToolUse',
    {
      sent: {
        ...PAYLOADS.claude['PreToolUse'],
        tool_name: 'Execute',
      },
      event: 'BeforeTool',
      call: PUSH,
      blocked: DENIAL,
    },
  ],
  ['devin', 'PreToolUse', { event: 'BeforeTool', call: PUSH, blocked: { ...DENIAL, ...TOLD } }],
  ['openhands', 'PreToolUse', { event: 'BeforeTool', call: PUSH, blocked: DENIED }],
  [
    'codex',
    'PreToolUse of a patch',
    {
      sent: {
        ...PAYLOADS.codex['PreToolUse of a patch'],
        tool_input: {
          command:
            '*** Begin Patch\n*** Add File: a.txt\n+one\n  *** Delete File: b.txt\n*** End Patch',
        },
      },
      event: 'BeforeTool',
      call: { toolName: 'write_file', toolInput: { file_path: 'a.txt', content: 'one' } },
      blocked: DENIAL,
    },
  ],
  ['qwen', 'PreToolUse', { event: 'BeforeTool', call: PUSH, blocked: DENIAL }],
  ['copilot', 'UserPromptSubmit', { ...GO, blocked: TOLD }],
];

/** What an agent sets for its hooks, where its fields do not tell it from Claude Code. */
const VARIABLES: Partial<Record<DialectName, NodeJS.ProcessEnv>> = {
  copilot: { COPILOT_CLI: '1' },
  droid: { FACTORY_PROJECT_DIR: '/shop' },
  qwen: { QWEN_PROJECT_DIR: '/shop' },
};

const sentBy = (name: DialectName, title: string, { sent }: Case) => sent ?? PAYLOADS[name][title];

const othersOf = (name: DialectName, title: string) => {
  const found = CASES.find(([of, what]) => of === name && what === title);
  return found && receive(name, sentBy(...found))?.others;
};

describe('what an agent sends', () => {
  it.each(CASES)('%s: %s', (name, title, each) => {
    const { event, call, prompt, blocked } = each;
    const received = receive(name, sentBy(name, title, each));
    expect(received).toMatchObject({ event, identity: { sessionId: 's1' } });
    if (call) expect(received?.payload).toMatchObject(call);
    if (prompt !== undefined) expect(received?.payload).toMatchObject({ prompt });
    if (!received || blocked === undefined) return;
    const { json, refusal } = reply(received, { kind: 'block', reason: 'No.' });
    expect(refusal ?? json).toEqual(blocked);
  });

  it.each(CASES)('tells that it is %s, where nobody says so: %s', (name, title, each) => {
    const input = { value: sentBy(name, title, each) };
    const env = VARIABLES[name] ?? {};
    const sender = onBehalfOf({ env }, () => senderOf({ from: 'claude' }, input));
    expect(readEvent(sender, input)).toMatchObject({ received: { dialect: name } });
    expect(senderOf({ from: 'codex' }, input)).toEqual({ from: 'codex' });
  });

  it('is put to hooks file by file, or command by command', () => {
    expect(othersOf('codex', 'PreToolUse of a patch')).toMatchObject([
      { toolName: 'write_file', toolInput: { file_path: 'b.txt', content: '' } },
    ]);
    expect(othersOf('cline', 'tool_call')).toMatchObject([
      { toolName: 'run_shell_command', toolInput: { command: 'ls' } },
    ]);
    expect(othersOf('vscode', 'PreToolUse of files')).toMatchObject([
      { toolName: 'replace', toolInput: { file_path: '/shop/b' } },
    ]);
  });
});
