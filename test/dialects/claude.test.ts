import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fireBeforeToolHook } from '../../src/core/coreToolHookTriggers.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import { deadlineOf } from '../../src/run/preparedInput.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import {
  HookEventName,
  NotificationType,
  SessionEndReason,
  SessionStartSource,
} from '../../src/protocol/types.js';
import { textsOf } from '../core/helpers/chats.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { openProject, runWithHooks, script } from './claudeHooks.js';

const sandbox = useSandbox();

const note = { name: 'write_file', args: { file_path: 'note.js', content: 'let a;' } };
const group = (matcher: string, ...names: string[]) => ({
  dialect: 'claude',
  matcher,
  hooks: names.map(script),
});

function payloads() {
  const lines = sandbox.read('payloads.jsonl')?.trim().split('\n') ?? [];
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('hooks written for Claude Code, as they are', () => {
  it('block a command by exit code 2: it does not run, and the model reads why', async () => {
    sandbox.remove('kept');
    const run = await runWithHooks(
      sandbox,
      { PreToolUse: [group('Bash', 'guard_shell.sh')] },
      { name: 'run_shell_command', args: { command: 'touch made; rm -rf kept' } },
    );
    expect(run.problems).toEqual([]);
    expect(run.toolResponse).toEqual({
      error: 'Recursive deletion is not allowed: touch made; rm -rf kept',
    });
    expect(sandbox.read('made')).toBeUndefined();
  });

  it('let other commands run', async () => {
    const run = await runWithHooks(
      sandbox,
      { PreToolUse: [group('Bash', 'guard_shell.sh')] },
      { name: 'run_shell_command', args: { command: 'touch made' } },
    );
    expect(run.result.toolCalls).toMatchObject([{ status: 'success' }]);
    expect(sandbox.read('made')).toBe('');
  });

  it('block without a shell, by a program and its arguments', async () => {
    sandbox.remove('kept');
    const args = ['${CLAUDE_PROJECT_DIR}/.claude/hooks/guard_shell.sh'];
    const run = await runWithHooks(
      sandbox,
      {
        PreToolUse: [
          {
            dialect: 'claude',
            matcher: 'Bash',
            hooks: [{ type: 'command', command: 'bash', args }],
          },
        ],
      },
      { name: 'run_shell_command', args: { command: 'touch made; rm -rf kept' } },
    );
    expect(run.problems).toEqual([]);
    expect(run.toolResponse).toEqual({
      error: 'Recursive deletion is not allowed: touch made; rm -rf kept',
    });
    expect(sandbox.read('made')).toBeUndefined();
  });

  it('block by permissionDecision, and read absolute paths whatever the model gave', async () => {
    const hooks = { PreToolUse: [group('Edit|Write', 'protect_paths.py')] };
    const secret = { ...note, args: { ...note.args, file_path: 'secrets/key.js' } };
    const run = await runWithHooks(sandbox, hooks, secret);
    expect(run.toolResponse).toEqual({ error: 'Nothing in secrets/ may be written.' });
    expect(sandbox.read('secrets/key.js')).toBeUndefined();
    expect(run.logger.warnings).toEqual([]);
  });

  it('rewrite the arguments of a tool by updatedInput', async () => {
    const hooks = { PreToolUse: [group('Write', 'protect_paths.py', 'add_licence.mjs')] };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(sandbox.read('note.js')).toBe('// MIT\nlet a;');
    // Arguments that came back as they were read are not changed.
    expect(run.result.toolCalls[0]?.input).toEqual({ ...note.args, content: '// MIT\nlet a;' });
    expect(run.logger.warnings).toEqual([]);
  });

  it('take arguments away by updatedInput, which stands for all of them', async () => {
    const updatedInput = { command: 'echo kept' };
    const output = { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } };
    const command = `cat >/dev/null; printf %s '${JSON.stringify(output)}'`;
    const call = {
      name: 'run_shell_command',
      args: { command: 'echo given', description: 'x', constructor: 'c' },
    };
    const hooks = { PreToolUse: [{ dialect: 'claude', hooks: [{ type: 'command', command }] }] };
    const run = await runWithHooks(sandbox, hooks, call);
    expect(run.result.toolCalls[0]?.input).toEqual({ command: 'echo kept', constructor: 'c' });
  });

  it.each([
    { content: 'TODO', says: 'note.js still has a TODO.' },
    { content: 'done', says: 'No TODO was left.' },
  ])('annotate the result of a tool ($says)', async ({ content, says }) => {
    const run = await runWithHooks(
      sandbox,
      { PostToolUse: [group('Write', 'review_write.sh')] },
      { ...note, args: { ...note.args, content } },
    );
    expect(run.toolResponse?.['output']).toContain(asHookContext(says));
    expect(run.result.toolCalls[0]?.result?.suppressDisplay).toBeFalsy();
  });

  it('add what they print to the prompt', async () => {
    const hooks = { UserPromptSubmit: [{ dialect: 'claude', hooks: [script('prompt_facts.py')] }] };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(textsOf(run.sent[0]?.contents)).toEqual([
      `Do it.|${asHookContext('The release is on Friday.')}`,
    ]);
  });

  it('refuse a prompt', async () => {
    const hooks = { UserPromptSubmit: [{ dialect: 'claude', hooks: [script('prompt_facts.py')] }] };
    const run = await runWithHooks(sandbox, hooks, note, 'My password is 123.');
    expect(run.sent).toEqual([]);
    expect(run.result.stopped).toMatchObject({
      event: HookEventName.BeforeAgent,
      reason: 'Leave passwords out of prompts.',
    });
  });

  it('send the agent back once', async () => {
    const hooks = { Stop: [{ dialect: 'claude', hooks: [script('stop_until_done.sh')] }] };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(textsOf(run.sent[2]?.contents).at(-1)).toBe(
      asHookContext('Run the tests before you stop.'),
    );
    expect(run.result.response).toBe('Tested.');
  });

  it('read every event as Claude Code sends it', async () => {
    const keep = [{ dialect: 'claude', hooks: [script('keep_payload.sh')] }];
    const names = [
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'Stop',
      'Notification',
      'SessionEnd',
    ];
    await runWithHooks(sandbox, Object.fromEntries(names.map((name) => [name, keep])), note);
    const common = {
      session_id: 'session',
      transcript_path: '',
      cwd: sandbox.workingDir,
      permission_mode: 'default',
    };
    const filePath = path.join(sandbox.workingDir, 'note.js');
    const tool = {
      tool_name: 'Write',
      tool_input: { file_path: filePath, content: 'let a;' },
      tool_use_id: 'call-1',
    };
    const own = [
      { source: 'startup' },
      { prompt: 'Do it.' },
      tool,
      {
        ...tool,
        tool_response: expect.objectContaining({ filePath, success: true }),
        duration_ms: expect.any(Number),
      },
      {
        stop_hook_active: false,
        last_assistant_message: 'Done.',
        background_tasks: [],
        session_crons: [],
      },
      { message: 'The agent has finished', notification_type: 'idle_prompt' },
      { reason: 'other' },
    ];
    expect(payloads()).toEqual(
      own.map((fields, index) => ({ ...common, hook_event_name: names[index], ...fields })),
    );
  });
});

