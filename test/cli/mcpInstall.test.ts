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
    expect(stdout).toContain('far: is now behind hookstack');
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

  it('gives no two servers the same name for hooks', async () => {
    const wrapped = { command: 'hookstack', args: ['mcp', '--name', 'server', '--', 'x'] };
    const names = ['файлы', '', 'a b', 'a_b', 'a-2', 'a', 'a?'];
    const servers = Object.fromEntries(names.map((name) => [name, { command: 'serve' }]));
    await cli.write('.mcp.json', {
      mcpServers: { mine: wrapped, ...servers },
      servers: { a: { command: 'serve' } },
    });
    const { stdout } = await install('--json');
    const { servers: changes } = JSON.parse(stdout) as { servers: { name?: string }[] };
    expect(changes.map(({ name }) => name)).toEqual([
      undefined,
      'server-2',
      'server-3',
      'a_b-2',
      'a_b',
      'a-2',
      'a',
      'a-3',
      'a-4',
    ]);
  });

  it.each([
    ['hookstack', ['mcp', '--name=a', '--', 'serve', 'x']],
    ['npx', ['-y', 'hookstack@1.2.3', 'mcp', '--name', 'a', '--', 'serve', 'x']],
    [String.raw`C:\npm\hookstack.cmd`, ['mcp', '--name', 'a', '--', 'serve', 'x']],
  ])('sees that it is in front already: %s %j', async (command, args) => {
    await cli.write('.mcp.json', { mcpServers: { a: { command, args } } });
    expect((await install()).stdout).toContain('in front of it already, as "a"');
    await install('--undo');
    const { mcpServers } = JSON.parse(await cli.read('.mcp.json')) as { mcpServers: object };
    expect(mcpServers).toEqual({ a: { command: 'serve', args: ['x'] } });
  });

  it('leaves what it cannot undo as it is', async () => {
    const args = ['mcp', '--name', 'a', 'serve'];
    await cli.write('.mcp.json', { mcpServers: { a: { command: 'hookstack', args } } });
    expect((await install()).stdout).toContain('in front of it already');
    expect((await install('--undo')).stdout).toContain('change it by hand');
  });

  it('changes all servers of a file that lists them for several clients', async () => {
    await cli.write('.mcp.json', {
      mcpServers: { a: { command: 'one' } },
      servers: { b: { command: 'two' } },
    });
    const { stdout } = await install();
    expect(stdout).toContain('a: is now behind');
    expect(stdout).toContain('b: is now behind');
    expect(await cli.read('.mcp.json')).toMatch(/"one"[^]*"b",?\s*"--",?\s*"two"/u);
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

const own = (name: string, was: string) => [MAIN, 'mcp', '--name', name, '--was', was];

describe('mcp install, of servers over HTTP', () => {
  const REMOTE = `{
  "mcpServers": {
    "plain": { "url": "https://example.com/mcp" },
    "typed": {
      "type": "http",
      "url": "https://example.com/mcp",
      "headers": { "Authorization": "Bearer \${TOKEN}", "X-Key": "a: b" }
    },
    "gemini": { "httpUrl": "https://example.com/mcp?key=SECRET", "timeout": 5 },
    "old": { "type": "sse", "url": "https://example.com/events" },
    "older": { "url": "https://example.com/sse" },
    "login": { "type": "http", "url": "https://example.com/mcp", "oauth": { "clientId": "c" } },
    "socket": { "type": "ws", "url": "https://example.com/mcp" },
    "nowhere": { "type": "http" }
  }
}
`;

  it('puts hookstack in front of them, with headers where others do not see them', async () => {
    await cli.write('.mcp.json', REMOTE);
    const { stdout } = await install();
    const { mcpServers } = JSON.parse(await cli.read('.mcp.json')) as {
      mcpServers: Record<string, { args?: string[] }>;
    };
    const command = process.execPath;
    expect(mcpServers['plain']).toEqual({
      command,
      args: [...own('plain', 'url'), '--url', 'https://example.com/mcp'],
    });
    expect(mcpServers['typed']).toEqual({
      type: 'stdio',
      command,
      args: [...own('typed', 'http,url'), '--url', 'https://example.com/mcp'],
      env: {
        HOOKSTACK_MCP_HEADER_1: 'Authorization: Bearer ${TOKEN}',
        HOOKSTACK_MCP_HEADER_2: 'X-Key: a: b',
      },
    });
    expect(mcpServers['gemini']).toEqual({
      timeout: 5,
      command,
      args: own('gemini', 'httpUrl'),
      env: { HOOKSTACK_MCP_URL: 'https://example.com/mcp?key=SECRET' },
    });
    expect(stdout).toContain('old: left as it is: it speaks SSE');
    expect(stdout).toContain('older: left as it is: it speaks SSE');
    expect(stdout).toContain('login: left as it is: its client logs in ("oauth")');
    expect(stdout).toContain('socket: left as it is: its type is ws');
    expect(stdout).toContain('nowhere: left as it is: neither a command nor a url');
    expect((await install()).stdout).toContain('in front of it already, as "typed"');
  });

  it('restores them', async () => {
    await cli.write('.mcp.json', REMOTE);
    await install();
    await install('--undo');
    expect(JSON.parse(await cli.read('.mcp.json'))).toEqual(JSON.parse(REMOTE));
  });
});
