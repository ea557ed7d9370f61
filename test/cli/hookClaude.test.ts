import { describe, expect, it } from 'vitest';
import { receivableEvents } from '../../src/dialects/reverse.js';
import { Cli } from './helpers.js';
import { haveForeignHook, haveHook, SAID, seen, send, type Saying } from './hookHelpers.js';

const cli = new Cli();

const write = { tool_name: 'Write', tool_input: { file_path: '/shop/a', content: 'x' } };
const bash = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c1' };

/** Every event of Claude Code that is one of ours, as its documentation says. */
const EVENTS: Readonly<Record<string, object>> = {
  PreToolUse: { ...write, tool_use_id: 'c1', permission_mode: 'default' },
  PostToolUse: {
    ...bash,
    tool_response: { stdout: 'out', stderr: '', interrupted: false, isImage: false },
    duration_ms: 12,
  },
  PostToolUseFailure: { ...bash, error: 'Exit code 3\nno such file', is_interrupt: false },
  UserPromptSubmit: { prompt: 'Write a haiku' },
  Stop: { stop_hook_active: false, last_assistant_message: 'Done.' },
  SubagentStart: { agent_id: 'a1', agent_type: 'Explore' },
  SubagentStop: {
    stop_hook_active: false,
    last_assistant_message: 'Found.',
    agent_id: 'a1',
    agent_type: 'Explore',
    agent_transcript_path: '/a.jsonl',
  },
  PreCompact: { trigger: 'manual', custom_instructions: '' },
  PostCompact: { trigger: 'manual', compact_summary: 'Short.' },
  StopFailure: { error: 'overloaded', error_details: 'Too many.' },
  PostToolBatch: { tool_calls: [{ ...bash, tool_response: 'out' }] },
  SessionStart: { source: 'startup', model: 'claude' },
  SessionEnd: { reason: 'prompt_input_exit' },
  Notification: { message: 'May it?', notification_type: 'permission_prompt', title: 'Claude' },
};

const specific = (hookEventName: string, fields: object) => ({
  hookSpecificOutput: { hookEventName, ...fields },
});
const STOP = { continue: false, stopReason: 'end' };
const CONTEXT = { additionalContext: 'context\n\n[System] note' };

/** What Claude Code is answered, by event and by what hooks say; where nothing stands, `{}`. */
const ANSWERS: Readonly<Record<string, Partial<Record<Saying, object>>>> = {
  PreToolUse: {
    block: specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'no' }),
    stop: {
      ...STOP,
      ...specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'end' }),
    },
    ask: specific('PreToolUse', { permissionDecision: 'ask', permissionDecisionReason: 'sure?' }),
    texts: specific('PreToolUse', { additionalContext: '[System] note' }),
  },
  PostToolUse: {
    block: { decision: 'block', reason: 'no' },
    stop: STOP,
    texts: specific('PostToolUse', CONTEXT),
  },
  PostToolUseFailure: {
    block: specific('PostToolUseFailure', { additionalContext: 'no' }),
    stop: STOP,
    texts: specific('PostToolUseFailure', CONTEXT),
  },
  UserPromptSubmit: {
    block: { decision: 'block', reason: 'no' },
    stop: { ...STOP, decision: 'block', reason: 'end' },
    ask: { systemMessage: expect.stringContaining('nobody can be asked') as string },
    texts: specific('UserPromptSubmit', CONTEXT),
  },
  Stop: { block: { decision: 'block', reason: 'no' }, stop: STOP },
  SubagentStart: {
    stop: STOP,
    ask: { systemMessage: expect.stringContaining('nobody can be asked') as string },
    texts: specific('SubagentStart', CONTEXT),
  },
  SubagentStop: { block: { decision: 'block', reason: 'no' }, stop: STOP },
  PostToolBatch: {
    block: specific('PostToolBatch', { additionalContext: 'no' }),
    stop: STOP,
    texts: specific('PostToolBatch', CONTEXT),
  },
  PreCompact: { stop: { ...STOP, decision: 'block', reason: 'end' } },
  SessionStart: { stop: STOP, texts: specific('SessionStart', CONTEXT) },
  SessionEnd: {},
  Notification: {},
};

describe.each(Object.entries(EVENTS))('%s of Claude Code', (event, fields) => {
  it.each(Object.keys(SAID) as Saying[])('is answered where hooks say %s', async (saying) => {
    await haveHook(cli);
    const sent = { hook_event_name: event, ...fields };
    const { exitCode, json } = await send(cli, 'claude', sent, SAID[saying]);
    expect(json).toEqual(ANSWERS[event]?.[saying] ?? {});
    expect(exitCode).toBe(0);
  });
});

it('has all events of Claude Code in its table', () => {
  expect([...Object.keys(EVENTS), 'PermissionRequest'].toSorted()).toEqual(
    [...receivableEvents('claude')].toSorted(),
  );
});

const CAN_BLOCK = new Set(['PreToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop']);

