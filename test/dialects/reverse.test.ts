import { describe, expect, it } from 'vitest';
import { textInPlace } from '../../src/protocol/hookOutput.js';
import { dialects, eventWords, theirEventName } from '../../src/dialects/dialects.js';
import { givenInput } from '../../src/dialects/inputs.js';
import { receive, receivableEvents, reply, UnreadableEvent } from '../../src/dialects/reverse.js';
import { ourArguments, receivedArguments } from '../../src/dialects/translate.js';
import { DIALECT_NAMES, HookEventName, MOMENTS } from '../../src/protocol/types.js';

const common = { session_id: 's1', transcript_path: '/t.jsonl', cwd: '/shop' };

function received(name: 'claude' | 'gemini', event: string, fields: object = {}) {
  const got = receive(name, { ...common, hook_event_name: event, ...fields });
  if (!got) throw new Error(`${event} is none of ours`);
  return got;
}

const read = { tool_name: 'Read', tool_input: { file_path: '/shop/.env' }, tool_use_id: 'c1' };

function resultOf(tool_name: string, tool_response: unknown) {
  return received('claude', 'PostToolUse', { tool_name, tool_input: {}, tool_response }).payload;
}

function replacementOf(tool_name: string, tool_response: unknown) {
  const event = received('claude', 'PostToolUse', { tool_name, tool_input: {}, tool_response });
  const output = textInPlace('clean');
  const { hookSpecificOutput } = reply(event, { kind: 'none', output }).json;
  return (hookSpecificOutput as { updatedToolOutput: unknown }).updatedToolOutput;
}

describe('what an agent tells its hooks, in our words', () => {
  it('has our names of tools and arguments, and says for whom it is', () => {
    expect(received('claude', 'PreToolUse', { ...read, agent_id: 'a1' })).toMatchObject({
      event: 'BeforeTool',
      payload: { toolName: 'read_file', toolInput: { file_path: '/shop/.env' }, callId: 'c1' },
      identity: {
        sessionId: 's1',
        cwd: '/shop',
        transcriptPath: '/t.jsonl',
        callId: 'c1',
        agent: 'a1',
      },
    });
    const tool = { tool_name: 'grep_search', tool_input: { pattern: 'x', dir_path: 'src' } };
    expect(received('gemini', 'BeforeTool', tool).payload).toMatchObject({
      toolName: 'search_file_content',
      toolInput: { pattern: 'x', path: 'src' },
    });
  });

  it('has the name of a tool of an MCP server as the server says it, else as it is cut', () => {
    const tool = { tool_name: 'mcp_my_server_do', tool_input: {} };
    const mcp_context = { server_name: 'my_server', tool_name: 'do' };
    const named = received('gemini', 'BeforeTool', { ...tool, mcp_context });
    expect(named.payload).toMatchObject({ toolName: 'mcp__my_server__do' });
    const cut = received('gemini', 'BeforeTool', { ...tool, tool_name: 'mcp_git_log' });
    expect(cut.payload).toMatchObject({ toolName: 'mcp__git__log' });
  });

  it('covers every event that hooks of the dialect have here', () => {
    for (const name of DIALECT_NAMES) {
      const spoken = dialects[name];
      const events = Object.values(HookEventName).filter((event) => eventWords(spoken, event));
      const moments = MOMENTS.flatMap((moment) =>
        spoken.events.filter((words) => words.moment === moment).map((words) => words.name),
      );
      const known = [...events.map((event) => theirEventName(spoken, event)), ...moments];
      expect(receivableEvents(name)).toEqual(expect.arrayContaining(known));
    }
  });

  it('has the result of a tool as our hooks read it', () => {
    expect(resultOf('Bash', { stdout: 'a', stderr: 'b', interrupted: false })).toMatchObject({
      toolResponse: { llmContent: 'a\nb', metadata: { stdout: 'a', stderr: 'b', exitCode: 0 } },
    });
    expect(resultOf('Read', { type: 'text', file: { content: 'text' } })).toMatchObject({
      toolResponse: { llmContent: 'text', type: 'text' },
    });
    expect(resultOf('mcp__a__b', [{ type: 'text', text: 'one' }])).toMatchObject({
      toolResponse: { llmContent: 'one' },
    });
    expect(resultOf('mcp__a__b', { error: 'x', content: [{ text: 'two' }] })).toMatchObject({
      toolResponse: { llmContent: 'two' },
    });
    expect(resultOf('mcp__a__b', { error: 'x' })).not.toHaveProperty('toolResponse.error');
  });

  it('has a failure as an error of the tool', () => {
    const failed = received('claude', 'PostToolUseFailure', {
      tool_name: 'Bash',
      tool_input: { command: 'false' },
      error: 'Exit code 3\nno',
    });
    expect(failed).toMatchObject({
      event: 'AfterTool',
      payload: {
        toolResponse: { error: { message: 'Exit code 3\nno' }, metadata: { exitCode: 3 } },
      },
    });
  });

  it.each([
    ['claude', 'SessionStart', { source: 'compact' }, { source: 'resume' }],
    ['claude', 'SessionEnd', { reason: 'other' }, { reason: 'other' }],
    ['claude', 'SessionEnd', { reason: 'new word' }, { reason: 'other' }],
    [
      'claude',
      'Notification',
      { notification_type: 'permission_prompt', message: 'm' },
      { notificationType: 'ToolPermission', message: 'm' },
    ],
    [
      'claude',
      'Notification',
      { notification_type: 'auth_success', message: 'm' },
      { notificationType: 'Other', details: { type: 'auth_success' } },
    ],
    ['gemini', 'PreCompress', { trigger: 'auto' }, { trigger: 'auto' }],
  ] as const)('has our word for what %s says at %s: %j', (name, event, fields, payload) => {
    expect(received(name, event, fields).payload).toMatchObject(payload);
  });

  it('names the dialects that there are, where there is no such one', () => {
    const unknown = 'nope' as 'claude';
    expect(() => receive(unknown, {})).toThrow(/There is no dialect "nope".*"claude", "gemini"/);
    expect(() => receive('toString' as 'claude', {})).toThrow(TypeError);
  });

  it('is nothing where the event is none of ours, and refused where it cannot be read', () => {
    expect(receive('claude', { hook_event_name: 'TeammateIdle' })).toBeUndefined();
    for (const json of [null, [], 'x', {}, { hook_event_name: 'NoSuchEvent' }]) {
      expect(() => receive('claude', json)).toThrow(UnreadableEvent);
    }
    const noTool = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: 'ls' };
    expect(() => receive('claude', noTool)).toThrow(
      expect.objectContaining({ event: 'BeforeTool' }),
    );
    const model = { hook_event_name: 'BeforeModel', llm_request: { messages: 3 } };
    expect(() => receive('gemini', model)).toThrow(UnreadableEvent);
  });

  it.each([
    ['AfterModel', { llm_request: {}, llm_response: { candidates: 7 } }, 'llm_response.candidates'],
    ['BeforeModel', { llm_request: { messages: 3 } }, 'llm_request.messages'],
  ])('says what is wrong with %s: %j', (name, fields, place) => {
    expect(() => receive('gemini', { hook_event_name: name, ...fields })).toThrow(
      new RegExp(
        `^Gemini CLI sent ${name} without a form of .* \\(at ${place}: expected .*, got \\d`,
      ),
    );
  });
});