describe('what hooks of Claude Code read', () => {
  const keep = { PostToolUse: [{ dialect: 'claude', hooks: [script('keep_payload.sh')] }] };

  it('of a command', async () => {
    const args = { command: 'echo out; echo err >&2' };
    await runWithHooks(sandbox, keep, { name: 'run_shell_command', args });
    const tool_response = {
      stdout: 'out\n',
      stderr: 'err\n',
      exitCode: 0,
      success: true,
      interrupted: false,
      isImage: false,
    };
    expect(payloads()).toMatchObject([{ tool_name: 'Bash', tool_response }]);
  });

  it('of a file', async () => {
    writeFileSync(path.join(sandbox.workingDir, 'a.txt'), 'Hello\n');
    await runWithHooks(sandbox, keep, { name: 'read_file', args: { file_path: 'a.txt' } });
    const filePath = path.join(sandbox.workingDir, 'a.txt');
    expect(payloads()).toMatchObject([
      { tool_response: { type: 'text', file: { filePath, content: 'Hello\n' } } },
    ]);
  });

  it('the session, as a variable', async () => {
    const hook = { type: 'command', command: 'printf %s "$CLAUDE_CODE_SESSION_ID" >session' };
    await runWithHooks(sandbox, { SessionStart: [{ dialect: 'claude', hooks: [hook] }] }, note);
    expect(sandbox.read('session')).toBe('session');
  });

  it.each([
    ['claude', 'CLAUDE_CODE_SESSION_ID'],
    ['gemini', 'GEMINI_SESSION_ID'],
  ])(
    'the session as a variable of %s that can be one, whatever it is called',
    async (dialect, name) => {
      const command = `printf %s "$${name}" >session; exit 2`;
      const hooks = { BeforeTool: [{ dialect, hooks: [{ type: 'command', command }] }] };
      const { config } = await openProject(sandbox, hooks, { sessionId: 'a\0b' });
      const said = await fireBeforeToolHook(config, 'x', {});
      expect(said?.isBlockingDecision()).toBe(true);
      expect(sandbox.read('session')).toBe('ab');
    },
  );

  it('no id of a call that the host did not give, and no facts of a call in our own format', async () => {
    const ours = sandbox.says({});
    const { config } = await openProject(sandbox, {
      PreToolUse: [{ dialect: 'claude', hooks: [script('keep_payload.sh')] }],
      BeforeTool: [{ hooks: [ours.config] }],
    });
    await fireBeforeToolHook(config, 'glob', {});
    await fireBeforeToolHook(config, 'glob', {}, { callId: 'a' });
    expect(payloads().map((payload) => payload['tool_use_id'])).toEqual([undefined, 'a']);
    expect(JSON.stringify(ours.inputs())).not.toMatch(/call_?id|use_id/i);
  });
});