it.each(Object.entries(EVENTS))(
  'a guard that fails denies what can be denied: %s',
  async (event, fields) => {
    await haveHook(cli, { command: 'cat > /dev/null; exit 7', onFailure: 'deny' });
    const { exitCode, json } = await send(cli, 'claude', { hook_event_name: event, ...fields });
    expect(exitCode).toBe(0);
    const text = JSON.stringify(json);
    expect(/"(?:deny|block)"/u.test(text)).toBe(CAN_BLOCK.has(event));
    expect(text).toContain('exited with code 7');
  },
);

describe('what hooks read of an event of Claude Code', () => {
  it.each([
    ['PreToolUse', { hook_event_name: 'BeforeTool', tool_name: 'write_file' }],
    [
      'PostToolUse',
      {
        hook_event_name: 'AfterTool',
        tool_name: 'run_shell_command',
        tool_response: { llmContent: 'out', metadata: { stdout: 'out', exitCode: 0 } },
      },
    ],
    [
      'PostToolUseFailure',
      {
        hook_event_name: 'AfterTool',
        tool_response: {
          error: { message: 'Exit code 3\nno such file' },
          metadata: { exitCode: 3 },
        },
      },
    ],
    ['UserPromptSubmit', { hook_event_name: 'BeforeAgent', prompt: 'Write a haiku' }],
    ['Stop', { hook_event_name: 'AfterAgent', prompt_response: 'Done.', stop_hook_active: false }],
    ['SubagentStart', { hook_event_name: 'SubagentStart', agent_id: 'a1', agent_type: 'Explore' }],
    ['SubagentStop', { agent: 'Explore', agent_id: 'a1', prompt_response: 'Found.' }],
    ['PostCompact', { hook_event_name: 'PostCompress', summary: 'Short.' }],
    ['StopFailure', { error: { message: 'Too many.', code: 'overloaded', status: 529 } }],
    ['PostToolBatch', { tool_calls: [{ tool_name: 'run_shell_command', call_id: 'c1' }] }],
    ['PreCompact', { hook_event_name: 'PreCompress', trigger: 'manual' }],
    ['SessionStart', { hook_event_name: 'SessionStart', source: 'startup' }],
    ['SessionEnd', { hook_event_name: 'SessionEnd', reason: 'prompt_input_exit' }],
    ['Notification', { notification_type: 'ToolPermission', message: 'May it?' }],
  ])('is ours, for %s', async (event, expected) => {
    await haveHook(cli);
    await send(cli, 'claude', { hook_event_name: event, ...EVENTS[event] });
    expect(await seen(cli)).toMatchObject({
      session_id: 's1',
      cwd: cli.project,
      transcript_path: `${cli.project}/t.jsonl`,
      ...expected,
    });
  });

  it('is what Claude Code sent, for hooks that were written for it', async () => {
    await haveForeignHook(cli, 'claude', 'PostToolUse');
    const response = { stdout: 'out', stderr: '', interrupted: false, isImage: false, extra: [1] };
    const sent = { hook_event_name: 'PostToolUse', ...EVENTS['PostToolUse'] };
    await send(cli, 'claude', { ...sent, tool_response: response });
    expect(await seen(cli)).toMatchObject({
      ...bash,
      hook_event_name: 'PostToolUse',
      tool_response: response,
      duration_ms: 12,
    });
  });
});

describe('arguments of a tool of Claude Code', () => {
  const preToolUse = { hook_event_name: 'PreToolUse', tool_use_id: 'c1' };
  const search = { pattern: 'x', path: '/shop', glob: '*.ts', '-n': true };

  it('go back all together, by its names, where hooks change one', async () => {
    await haveHook(cli);
    const grep = { ...preToolUse, tool_name: 'Grep', tool_input: search };
    const said = { hookSpecificOutput: { tool_input: { include: '*.js' } } };
    const { json } = await send(cli, 'claude', grep, said);
    expect((await seen(cli))['tool_input']).toEqual({
      pattern: 'x',
      path: '/shop',
      include: '*.ts',
      '-n': true,
    });
    expect(json).toEqual(specific('PreToolUse', { updatedInput: { ...search, glob: '*.js' } }));
  });

  it('are absolute paths', async () => {
    await haveHook(cli);
    const said = { decision: 'ask', hookSpecificOutput: { tool_input: { file_path: 'drafts/a' } } };
    const { json } = await send(cli, 'claude', { ...preToolUse, ...write }, said);
    expect(json).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: 'ask',
        updatedInput: { file_path: `${cli.project}/drafts/a`, content: 'x' },
      },
    });
  });

  it('do not go back with a denial', async () => {
    await haveHook(cli);
    const said = { ...SAID.block, hookSpecificOutput: { tool_input: { content: 'y' } } };
    const { json } = await send(cli, 'claude', { ...preToolUse, ...write }, said);
    expect(json).not.toHaveProperty('hookSpecificOutput.updatedInput');
  });

  it('may be allowed in place of the user by its own hooks, and by no others', async () => {
    await haveForeignHook(cli, 'claude', 'PreToolUse');
    const said = { hookSpecificOutput: { permissionDecision: 'allow' } };
    const { json } = await send(cli, 'claude', { ...preToolUse, ...write }, said);
    expect(json).toEqual(specific('PreToolUse', { permissionDecision: 'allow' }));
  });
});