/** What Claude Code is to run a tool with, once hooks have changed its arguments. */
function changedInClaude(tool_name: string, tool_input: object, changed: Record<string, unknown>) {
  const call = received('claude', 'PreToolUse', { tool_name, tool_input });
  return receivedArguments(dialects.claude, call, givenInput(call), changed);
}

describe('arguments by the names of an agent', () => {
  it('come back as they were sent where nobody changed them', () => {
    const theirs = { pattern: 'x', path: '/a', glob: '*.ts' };
    const ours = ourArguments(dialects.claude, 'search_file_content', theirs);
    expect(ours).toEqual({ pattern: 'x', path: '/a', include: '*.ts' });
    expect(changedInClaude('Grep', theirs, ours)).toEqual({
      all: theirs,
      changed: {},
      dropped: [],
    });
  });

  it('are renamed unless that would hide another one', () => {
    const both = { include: 'a', glob: 'b' };
    expect(ourArguments(dialects.claude, 'search_file_content', both)).toEqual(both);
  });

  it('are absolute paths where the agent wants them, and only those that were changed', () => {
    const theirs = { file_path: 'given', content: 'x' };
    const changed = { file_path: 'drafts/a', content: 'x' };
    expect(changedInClaude('Write', theirs, changed)).toEqual({
      all: { file_path: '/shop/drafts/a', content: 'x' },
      changed: { file_path: '/shop/drafts/a' },
      dropped: [],
    });
    const same = { file_path: 'given', content: 'y' };
    expect(changedInClaude('Write', theirs, same).all).toEqual({
      file_path: 'given',
      content: 'y',
    });
  });
});

describe('an answer that an agent understands', () => {
  it('never lets a replaced result through that cannot be replaced', () => {
    const edit = { tool_name: 'Edit', tool_input: {}, tool_response: { filePath: '/a' } };
    const output = textInPlace('clean');
    const { json, lost } = reply(received('claude', 'PostToolUse', edit), { kind: 'none', output });
    expect(json).toMatchObject({ continue: false });
    expect(lost).toHaveLength(1);
    const failed = { tool_name: 'Bash', tool_input: {}, error: 'secret' };
    const failure = received('claude', 'PostToolUseFailure', failed);
    expect(reply(failure, { kind: 'none', output }).json).toMatchObject({ continue: false });
  });

  it.each(['PreToolUse', 'PermissionRequest', 'UserPromptSubmit', 'Stop', 'SessionStart'])(
    'leaves out a result at %s, where there is none to replace',
    (event) => {
      const fields = { ...read, prompt: 'p', source: 'startup' };
      const output = textInPlace('clean');
      const answered = reply(received('claude', event, fields), { kind: 'none', output });
      expect(answered).toEqual({ json: {}, lost: [] });
    },
  );

  it('has no reason where nothing was decided', () => {
    const answered = reply(received('claude', 'PreToolUse', read), { kind: 'none', reason: 'so' });
    expect(answered.json).toEqual({});
  });

  it('replaces a result in the form that it has', () => {
    const blocks = [{ type: 'text', text: 'clean' }];
    expect(replacementOf('Bash', { stdout: 's', stderr: 'e', persistedOutputPath: '/p' })).toEqual({
      stdout: 'clean',
      stderr: '',
      interrupted: false,
      isImage: false,
    });
    expect(replacementOf('mcp__a__b', 'secret')).toBe('clean');
    expect(replacementOf('mcp__a__b', [{ type: 'text', text: 'secret' }])).toEqual(blocks);
    expect(replacementOf('mcp__a__b', { content: [], structuredContent: 1 })).toEqual({
      content: blocks,
    });
  });
});