describe('a plan of several dialects', () => {
  it('gives each hook its own format, at the same time', async () => {
    const ours = sandbox.says({ hookSpecificOutput: { tool_input: { file_path: 'b.js' } } });
    const hooks = {
      BeforeTool: [
        { dialect: 'claude', matcher: 'Write', hooks: [script('add_licence.mjs')] },
        { matcher: '^write_file$', hooks: [ours.config] },
        { dialect: 'claude', hooks: [script('keep_payload.sh')] },
        {
          dialect: 'gemini',
          matcher: 'write',
          hooks: [{ type: 'command', command: 'cat >gemini' }],
        },
      ],
    };
    await runWithHooks(sandbox, hooks, note);
    expect(sandbox.read('b.js')).toBe('// MIT\nlet a;');
    expect(ours.inputs()).toMatchObject([
      { hook_event_name: 'BeforeTool', tool_name: 'write_file', tool_input: note.args },
    ]);
    expect(payloads()).toMatchObject([{ hook_event_name: 'PreToolUse', tool_name: 'Write' }]);
    expect(JSON.parse(sandbox.read('gemini') ?? '')).toMatchObject({ tool_name: 'write_file' });
  });

  it('chains them: each reads, in its own words, what the one before changed', async () => {
    const shout = sandbox.computes<HookEventName.BeforeTool>(({ tool_input: { content } }) => ({
      hookSpecificOutput: { tool_input: { content: String(content).toUpperCase() } },
    }));
    const hooks = {
      BeforeTool: [
        { sequential: true, hooks: [shout.config] },
        { dialect: 'claude', hooks: [script('add_licence.mjs'), script('keep_payload.sh')] },
        { hooks: [sandbox.runs('printf %s "$input" >last').config] },
      ],
    };
    await runWithHooks(sandbox, hooks, note);
    expect(payloads()).toMatchObject([
      { tool_name: 'Write', tool_input: { content: '// MIT\nLET A;' } },
    ]);
    expect(JSON.parse(sandbox.read('last') ?? '')).toMatchObject({
      tool_name: 'write_file',
      tool_input: { file_path: 'note.js', content: '// MIT\nLET A;' },
    });
    expect(sandbox.read('note.js')).toBe('// MIT\nLET A;');
  });

  it('ends a chain with a denial by permissionDecision', async () => {
    const after = sandbox.says({});
    const hooks = {
      PreToolUse: [{ ...group('Write', 'protect_paths.py'), sequential: true }],
      BeforeTool: [{ hooks: [after.config] }],
    };
    const secret = { ...note, args: { ...note.args, file_path: 'secrets/a' } };
    const run = await runWithHooks(sandbox, hooks, secret);
    expect(run.toolResponse).toEqual({ error: 'Nothing in secrets/ may be written.' });
    expect(after.inputs()).toEqual([]);
  });
});

