import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { Cli, MAIN } from './helpers.js';
import { SERVER } from './mcpClient.js';

const cli = new Cli();

const BEFORE = `{
  // Ours
  "mcpServers": {
    "My files": {
      "command": "npx", // with a comment
      "args": ["-y", "files", "--", "x"],
      "env": { "TOKEN": "t" }
    },
    "plain": { "command": "serve" },
    "far": { "url": "https://example.com/mcp" }
  }
}
`;

const install = (...args: string[]) => cli.run(['mcp', 'install', '--into', '.mcp.json', ...args]);

describe('mcp install', () => {
  it('starts hookstack in place of each server, and --undo writes the file as it was', async () => {
    await cli.write('.mcp.json', BEFORE);
    const { exitCode, stdout } = await install();
    expect(exitCode).toBe(0);
    expect(stdout).toContain('My files: is now behind hookstack, its tools are mcp__My_files__…');
    expect(stdout).toContain('far: left as it is: no command starts it');
    const written = await cli.read('.mcp.json');
    expect(written).toContain('// Ours');
    expect(written).toContain('// with a comment');
    const { mcpServers } = JSON.parse(written.replaceAll(/\/\/ (?:Ours|with.*)/gu, '')) as {
      mcpServers: Record<string, { command: string; args: string[]; env?: object }>;
    };
    const own = ['mcp', '--name', 'My_files', '--', 'npx', '-y', 'files', '--', 'x'];
    expect(mcpServers['My files']).toEqual({
      command: process.execPath,
      args: [MAIN, ...own],
      env: { TOKEN: 't' },
    });
    expect(mcpServers['plain']?.args.slice(1)).toEqual(['mcp', '--name', 'plain', '--', 'serve']);
    await install('--undo');
    const restored = await cli.read('.mcp.json');
    expect(restored.replaceAll(/\s+/gu, '')).toBe(BEFORE.replaceAll(/\s+/gu, ''));
  });

  it('does nothing twice', async () => {
    await cli.write('.mcp.json', BEFORE);
    await install();
    const first = await cli.read('.mcp.json');
    expect((await install()).stdout).toContain('hookstack is in front of it already, as "plain"');
    expect(await cli.read('.mcp.json')).toBe(first);
  });

  it('writes nothing with --dry-run, and shows what would change', async () => {
    await cli.write('.mcp.json', BEFORE);
    const { stdout } = await install('plain', '--dry-run');
    expect(stdout).toMatch(/^\+.*"plain": \{.*"mcp", "--name", "plain"/mu);
    expect(stdout).not.toContain('My_files');
    expect(await cli.read('.mcp.json')).toBe(BEFORE);
  });

  it('knows the files of VS Code', async () => {
    await cli.write('.mcp.json', { servers: { a: { type: 'stdio', command: 'serve', args: [] } } });
    await install();
    expect(await cli.read('.mcp.json')).toContain('"--name"');
  });

  it.each([
    [[], undefined, 'lists no servers'],
    [['plane'], BEFORE, 'has no server "plane"; did you mean'],
    [[], '[', 'not valid JSON'],
  ])('%j into %j is wrong', async (args, content, message) => {
    if (content !== undefined) await cli.write('.mcp.json', content);
    const { exitCode, stderr } = await install(...args);
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });

  it('needs a file', async () => {
    const { exitCode, stderr } = await cli.run(['mcp', 'install']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--into .mcp.json');
  });

  it('writes a command that starts the server', async () => {
    const servers = { test: { command: process.execPath, args: [SERVER] } };
    await cli.write('.mcp.json', { mcpServers: servers });
    const { stdout } = await cli.run([
      'mcp',
      'install',
      '--into',
      path.join(cli.project, '.mcp.json'),
      '--json',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      changed: true,
      servers: [{ server: 'test', name: 'test' }],
    });
    const { mcpServers } = JSON.parse(await cli.read('.mcp.json')) as {
      mcpServers: typeof servers;
    };
    const { command, args } = mcpServers.test;
    const input = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
    const answered = await execa(command, args, {
      input,
      cwd: cli.project,
      env: cli.env,
      extendEnv: false,
    });
    expect(answered.stdout).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
});
