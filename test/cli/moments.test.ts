import { describe, expect, it } from 'vitest';
import { Cli } from './helpers.js';

const cli = new Cli();

const note = 'jq -c .hook_event_name >>ran; true';
const claudeGroup = (command: string) => [
  { dialect: 'claude' as const, hooks: [{ type: 'command' as const, command }] },
];
const hooks = {
  PreToolUse: claudeGroup(note),
  PermissionRequest: claudeGroup(note),
  PostToolUse: claudeGroup(note),
  PostToolUseFailure: claudeGroup(note),
};

async function runJson(...args: string[]) {
  const { stdout } = await cli.run([...args, '--settings', await cli.settings(hooks), '--json']);
  return JSON.parse(stdout) as {
    hooks: { event: string; moment: string | null; reason: string | null; duplicateOf?: string }[];
  };
}

describe('events of another agent that are a moment of ours', () => {
  it.each([
    ['PermissionRequest'],
    ['PostToolUseFailure'],
    ['PostToolUseFailure', '--response', '{"llmContent": "gone"}'],
  ])('can be fired: %s %s', async (event, ...options) => {
    const args = ['fire', event, ...options, '--settings', await cli.settings(hooks)];
    expect(await cli.run(args)).toMatchObject({ exitCode: 0 });
    expect(await cli.read('ran')).toBe(`"${event}"\n`);
  });

  it('come where what is fired says so', async () => {
    const failed = '{"llmContent": "", "returnDisplay": "", "error": {"message": "gone"}}';
    const settings = await cli.settings(hooks);
    await cli.run(['fire', 'AfterTool', '--response', failed, '--settings', settings]);
    await cli.run(['fire', 'AfterTool', '--settings', settings]);
    expect(await cli.read('ran')).toBe('"PostToolUseFailure"\n"PostToolUse"\n');
  });

  it('are fired again from a trace as what they were', async () => {
    const settings = await cli.settings(hooks);
    await cli.run(['fire', 'PermissionRequest', '--settings', settings, '--trace', 'trace.jsonl']);
    await cli.run(['fire', '--from-trace', 'trace.jsonl', '--settings', settings]);
    expect(await cli.read('ran')).toBe('"PermissionRequest"\n"PermissionRequest"\n');
  });

  it('are explained: who runs, and why not the others', async () => {
    const { hooks: explained } = await runJson('explain', 'PostToolUseFailure', '--tool', 'glob');
    expect(explained.map(({ moment, reason }) => [moment, reason])).toEqual([
      ['failed', null],
      [null, 'runs at PostToolUse of Claude Code alone'],
    ]);
    const { hooks: before } = await runJson('explain', 'BeforeTool', '--tool', 'glob');
    expect(before.map(({ moment, reason }) => [moment, reason])).toEqual([
      [null, null],
      ['asked', 'runs at PermissionRequest of Claude Code alone'],
    ]);
  });

  it('are listed, and the same command at another moment is no duplicate', async () => {
    const { hooks: listed } = await runJson('list');
    expect(listed.map(({ event, moment, duplicateOf }) => [event, moment, duplicateOf])).toEqual([
      ['BeforeTool', null, null],
      ['BeforeTool', 'asked', null],
      ['AfterTool', null, null],
      ['AfterTool', 'failed', null],
    ]);
    const validated = await cli.run(['validate', await cli.settings(hooks)]);
    expect(validated).toMatchObject({ exitCode: 0 });
    expect(validated.stdout + validated.stderr).not.toContain('same command');
  });

  it('are carried over under their own names, once', async () => {
    await cli.write('.claude/settings.json', { hooks });
    expect(await cli.run(['migrate', '--from', 'claude'])).toMatchObject({ exitCode: 0 });
    const settings = await cli.read('.llxprt/settings.json');
    const written = (JSON.parse(settings) as { hooks: object }).hooks;
    expect(Object.keys(written)).toEqual([
      'BeforeTool',
      'PermissionRequest',
      'AfterTool',
      'PostToolUseFailure',
    ]);
    expect(settings).not.toContain('moment');
    await cli.run(['migrate', '--from', 'claude']);
    expect(await cli.read('.llxprt/settings.json')).toBe(settings);
  });

  it('cannot be recorded as a test of our events', async () => {
    const args = ['fire', 'PermissionRequest', '--settings', await cli.settings(hooks)];
    const { exitCode, stderr } = await cli.run([...args, '--record', 'x.hooktest.json']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('--record')]);
  });
});
