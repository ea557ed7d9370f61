import { describe, expect, it } from 'vitest';
import { receive, reply } from '../../src/dialects/reverse.js';
import { theirInput } from '../../src/dialects/inputs.js';
import { claude } from '../../src/dialects/claude.js';
import type { DialectName } from '../../src/protocol/types.js';
import { HookEventName } from '../../src/protocol/types.js';
import type { ReplyVerdict } from '../../src/protocol/received.js';
import { commonInput } from '../helpers/hooks.js';
import { PAYLOADS } from './agentPayloads.js';

const HELPER = { agentId: 'a1', agentType: 'Explore' };
const CALL = { tool_name: 'run_shell_command', tool_input: { command: 'git push' } };
const SECRET = { llmContent: 'secret', returnDisplay: 'secret' };
const PUSH = { ...CALL, tool_response: SECRET, call_id: 'c1' };

function read(name: DialectName, title: string) {
  const received = receive(name, PAYLOADS[name][title]);
  if (!received) throw new Error(`${title} is none of ours`);
  return received;
}

describe('what our hooks read of', () => {
  it.each<[DialectName, string, string, object]>([
    ['claude', 'SubagentStart', 'SubagentStart', { ...HELPER, prompt: '' }],
    ['claude', 'SubagentStop', 'SubagentStop', { ...HELPER, promptResponse: 'Found.' }],
    ['claude', 'PostCompact', 'PostCompress', { trigger: 'manual', summary: 'Short.' }],
    ['codex', 'SubagentStart', 'SubagentStart', HELPER],
    ['codex', 'SubagentStop', 'SubagentStop', { ...HELPER, promptResponse: 'Found.' }],
    ['codex', 'PostCompact', 'PostCompress', { trigger: 'auto', summary: '' }],
    ['qwen', 'SubagentStop', 'SubagentStop', { ...HELPER, promptResponse: 'Found.' }],
    ['copilot', 'SubagentStart', 'SubagentStart', { agentId: 'a1', agentType: 'task' }],
    ['copilot', 'SubagentStop', 'SubagentStop', { promptResponse: 'Found.' }],
    ['cursor', 'subagentStart', 'SubagentStart', { agentType: 'explore', prompt: 'Go.' }],
    ['cursor', 'subagentStop', 'SubagentStop', { agentId: 'a1', promptResponse: 'Done.' }],
  ])('%s at %s is %s', (name, title, event, payload) => {
    expect(read(name, title)).toMatchObject({ event, payload });
  });

  it.each<[DialectName, string, object]>([
    [
      'claude',
      'StopFailure',
      { message: 'API Error: 400 It fails.', code: 'unknown', status: 400 },
    ],
    ['claude', 'StopFailure of a limit', { message: 'Too many.', code: 'rate_limit', status: 429 }],
    ['qwen', 'StopFailure', { message: 'It fails.', code: 'server_error', status: 500 }],
    ['copilot', 'ErrorOccurred', { message: 'It fails.' }],
    ['cline', 'agent_error', { message: 'It fails.' }],
  ])('%s at %s is a model call that failed', (name, title, error) => {
    const { event, payload } = read(name, title);
    expect(event).toBe('ModelError');
    expect(payload).toEqual({ error, attempt: 1, llmRequest: { model: '', contents: [] } });
  });

  it.each<[DialectName, object[]]>([
    ['claude', [PUSH, { tool_name: 'write_file', call_id: 'c2' }]],
    ['qwen', [PUSH]],
  ])('%s after a batch are its calls, by our names', (name, toolCalls) => {
    expect(read(name, 'PostToolBatch')).toMatchObject({
      event: 'ToolBatchEnd',
      payload: { toolCalls },
    });
  });
});

