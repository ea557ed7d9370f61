import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

const CURSOR = {
  conversation_id: 's1',
  generation_id: 'g1',
  cursor_version: '3.1.0',
  workspace_roots: ['/shop'],
  hook_event_name: 'preToolUse',
  tool_name: 'Shell',
  tool_input: { command: 'git push' },
};

const hook = async (event: object, ...args: string[]) => {
  await cli.userSettings({
    BeforeTool: group('echo no >&2; exit 2', { onFailure: 'deny', matcher: 'run_shell_command' }),
  });
  return cli.runProgram(['hook', ...args], { input: JSON.stringify(event) });
};

describe('hookstack hook without --from', () => {
  it('answers whoever has sent the event, in its own words', async () => {
    const { stdout } = await hook(CURSOR);
    expect(JSON.parse(stdout)).toEqual({ permission: 'deny', agent_message: 'no' });
    const devin = {
      hook_event_name: 'PreToolUse',
      tool_name: 'exec',
      tool_input: { command: 'x' },
    };
    expect((await hook(devin)).stdout).toContain('"permissionDecision":"deny"');
    expect((await hook(devin, '--from', 'droid')).stdout).toContain('No guard looks at exec');
  });

  it('names the agent that it took it for', async () => {
    const { tool_name: _tool, ...unread } = CURSOR;
    expect(await hook(unread)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Cursor sent preToolUse without "tool_name"'),
    });
    expect(await hook({ ...CURSOR, hook_event_name: 'afterFileEdit' })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Cursor: hooks have no such event here'),
    });
    const nobody = await hook({ tool_name: 'x' });
    expect(nobody).toMatchObject({ exitCode: 2 });
    expect(nobody.stderr).toContain('as nothing tells who sent it: name the agent with --from');
    const named = await hook({ tool_name: 'x' }, '--from', 'claude');
    expect(named.stderr).not.toContain('--from');
  });
});
