import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

/** Ends of line in all ways, an escape sequence, and what turns the text around. */
const ENDS = ['\n', '\r', '\u0085', '\u2028', '\u2029', '\u001b[2K\u001b[1G', '\u202e', '\u2066'];
const odd = (name: string) => name + ENDS.map((end) => `${end}FORGED`).join('');

/** Commands that take the streams of a whole process. */
const SERVERS = new Set(['hook', 'mcp', 'serve']);

/** Everything that a project, an extension or a server may call as it likes. */
async function writeAll(): Promise<void> {
  const hooks = {
    BeforeTool: [
      ...group(`true # ${odd('guard')}`, { name: odd('guard'), matcher: odd('read_file|') }),
      ...group('exit 0', { name: odd('guard'), timeout: -1, [odd('field')]: 1 }),
      ...group(`sh '${odd('script')}.sh'`),
      ...group('exit 2', { name: 'plain', onFailure: 'deny' }),
    ],
    [odd('BeforeTool')]: group('true'),
  };
  await cli.projectSettings(hooks, {
    disabledHooks: [odd('guard')],
    [odd('key')]: 1,
  });
  await cli.userSettings(hooks, {
    disabledHooks: [odd('other'), 'plain'],
    [odd('key')]: 1,
  });
  const middleware = [
    { stack: 'tool', module: odd('./missing'), name: odd('layer') },
    { stack: odd('stack'), module: './other.mjs' },
  ];
  for (const root of [cli.project, cli.home]) {
    const manifest = join(root, '.llxprt/extensions', odd('x'), 'llxprt-extension.json');
    await cli.write(manifest, { name: 'x', hooks, middleware, [odd('key')]: 1 });
  }
  for (const agent of ['.claude', '.gemini']) {
    await cli.write(`${agent}/settings.json`, { hooks, [odd('key')]: { [odd('key')]: 1 } });
  }
  await cli.write(`${odd('odd')}.hooktest.json`, {
    event: 'BeforeTool',
    input: { tool_name: odd('tool') },
    expect: { decision: 'stop', exit: { [odd('nobody')]: 0 } },
  });
  await cli.write(`broken${odd('odd')}.hooktest.json`, '{');
  await cli.write(`event.hooktest.json`, { event: odd('BeforeTool'), [odd('key')]: 1, expect: {} });
  const server = { command: odd('node'), args: [odd('server')] };
  await cli.write('.mcp.json', {
    mcpServers: { [odd('files')]: server, [odd('web')]: { url: odd('x') } },
  });
  await mkdir(join(cli.project, odd('folder')));
}

/** Lines that begin as a part of a name, and those with a character that none of our own has. */
function forgedIn(text: string): string[] {
  const odds = text
    .split('\n')
    .filter((line) => /^FORGED|[\p{Cc}\p{Zl}\p{Zp}\u202e\u2066]/u.test(line));
  return odds.map((line) => JSON.stringify(line));
}

const INPUT = JSON.stringify({
  tool_name: odd('read_file'),
  tool_input: { file_path: odd('.env') },
});

describe('what projects, extensions and agents call things forges no line and hides nothing', () => {
  beforeEach(writeAll);

  it.each(['list', 'stack', 'validate'])('a name of an extension: %s', async (command) => {
    const name = odd('extension');
    const manifest = join(cli.project, '.llxprt/extensions/y/llxprt-extension.json');
    await cli.write(manifest, { name, hooks: {} });
    const { stdout, stderr } = await cli.run([command]);
    expect(`${stdout}${stderr}`).toContain(String.raw`FORGED\u2028FORGED\u2029`);
    expect(forgedIn(`${stdout}\n${stderr}`)).toEqual([]);
  });

  it.each([[], ['--slowest']])('what is in a trace: %s', async (...how) => {
    await cli.run(['fire', 'BeforeTool', '--input', INPUT, '--trust', '--trace', 't.jsonl']);
    const { stdout, stderr } = await cli.run(['trace', 't.jsonl', ...how]);
    expect(forgedIn(`${stdout}\n${stderr}`)).toEqual([]);
  });

  it.each<{ args: string[]; input?: object }>([
    { args: ['list'] },
    { args: ['list', '--trust'] },
    { args: ['list', '--cwd', odd('folder')] },
    { args: ['explain', 'BeforeTool', '--tool', odd('tool')] },
    { args: ['explain', odd('BeforeTool')] },
    { args: ['fire', 'BeforeTool', '--input', INPUT, '--trust'] },
    { args: ['fire', 'BeforeTool', '--input', INPUT, '--explain'] },
    { args: ['fire', odd('BeforeTool')] },
    { args: ['doctor', '--trust'] },
    { args: ['doctor'] },
    { args: ['validate'] },
    { args: ['validate', '--format', 'github'] },
    { args: ['stack', '--trust'] },
    { args: ['stack'] },
    { args: ['stack', odd('tool')] },
    { args: ['test', '--trust'] },
    { args: ['test', odd('nothing')] },
    { args: ['trust'] },
    { args: ['trust', '--check'] },
    { args: ['trust', '--yes', '--open'] },
    { args: ['trust', '--lock'] },
    { args: ['disable', odd('guard')] },
    { args: ['disable', 'gaurd'] },
    { args: ['disable', '--all'] },
    { args: ['enable', odd('other')] },
    { args: ['enable', '--all'] },
    { args: ['migrate', '--from', 'claude', '--dry-run'] },
    { args: ['migrate', '--from', 'claude'] },
    { args: ['migrate', '--from', 'gemini', '--dry-run'] },
    { args: ['install', '--into', 'claude', '--dry-run'] },
    { args: ['install', '--into', 'gemini'] },
    { args: ['init', '--name', odd('hook')] },
    { args: ['mcp', '--name', odd('server'), '--', odd('nothing')] },
    { args: ['mcp', 'install', '--into', '.mcp.json', '--dry-run'] },
    { args: ['mcp', 'install', '--into', '.mcp.json'] },
    { args: ['serve', '--settings', odd('nothing')] },
    { args: ['run', '--trust', 'hello'] },
    { args: ['trace', odd('nothing')] },
    {
      args: ['hook', '--from', 'claude', '--trust'],
      input: { hook_event_name: 'PreToolUse', tool_name: odd('Read'), tool_input: {} },
    },
    {
      args: ['hook', '--from', 'claude'],
      input: { hook_event_name: 'SessionStart', source: odd('startup') },
    },
    { args: ['hook', '--from', 'gemini'], input: { hook_event_name: odd('BeforeTool') } },
  ])('$args', async ({ args, input }) => {
    const isServer = SERVERS.has(args[0] ?? '') && args[1] !== 'install';
    const options = { ...(input && { input: JSON.stringify(input) }), timeout: 20_000 };
    const { stdout, stderr } = await (isServer ? cli.runProgram(args, options) : cli.run(args));
    expect(forgedIn(`${stdout}\n${stderr}`)).toEqual([]);
  });
});