describe('inside of a sub-agent', () => {
  it.each<[DialectName, string, object]>([
    ['claude', 'PostToolBatch of a helper', HELPER],
    ['codex', 'PreToolUse of a helper', HELPER],
    ['codex', 'UserPromptSubmit of a helper', HELPER],
    ['copilot', 'PreToolUse of a helper', { agentId: 'a1', parentSessionId: 's1' }],
    ['qwen', 'PreToolUse of a helper', { agentId: 'a1' }],
  ])('%s names it at %s', (name, title, identity) => {
    expect(read(name, title).identity).toMatchObject(identity);
  });

  it('is what Cline sends with an agent above it', () => {
    const [own, start, end] = [
      PAYLOADS.cline['tool_call'],
      PAYLOADS.cline['agent_start'],
      PAYLOADS.cline['agent_end'],
    ];
    expect(receive('cline', own)?.identity.agentId).toBeUndefined();
    const inside = { agent_id: 'a2', parent_agent_id: 'a1' };
    expect(receive('cline', { ...own, ...inside })?.identity.agentId).toBe('a2');
    const started = receive('cline', { ...start, ...inside });
    expect(started).toMatchObject({ event: 'SubagentStart', payload: { agentId: 'a2' } });
    const ended = receive('cline', { ...end, ...inside, turn: { outputText: 'Found.' } });
    expect(ended).toMatchObject({ event: 'SubagentStop', payload: { promptResponse: 'Found.' } });
  });

  it('the end of Copilot CLI is told once', () => {
    const fields = { ...PAYLOADS.copilot['Stop'], agent_id: 'a1', agent_type: 'task' };
    expect(receive('copilot', fields)).toBeUndefined();
  });
});

describe('what is answered', () => {
  const stop: ReplyVerdict = { kind: 'stop', reason: 'Enough.' };
  const block: ReplyVerdict = { kind: 'block', reason: 'No.' };

  it('a sub-agent that may not start, and cannot be kept from it, is remembered', () => {
    for (const name of ['claude', 'codex', 'qwen', 'copilot', 'vscode'] as const) {
      expect(reply(read(name, 'SubagentStart'), block)).toMatchObject({ json: {}, stops: 'No.' });
    }
    const said = reply(read('cursor', 'subagentStart'), block);
    expect(said).toEqual({ json: { permission: 'deny', user_message: 'No.' }, lost: [] });
  });

  it('a block after a batch is read by the model, as it would end the agent', () => {
    for (const name of ['claude', 'qwen'] as const) {
      const { json } = reply(read(name, 'PostToolBatch'), block);
      expect(json).toEqual({
        hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: 'No.' },
      });
      const end = { continue: false, stopReason: 'Enough.' };
      expect(reply(read(name, 'PostToolBatch'), stop).json).toEqual(end);
    }
  });
});

const input = (event: HookEventName, fields: object) =>
  theirInput(claude, event, undefined, { ...commonInput(event, '/shop'), ...fields }, {});

describe('what hooks of Claude Code read here', () => {
  it('of a batch', () => {
    expect(input(HookEventName.ToolBatchEnd, { tool_calls: [PUSH] })).toMatchObject({
      hook_event_name: 'PostToolBatch',
      tool_calls: [
        {
          tool_name: 'Bash',
          tool_input: CALL.tool_input,
          tool_use_id: 'c1',
          tool_response: 'secret',
        },
      ],
    });
  });

  it.each([
    [{ message: 'Slow down.', status: 429 }, 'rate_limit'],
    [{ message: 'Slow down.', status: 503 }, 'server_error'],
    [{ message: 'Slow down.', code: 'overloaded' }, 'overloaded'],
    [{ message: 'Slow down.' }, 'unknown'],
  ])('of a model call that failed: %j', (error, word) => {
    const given = input(HookEventName.ModelError, { error, attempt: 1 });
    expect(given).toMatchObject({ error: word, error_details: 'Slow down.' });
    expect(given).not.toHaveProperty('attempt');
  });

  it('of what happens inside of a sub-agent', () => {
    const inside = { agent_id: 'a1', agent_type: 'Explore' };
    const fields = { ...inside, tool_name: 'read_file', tool_input: {} };
    expect(input(HookEventName.BeforeTool, fields)).toMatchObject(inside);
  });
});