/** What the user and the model are told by one hook of PreToolUse that prints this. */
async function answering(output: object | string, extra: object = {}) {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  const hook = { type: 'command', command: `printf %s '${text}'`, ...extra };
  const hooks = { PreToolUse: [{ dialect: 'claude', hooks: [hook] }] };
  const { toolResponse, logger, result } = await runWithHooks(sandbox, hooks, note);
  return { toolResponse, warnings: logger.warnings, result };
}

const WRITTEN = { output: 'Created note.js (6 bytes).' };

describe('answers of PreToolUse', () => {
  it.each<[string, object]>([
    ['nothing', {}],
    ['approve', { decision: 'approve', reason: 'fine' }],
    ['allow', { hookSpecificOutput: { permissionDecision: 'allow' } }],
    ['suppressOutput', { suppressOutput: true }],
  ])('%s lets the tool run', async (_what, output) => {
    const { toolResponse, warnings, result } = await answering(output);
    expect({ toolResponse, warnings }).toEqual({ toolResponse: WRITTEN, warnings: [] });
    expect(result.toolCalls[0]?.result?.suppressDisplay).toBeFalsy();
  });

  it.each<[string, object]>([
    ['decision block', { decision: 'block', reason: 'No.' }],
    [
      'deny',
      { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'No.' } },
    ],
    [
      'block, whatever the permission',
      {
        decision: 'block',
        reason: 'No.',
        hookSpecificOutput: { permissionDecision: 'allow', permissionDecisionReason: 'Yes.' },
      },
    ],
  ])('%s blocks it with the reason', async (_what, output) => {
    expect((await answering(output)).toolResponse).toEqual({ error: 'No.' });
  });

  it('ask lets the tool run, and says so', async () => {
    const output = { hookSpecificOutput: { permissionDecision: 'ask' } };
    const { toolResponse, warnings } = await answering(output);
    expect(toolResponse).toEqual(WRITTEN);
    expect(warnings).toEqual([expect.stringContaining('nobody can be asked')]);
  });

  it('continue: false stops the agent', async () => {
    const { result } = await answering({ continue: false, stopReason: 'Enough.' });
    expect(result.stopped).toMatchObject({ event: HookEventName.BeforeTool, reason: 'Enough.' });
  });

  it('systemMessage is for the user, and never reaches the model', async () => {
    const { toolResponse, warnings } = await answering({ systemMessage: 'Mind the gap.' });
    expect(toolResponse).toEqual(WRITTEN);
    expect(warnings).toEqual([expect.stringMatching(/says: Mind the gap\.$/)]);
  });

  it('plain text is for nobody', async () => {
    const { toolResponse, warnings } = await answering('checked');
    expect({ toolResponse, warnings }).toEqual({ toolResponse: WRITTEN, warnings: [] });
  });

  it.each([
    ['with noise around it', 'ready {"decision":"block"}'],
    ['with a decision that does not exist', '{"decision":"never"}'],
    ['with a field of the wrong type', '{"hookSpecificOutput":"deny"}'],
  ])('JSON %s fails a guard', async (_what, output) => {
    const { toolResponse } = await answering(output, { onFailure: 'deny', name: 'guard' });
    expect(toolResponse).toEqual({ error: expect.stringContaining('must not be bypassed') });
  });
});

/** Whether a hook of PreToolUse with this matcher runs for one of our tools. */
async function isWaitedFor(matcher: string, toolName: string, extra: object = {}) {
  const { config } = await openProject(sandbox, {
    PreToolUse: [{ dialect: 'claude', matcher, hooks: [{ ...script('x.sh'), ...extra }] }],
  });
  const system = config.getHookSystem();
  await system?.initialize();
  const payload = { toolName, toolInput: {} };
  return system?.getEventHandler().hasWork(HookEventName.BeforeTool, payload);
}

