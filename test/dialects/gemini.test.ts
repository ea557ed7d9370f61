import { describe, expect, it } from 'vitest';
import { HookEventName, NotificationType, SessionStartSource } from '../../src/protocol/types.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { openProject, runWithHooks } from './claudeHooks.js';

const sandbox = useSandbox();
const note = { name: 'write_file', args: { file_path: 'note.js', content: 'let a;' } };
const WRITTEN = { output: 'Created note.js (6 bytes).' };

/** One hook for Gemini CLI, as its settings describe it. */
function group(command: string, matcher?: string) {
  const hook = { type: 'command', name: 'theirs', description: 'A hook', command, timeout: 5000 };
  return [{ dialect: 'gemini', matcher, hooks: [hook] }];
}

describe('hooks written for Gemini CLI, as they are', () => {
  it('find the session in their environment, and read our fields', async () => {
    const keep = 'cat >payload; printf %s "$GEMINI_CWD $GEMINI_SESSION_ID" >session';
    const run = await runWithHooks(sandbox, { BeforeTool: group(keep, 'write_file') }, note);
    expect(run.problems).toEqual([]);
    expect(sandbox.read('session')).toBe(`${sandbox.workingDir} session`);
    expect(JSON.parse(sandbox.read('payload') ?? '')).toEqual({
      session_id: 'session',
      transcript_path: '',
      cwd: sandbox.workingDir,
      timestamp: expect.any(String),
      hook_event_name: 'BeforeTool',
      tool_name: 'write_file',
      tool_input: note.args,
    });
  });

  it.each([
    ['exit code 2', 'echo "No." >&2; exit 2'],
    ['decision deny', `echo '{"decision":"deny","reason":"No."}'`],
  ])('block a tool by %s', async (_how, command) => {
    const run = await runWithHooks(sandbox, { BeforeTool: group(command) }, note);
    expect(run.toolResponse).toEqual({ error: 'No.' });
  });

  it.each([
    ['exit code 2', 'echo "No." >&2; exit 2'],
    ['decision deny', `echo '{"decision":"deny","reason":"No."}'`],
  ])('drop an answer of the model by %s, and end the agent', async (_how, command) => {
    const run = await runWithHooks(sandbox, { AfterModel: group(command) }, note);
    expect(run.result).toMatchObject({
      response: 'No.',
      stopped: { event: HookEventName.AfterModel, reason: 'No.' },
      toolCalls: [],
    });
  });

  it('fail by any other exit code, and the tool runs', async () => {
    const run = await runWithHooks(sandbox, { BeforeTool: group('echo "No." >&2; exit 1') }, note);
    expect(run.toolResponse).toEqual(WRITTEN);
    expect(run.logger.warnings).toEqual([expect.stringContaining('exited with code 1')]);
  });

  it.each([
    ['a systemMessage', `echo '{"systemMessage":"Mind the gap.","suppressOutput":true}'`],
    ['plain text', 'echo Mind the gap.'],
  ])('tell the user, and not the model, %s', async (_what, command) => {
    const run = await runWithHooks(sandbox, { AfterTool: group(command) }, note);
    expect(run.toolResponse).toEqual(WRITTEN);
    expect(run.logger.warnings).toEqual([expect.stringMatching(/says: Mind the gap\.$/)]);
    expect(run.result.toolCalls[0]?.result?.suppressDisplay).toBeFalsy();
  });

  it.each([
    [SessionStartSource.Startup, 'startup', true],
    [SessionStartSource.Startup, ' startup ', true],
    [SessionStartSource.Startup, '*', true],
    [SessionStartSource.Startup, 'start', false],
    [SessionStartSource.Startup, 'startup|resume', false],
  ])('wait for one source of a session, %s by %j: %s', async (source, matcher, expected) => {
    const { config } = await openProject(sandbox, { SessionStart: group('true', matcher) });
    await config.getHookSystem()?.initialize();
    const events = config.getHookSystem()?.getEventHandler();
    expect(events?.hasWork(HookEventName.SessionStart, { source })).toBe(expected);
  });

  it('run at every notification, whatever their matcher says', async () => {
    const { config } = await openProject(sandbox, { Notification: group('true', 'other') });
    await config.getHookSystem()?.initialize();
    const payload = { notificationType: NotificationType.Idle, message: '', details: {} };
    const events = config.getHookSystem()?.getEventHandler();
    expect(events?.hasWork(HookEventName.Notification, payload)).toBe(true);
  });

  it('match any part of a name, also of the newer name of the search', async () => {
    const { config } = await openProject(sandbox, { BeforeTool: group('true', '^grep_') });
    await config.getHookSystem()?.initialize();
    const events = config.getHookSystem()?.getEventHandler();
    const matches = (toolName: string) =>
      events?.hasWork(HookEventName.BeforeTool, { toolName, toolInput: {} });
    expect([matches('search_file_content'), matches('glob')]).toEqual([true, false]);
  });

  it('read the names of today, and answer by them', async () => {
    const answer = {
      hookSpecificOutput: { tool_input: { dir_path: 'lib', include_pattern: '*.js' } },
    };
    const command = `cat >payload; echo '${JSON.stringify(answer)}'`;
    const search = {
      name: 'search_file_content',
      args: { pattern: 'x', path: 'src', include: '*.ts' },
    };
    const run = await runWithHooks(sandbox, { BeforeTool: group(command) }, search);
    expect(JSON.parse(sandbox.read('payload') ?? '')).toMatchObject({
      tool_name: 'grep_search',
      tool_input: { pattern: 'x', dir_path: 'src', include_pattern: '*.ts' },
    });
    expect(run.result.toolCalls[0]?.input).toEqual({ pattern: 'x', path: 'lib', include: '*.js' });
  });

  it('allow tools by the names of today, and read those that are allowed', async () => {
    const allow = { toolConfig: { mode: 'ANY', allowedFunctionNames: ['grep_search', 'glob'] } };
    const answer = JSON.stringify({ hookSpecificOutput: allow });
    const run = await runWithHooks(
      sandbox,
      {
        BeforeToolSelection: group(`echo '${answer}'`),
        BeforeModel: group('cat >payload'),
      },
      { name: 'glob', args: { pattern: '*' } },
    );
    expect(run.sent[0]?.toolConfig?.functionCallingConfig?.allowedFunctionNames).toEqual([
      'glob',
      'search_file_content',
    ]);
    expect(JSON.parse(sandbox.read('payload') ?? '')).toMatchObject({
      llm_request: { toolConfig: { allowedFunctionNames: ['glob', 'grep_search'] } },
    });
  });
});