function decision(fields: object): object {
  return { hookSpecificOutput: { decision: fields } };
}

function answer(fields: object): object {
  return specific('PermissionRequest', { decision: fields });
}

describe('PermissionRequest of Claude Code', () => {
  const request = { hook_event_name: 'PermissionRequest', ...write };

  it.each([
    [{ behavior: 'allow' }, { behavior: 'allow' }],
    [
      { behavior: 'allow', updatedInput: { file_path: '/shop/b', content: 'x' } },
      { behavior: 'allow', updatedInput: { file_path: '/shop/b', content: 'x' } },
    ],
    [
      { behavior: 'deny', message: 'no' },
      { behavior: 'deny', message: 'no' },
    ],
  ])('is decided by its own hooks: %j', async (said, expected) => {
    await haveForeignHook(cli, 'claude', 'PermissionRequest');
    const { exitCode, json } = await send(cli, 'claude', request, decision(said));
    expect(json).toEqual(answer(expected));
    expect(exitCode).toBe(0);
  });

  it('ends the agent where a denial interrupts', async () => {
    await haveForeignHook(cli, 'claude', 'PermissionRequest');
    const said = decision({ behavior: 'deny', message: 'no', interrupt: true });
    const { json } = await send(cli, 'claude', request, said);
    expect(json).toEqual({
      continue: false,
      stopReason: 'no',
      ...answer({ behavior: 'deny', message: 'no', interrupt: true }),
    });
  });

  it('is left to the user where no hook decides', async () => {
    await haveForeignHook(cli, 'claude', 'PermissionRequest');
    expect((await send(cli, 'claude', request)).json).toEqual({});
  });

  it('puts changed arguments to the hooks of the call once more', async () => {
    const asked = `cat > /dev/null; cat "$LLXPRT_PROJECT_DIR/said.json"`;
    const guard = `grep -q /secret && { echo 'not there' >&2; exit 2; }; exit 0`;
    await cli.userSettings({
      PermissionRequest: [{ dialect: 'claude', hooks: [{ type: 'command', command: asked }] }],
      BeforeTool: [{ hooks: [{ type: 'command', command: guard }] }],
    });
    const updatedInput = { file_path: '/secret', content: 'x' };
    const said = decision({ behavior: 'allow', updatedInput });
    const { json } = await send(cli, 'claude', request, said);
    expect(json).toEqual(answer({ behavior: 'deny', message: 'not there' }));
  });
});

describe('the result of a tool of Claude Code', () => {
  const result = { hook_event_name: 'PostToolUse', ...EVENTS['PostToolUse'] };
  const replacing = { hookSpecificOutput: { updatedToolOutput: 'clean' } };

  it('is replaced by its own hooks, in the form that it has', async () => {
    await haveForeignHook(cli, 'claude', 'PostToolUse');
    const { json } = await send(cli, 'claude', result, replacing);
    const updatedToolOutput = { stdout: 'clean', stderr: '', interrupted: false, isImage: false };
    expect(json).toEqual(specific('PostToolUse', { updatedToolOutput }));
  });

  it('is replaced by hooks of our own format, in the form that it has', async () => {
    await haveHook(cli);
    const said = { hookSpecificOutput: { tool_response: { llmContent: 'clean' } } };
    const { json } = await send(cli, 'claude', result, said);
    expect(json).toMatchObject({ hookSpecificOutput: { updatedToolOutput: { stdout: 'clean' } } });
  });

  it('is not read where it cannot be replaced', async () => {
    await haveForeignHook(cli, 'claude', 'PostToolUse');
    const edit = { ...result, tool_name: 'Edit', tool_response: { filePath: '/a' } };
    const { json, stderr } = await send(cli, 'claude', edit, replacing);
    expect(json).toMatchObject({ continue: false });
    expect(stderr).toContain('note: Claude Code, PostToolUse: ');
  });

  it('is hidden from nobody by suppressOutput, and a line says so', async () => {
    await haveHook(cli);
    const { json, stderr } = await send(cli, 'claude', result, { suppressOutput: true });
    expect(json).toEqual({ suppressOutput: true });
    expect(stderr).toContain('hides what a hook printed there, and no result');
  });
});

describe('the user of Claude Code', () => {
  it('reads what its own hooks say for the user', async () => {
    await haveForeignHook(cli, 'claude', 'Stop');
    const stop = { hook_event_name: 'Stop', ...EVENTS['Stop'] };
    const { json } = await send(cli, 'claude', stop, { systemMessage: 'Tests are missing' });
    expect(json).toEqual({ systemMessage: 'Hook "hook" (AfterAgent): says: Tests are missing' });
  });

  it('may keep the history from being summed up by its own hooks', async () => {
    await haveForeignHook(cli, 'claude', 'PreCompact');
    const compact = { hook_event_name: 'PreCompact', ...EVENTS['PreCompact'] };
    const { json } = await send(cli, 'claude', compact, SAID.block);
    expect(json).toMatchObject({ decision: 'block', reason: 'no' });
  });
});