describe('matchers and units', () => {
  it.each([
    ['Write', true],
    ['Edit|Write', true],
    ['Edit, Write', true],
    ['Edit | Write', true],
    ['Bash,Write', true],
    ['W.*', true],
    ['ri.e', true],
    ['^W', true],
    ['(Edit|Wri)', true],
    ['*', true],
    ['', true],
    ['Writ', false],
    ['Edit|Writ', false],
    ['write', false],
    ['write_file', false],
    ['MultiEdit', false],
    ['^rite', false],
    ['W(', false],
  ])('%j, a list of names or else an expression, matches Write: %s', async (matcher, expected) => {
    expect(await isWaitedFor(matcher, 'write_file')).toBe(expected);
  });

  it.each([
    ['^mcp__', true],
    ['mcp__git__.*', true],
    ['mcp__git', false],
    ['mcp__git__push', true],
  ])('%j matches the tool of a server: %s', async (matcher, expected) => {
    expect(await isWaitedFor(matcher, 'mcp__git__push')).toBe(expected);
  });

  it('asks a guard whose expression is not valid, as nobody knows what it guards', async () => {
    expect(await isWaitedFor('Write(', 'write_file', { onFailure: 'deny' })).toBe(true);
  });

  it('tests the source of a session, and what a notification is about', async () => {
    const { config } = await openProject(sandbox, {
      SessionStart: [group('compact|resume', 'x.sh')],
      Notification: [group('permission_prompt', 'x.sh')],
    });
    await config.getHookSystem()?.initialize();
    const events = config.getHookSystem()?.getEventHandler();
    const { SessionStart, Notification } = HookEventName;
    const { Startup, Resume } = SessionStartSource;
    const { Idle, ToolPermission } = NotificationType;
    expect(events?.hasWork(SessionStart, { source: Startup })).toBe(false);
    expect(events?.hasWork(SessionStart, { source: Resume })).toBe(true);
    const rest = { message: '', details: {} };
    expect(events?.hasWork(Notification, { notificationType: Idle, ...rest })).toBe(false);
    expect(events?.hasWork(Notification, { notificationType: ToolPermission, ...rest })).toBe(true);
  });

  it('takes a timeout in seconds', async () => {
    const hook = { type: 'command', command: 'sleep 30', timeout: 0.5 };
    const hooks = { PreToolUse: [{ dialect: 'claude', hooks: [hook] }] };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(run.logger.warnings).toEqual([expect.stringContaining('timed out after 500 ms')]);
  });

  it.each([
    [HookEventName.BeforeTool, 600_000],
    [HookEventName.BeforeAgent, 30_000],
    [HookEventName.SessionEnd, 1500],
  ])('gives %s as long as there, where nothing is said: %s ms', (event, ms) => {
    expect(deadlineOf({ dialect: 'claude' }, event).timeoutMs).toBe(ms);
    expect(deadlineOf({ dialect: 'gemini' }, event).timeoutMs).toBe(60_000);
    expect(deadlineOf({}, event).timeoutMs).toBe(60_000);
  });

  it('ends a hook after the time that it has there', async () => {
    const { config, logger } = await openProject(sandbox, {
      SessionEnd: [{ dialect: 'claude', hooks: [{ type: 'command', command: 'sleep 300' }] }],
    });
    await fireHook(config, HookEventName.SessionEnd, { reason: SessionEndReason.Exit });
    expect(logger.warnings).toEqual([expect.stringContaining('timed out after 1500 ms')]);
  });

  it('warns of a timeout that looks like milliseconds, and of events without a counterpart', async () => {
    const { problems } = await openProject(sandbox, {
      PreToolUse: [{ dialect: 'claude', hooks: [{ ...script('x.sh'), timeout: 5000 }] }],
      TeammateIdle: [group('', 'x.sh')],
      PostToolUse: [{ hooks: [script('x.sh')] }],
    });
    expect(problems.map(({ path: at, message }) => `${at}: ${message}`)).toEqual([
      'hooks.PreToolUse[0].hooks[0].timeout: 5000 is in seconds here; did you mean 5?',
      expect.stringMatching(/^hooks\.TeammateIdle: unknown event, ignored/),
      expect.stringMatching(/^hooks\.PostToolUse: not an event here.*"dialect": "claude"/),
    ]);
  });
});
