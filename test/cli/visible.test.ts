import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

const COMMAND =
  'cat >/dev/null; echo lint\u001b]0; : hidden; :\u0007 # \u202eon\u202c\n: second line';
const SHOWN = String.raw`cat >/dev/null; echo lint\x1b]0; : hidden; :\x07 # \u202eon\u202c\n: second line`;

describe('a command that a terminal would show as another', () => {
  it.each([
    { args: ['list'] },
    { args: ['explain', 'BeforeTool', '--tool', 'read_file'] },
    { args: ['fire', 'BeforeTool'] },
    { args: ['doctor'] },
  ])('is shown whole by $args.0', async ({ args }) => {
    await cli.userSettings({ BeforeTool: group(COMMAND) });
    const { stdout } = await cli.run(args);
    expect(stdout).toContain(SHOWN);
    expect(stdout).toMatch(/^[\P{C}\n]+$/u);
  });

  it.each(['list', 'explain'])('is not cut by %s', async (name) => {
    const command = `true ${' '.repeat(500)}; touch last`;
    await cli.userSettings({ BeforeTool: group(command, { name: 'long' }) });
    const { stdout } = await cli.run(name === 'list' ? [name] : [name, 'BeforeTool']);
    expect(stdout).toContain(`command: ${command}`);
  });
});
