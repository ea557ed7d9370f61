import { beforeEach, describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

const READS = 'cat > /dev/null; exit 2 # reads';
const SHELLS = 'cat > /dev/null; exit 2 # shells';

/** A guard that was allowed, and that the project has replaced by two other hooks. */
beforeEach(async () => {
  await cli.run(['init']);
  await cli.projectSettings({
    BeforeTool: [
      ...group(READS, { name: 'no-read', matcher: 'read_file', onFailure: 'deny' }),
      ...group(SHELLS, { name: 'no-shell', matcher: 'run_shell_command' }),
    ],
  });
});

const CHANGED =
  'untrusted, and what "protect-env" guarded is blocked: it has changed since it was allowed';

describe('two hooks in the place of a guard that was allowed are shown as what they are now', () => {
  it('by list', async () => {
    const { stdout } = await cli.run(['list', '--json']);
    const { hooks } = JSON.parse(stdout) as { hooks: object[] };
    const reason = expect.stringContaining(CHANGED) as string;
    expect(hooks).toMatchObject([
      { hook: 'no-read', command: READS, matcher: 'read_file', enabled: false, reason },
      { hook: 'no-shell', command: SHELLS, matcher: 'run_shell_command', enabled: false, reason },
    ]);
  });

  it.each(['read_file', 'write_file'])('by explain of %s', async (tool) => {
    const { stdout } = await cli.run(['explain', 'BeforeTool', '--tool', tool, '--json']);
    const { hooks } = JSON.parse(stdout) as { hooks: object[] };
    const blocks = tool === 'write_file';
    expect(hooks).toMatchObject([
      { hook: 'no-read', command: READS, matcher: 'read_file', runs: false, blocks },
      { hook: 'no-shell', command: SHELLS, runs: false, blocks },
    ]);
  });

  it('by fire, which names both where nothing blocks', async () => {
    const { exitCode, stdout } = await cli.run(['fire', 'BeforeTool', '--tool', 'read_file']);
    expect(stdout).toContain(`  no-read: ${CHANGED}`);
    expect(stdout).toContain(`  no-shell: ${CHANGED}`);
    expect(stdout).not.toContain('protect-env: ');
    expect(exitCode).toBe(0);
  });

  it('by fire, where the guard that was allowed blocks, once', async () => {
    const { exitCode, stdout } = await cli.run(['fire', 'BeforeTool', '--tool', 'write_file']);
    expect(stdout.match(/^protect-env: /gmu)).toHaveLength(1);
    expect(stdout).toContain('and in its place is now "no-read", "no-shell"');
    expect(exitCode).toBe(2);
  });

  it('by doctor, and by trust with their places', async () => {
    const { stdout } = await cli.run(['doctor', '--json']);
    const { hooks } = JSON.parse(stdout) as { hooks: object[] };
    expect(hooks).toMatchObject([{ hook: 'no-read' }, { hook: 'no-shell' }]);
    const trust = await cli.run(['trust', '--check']);
    expect(trust.stdout.match(/from \.llxprt\/settings\.json:1:\d+/gu)).toHaveLength(2);
    expect(trust.stdout).toContain('+ name: "no-read"');
  });

  it('and once they are allowed, nothing stands in for them', async () => {
    await cli.run(['trust', '--open']);
    expect(await cli.run(['fire', 'BeforeTool', '--tool', 'read_file'])).toMatchObject({
      exitCode: 2,
    });
    expect(await cli.run(['fire', 'BeforeTool', '--tool', 'write_file'])).toMatchObject({
      exitCode: 0,
    });
  });
});

it('a guard blocks at the event that it was allowed for, where explain says so', async () => {
  await cli.projectSettings({ AfterTool: group(READS, { name: 'protect-env' }) });
  const { exitCode } = await cli.run(['fire', 'BeforeTool', '--tool', 'write_file']);
  expect(exitCode).toBe(2);
  const { stdout } = await cli.run(['explain', 'BeforeTool', '--tool', 'write_file']);
  expect(stdout).toContain('It is blocked, as a guard is not allowed as it is now');
});

it('a guard whose input cannot be read by "hookstack hook" still blocks', async () => {
  expect(await cli.runProgram(['hook', '--from', 'claude'], { input: 'no JSON' })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('"protect-env"') as string,
  });
});
