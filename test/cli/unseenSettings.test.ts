import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

const LONG = 'x'.repeat(1024 * 1024);
const OTHERS = { disabledHooks: ['my-guard'], hookEnvironment: { inherit: 'all' } };

/** A file that is too large to be read, until the command has made it smaller. */
describe('settings that could not be read before a command edits them', () => {
  it('are not allowed by init', async () => {
    await cli.userSettings({ BeforeTool: group('exit 2', { name: 'my-guard' }) });
    await cli.write('.llxprt/settings.json', { ...OTHERS, hooks: { BeforeTool: LONG } });
    const { stdout } = await cli.run(['init']);
    expect(stdout).toContain('Not allowed yet: the settings');
    const { exitCode, stdout: list } = await cli.run(['trust', '--check']);
    expect(list).toContain('disabledHooks: ["my-guard"]');
    expect(exitCode).toBe(1);
    expect(await cli.run(['fire', 'BeforeTool'])).toMatchObject({ exitCode: 2 });
  });

  it('are not allowed by enable', async () => {
    await cli.userSettings({ BeforeTool: group('exit 2', { name: 'my-guard' }) });
    const others = { hookEnvironment: { inherit: 'all' }, hooks: {} };
    await cli.write('.llxprt/settings.json', { disabledHooks: [LONG], ...others });
    await cli.run(['enable', '--all']);
    expect(await cli.read('.llxprt/settings.json')).not.toContain('disabledHooks');
    const { exitCode, stdout } = await cli.run(['trust', '--check']);
    expect(stdout).toContain('hookEnvironment: {"inherit":"all"}');
    expect(exitCode).toBe(1);
  });
});
