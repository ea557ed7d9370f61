import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Config } from '../../src/config/config.js';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import {
  HookEventName,
  type McpServer as Definition,
  type WrittenHook,
} from '../../src/protocol/types.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const SERVER = path.join(import.meta.dirname, 'toolServer.mjs');
const temp = useTempDir();
const open: { close(): unknown }[] = [];
const logger = new RecordingLogger();

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  logger.records.length = 0;
});

const logFile = () => path.join(temp.path, 'log');

/** What the servers have noted. */
function noted(): string[] {
  return readFileSync(logFile(), 'utf8').trim().split('\n');
}

function starts(): number[] {
  return noted().flatMap((line) => (line.startsWith('start ') ? Number(line.slice(6)) : []));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function stdio(more: Partial<Definition> = {}): Definition {
  return { command: process.execPath, args: [SERVER, logFile()], ...more };
}

type Settings = Partial<Omit<WrittenHook, 'type'>>;

function calling(tool: string, settings: Settings = {}): WrittenHook {
  const server = { server: 'tools', tool, mcpServer: stdio() };
  return { type: 'mcp_tool', name: tool, ...server, ...settings } as WrittenHook;
}

function configOf(hooks: readonly WrittenHook[], dialect?: 'claude'): Config {
  const config = new Config({
    enableHooks: true,
    hooks: { BeforeTool: [{ ...(dialect && { dialect }), hooks } as never] },
    debugLogger: logger,
    workingDir: temp.path,
    trustedFolder: true,
  });
  open.push({ close: () => config.dispose() });
  return config;
}

async function fire(config: Config, toolInput: object = { file_path: 'a.ts' }) {
  const payload = { toolName: 'write_file', toolInput: { ...toolInput } };
  const fired = await fireHook(config, HookEventName.BeforeTool, payload);
  const { finalOutput: output, results = [] } = fired?.aggregated ?? {};
  return { output, results, warnings: logger.warnings.join('\n') };
}

describe('a tool of an MCP server as a hook', () => {
  it('gets its arguments, and answers what a command prints', async () => {
    const scan = calling('scan', {
      input: { path: '${tool_input.file_path}', note: '${tool_name}' },
      mcpServer: stdio({ env: { MODE: 'strict ${HOME}' } }),
    });
    const { output } = await fire(configOf([scan]));
    const reason = `a.ts write_file in ${temp.path} strict ${process.env['HOME']}`;
    expect(output).toMatchObject({ decision: 'deny', reason });
  });

  it('keeps one process for a server, and ends it with the host', async () => {
    const config = configOf([calling('pid')]);
    const [first, second] = [await fire(config), await fire(config)];
    expect(first.output?.reason).toBe(second.output?.reason);
    const pid = Number(first.output?.reason);
    expect(starts()).toEqual([pid]);
    await config.dispose();
    expect(isRunning(pid)).toBe(false);
    await fire(config);
    expect(starts()).toHaveLength(2);
  });

  it('has a process of its own where the definition is another one, under the same name', async () => {
    const hooks = [
      calling('pid'),
      calling('pid', { name: 'b', mcpServer: stdio({ env: { A: '1' } }) }),
    ];
    const { results } = await fire(configOf(hooks));
    const reasons = results.map(({ output }) => output?.reason);
    expect(new Set(reasons).size).toBe(2);
  });

  it.each<[string, string]>([
    ['structured', 'structured'],
    ['resource', 'denied'],
    ['two', 'denied'],
    ['torn', 'denied'],
    ['empty', ''],
    ['image', ''],
    ['chatty', ''],
    ['silent', ''],
  ])('reads %s', async (tool, reason) => {
    const { output, warnings, results } = await fire(configOf([calling(tool)]));
    expect(results[0]?.success, warnings).toBe(true);
    expect(output?.reason ?? '').toBe(reason);
  });

  it('reads a denial of 5 MiB', async () => {
    const { output, warnings } = await fire(configOf([calling('long', { onFailure: 'deny' })]));
    expect(output, warnings).toMatchObject({ decision: 'deny' });
    expect(output?.reason).toMatch(/^x{1000}/u);
  });

  it('speaks the words of Claude Code in a group of that dialect', async () => {
    const scan = {
      type: 'mcp_tool',
      command: '',
      server: 'tools',
      tool: 'scan',
      mcpServer: stdio(),
    };
    const input = { path: '${tool_input.file_path}', note: '${tool_name}' };
    const { output } = await fire(configOf([{ ...scan, input } as never], 'claude'));
    expect(output).toMatchObject({ decision: 'deny' });
    expect(output?.reason).toContain('a.ts Write in');
  });

  it('finds a tool that the server has got meanwhile', async () => {
    const config = configOf([calling('later'), calling('change')]);
    const first = await fire(config);
    expect(first.warnings).toMatch(/got no answer from the MCP server "tools".*later/u);
    const second = await fire(config);
    expect(second.output).toMatchObject({ decision: 'deny', reason: 'later' });
    expect(starts()).toHaveLength(1);
  });
});

describe('a server that does not behave', () => {
  it.each<[string, RegExp, Settings]>([
    ['fail', /it answered with an error: The disk is full\./u, {}],
    ['die', /it ended/u, {}],
    ['huge', /it wrote a message of more than 8388608 bytes/u, {}],
    ['broken', /it wrote a message that is no JSON/u, {}],
    ['missing', /missing/u, {}],
    ['hang', /timed out after 1500 ms/u, { timeout: 1500 }],
    ['late', /timed out after 500 ms/u, { timeout: 500 }],
    ['closes', /timed out after 1500 ms/u, { timeout: 1500 }],
    ['task', /it answered with a task/u, {}],
    ['elicits', /does not support (?:form )?elicitation/u, {}],
    ['samples', /MCP error -32601: Method not found/u, {}],
    ['scan', /path/u, {}],
    ['none', /no program "no-such-program"/u, { mcpServer: { command: 'no-such-program' } }],
    [
      'exits',
      /it wrote: no such option/u,
      { mcpServer: { command: 'bash', args: ['-c', 'echo no such option >&2'] } },
    ],
    [
      'variable',
      /it needs the variable NO_SUCH/u,
      { mcpServer: stdio({ env: { A: '${NO_SUCH}' } }) },
    ],
    [
      'plain',
      /its url is http:\/\/ to another machine/u,
      { mcpServer: { url: 'http://tools.example/mcp' } },
    ],
    ['refused', /fetch failed|ECONNREFUSED/u, { mcpServer: { url: 'http://127.0.0.1:9/mcp' } }],
  ])('fails: %s, and a guard of it denies', async (tool, says, settings) => {
    const plain = await fire(configOf([calling(tool, settings)]));
    expect(plain.results[0]?.success).toBe(false);
    expect(plain.output?.decision).toBeUndefined();
    expect(plain.warnings).toMatch(says);
    const guard = calling(tool, { ...settings, onFailure: 'deny' });
    expect((await fire(configOf([guard]))).output).toMatchObject({ decision: 'deny' });
  });

  it.each(['empty', 'image', 'silent'])(
    'has said nothing: %s, and a guard denies',
    async (tool) => {
      for (const dialect of [undefined, 'claude'] as const) {
        const guard = calling(tool, {
          onFailure: 'deny',
          ...(dialect && { command: '' }),
        } as Settings);
        const { output } = await fire(configOf([guard], dialect));
        expect(output).toMatchObject({ decision: 'deny' });
        expect(output?.reason).toContain('let a guard that has no objection answer {}');
      }
    },
  );

  it('lets a guard deny that says no JSON, or whose arguments are not there', async () => {
    const words = await fire(configOf([calling('words', { onFailure: 'deny' })]));
    expect(words.output).toMatchObject({ decision: 'deny' });
    const input = { path: '${tool_input.no_such}' };
    const scan = await fire(configOf([calling('scan', { input, onFailure: 'deny' })]));
    expect(scan.output?.reason).toContain(
      'names tool_input.no_such, which this event does not have',
    );
  });

  it.each(['die', 'huge', 'broken', 'hang'])('is started anew after it did: %s', async (tool) => {
    const bad = calling(tool, { when: 'write_file(bad)', timeout: 1500 } as Settings);
    const config = configOf([bad, calling('pid', { when: 'write_file(good)' } as Settings)]);
    const first = await fire(config, { file_path: 'good' });
    await fire(config, { file_path: 'bad' });
    const second = await fire(config, { file_path: 'good' });
    expect(second.output?.reason).toMatch(/^\d+$/u);
    expect(second.output?.reason).not.toBe(first.output?.reason);
    await vi.waitFor(() => expect(isRunning(Number(first.output?.reason))).toBe(false));
  });

  it('is killed where it hears no signal', async () => {
    const config = configOf([calling('deaf')]);
    await fire(config);
    const [pid = 0] = starts();
    expect(isRunning(pid)).toBe(true);
    await config.dispose();
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
  });
});

async function startHttp(
  more: (request: http.IncomingMessage, response: http.ServerResponse) => boolean = () => false,
) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const seen: http.IncomingHttpHeaders[] = [];
  const handle = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    seen.push(request.headers);
    if (more(request, response)) return;
    const id = String(request.headers['mcp-session-id'] ?? '');
    let transport = sessions.get(id);
    if (id && !transport) {
      response
        .writeHead(404)
        .end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
      return;
    }
    if (!transport) {
      const own = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (name) => void sessions.set(name, own),
        onsessionclosed: (name) => void sessions.delete(name),
      });
      transport = own;
      const server = new McpServer({ name: 'http', version: '1' });
      server.registerTool('deny', {}, () => ({
        content: [{ type: 'text', text: '{"decision": "deny", "reason": "over HTTP"}' }],
      }));
      server.registerTool('huge', {}, () => ({
        content: [{ type: 'text', text: 'x'.repeat(20 * 1024 * 1024) }],
      }));
      await server.connect(own as never);
    }
    await transport.handleRequest(request, response);
  };
  const server = http.createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, sessions, seen };
}

const over = (url: string, tool = 'deny', settings: Settings = {}) =>
  calling(tool, {
    mcpServer: { type: 'http', url, headers: { 'X-Home': '${HOME}' } },
    ...settings,
  });

describe('a server over HTTP', () => {
  it('keeps its session, gets the headers, and is told the end', async () => {
    const { url, sessions, seen } = await startHttp();
    const config = configOf([over(url)]);
    expect((await fire(config)).output).toMatchObject({ decision: 'deny', reason: 'over HTTP' });
    expect((await fire(config)).output).toMatchObject({ decision: 'deny', reason: 'over HTTP' });
    expect(sessions.size).toBe(1);
    expect(seen.every((headers) => headers['x-home'] === process.env['HOME'])).toBe(true);
    await config.dispose();
    expect(sessions.size).toBe(0);
  });

  it('begins another session where the server has forgotten it', async () => {
    const { url, sessions } = await startHttp();
    const config = configOf([over(url, 'deny', { onFailure: 'deny' })]);
    await fire(config);
    sessions.clear();
    const { output, warnings } = await fire(config);
    expect(output?.reason, warnings).toBe('over HTTP');
  });

  it.each<[string, RegExp, (response: http.ServerResponse) => unknown]>([
    ['401', /401|[Uu]nauthorized/u, (response) => response.writeHead(401).end('no')],
    [
      'a redirection',
      /fetch failed|redirect/u,
      (response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
    ],
    [
      'no JSON',
      /got no answer/u,
      (response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc"'),
    ],
    [
      'a web page',
      /got no answer/u,
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    ],
    ['nothing', /timed out/u, () => undefined],
  ])('fails with %s', async (_what, says, answer) => {
    const { url } = await startHttp((_request, response) => (answer(response), true));
    const { results, warnings } = await fire(configOf([over(url, 'deny', { timeout: 2000 })]));
    expect(results[0]?.success).toBe(false);
    expect(warnings).toMatch(says);
  });

  it('is read no further than 8 MB', async () => {
    const { url } = await startHttp();
    const { results, warnings } = await fire(configOf([over(url, 'huge', { timeout: 10_000 })]));
    expect(results[0]?.success).toBe(false);
    expect(warnings).toContain('it wrote a message of more than 8388608 bytes');
  });
});

it('is found under "mcpServers" of the same file', async () => {
  const file = path.join(temp.path, 'settings.json');
  const hook = { type: 'mcp_tool', server: 'tools', tool: 'pid' };
  writeFileSync(
    file,
    JSON.stringify({
      enableHooks: true,
      mcpServers: { tools: { ...stdio(), trust: true } },
      hooks: { BeforeTool: [{ hooks: [hook] }] },
    }),
  );
  const { settings, problems } = await loadSettingsFile(file);
  expect(problems).toEqual([]);
  const config = new Config({ ...settings, debugLogger: logger, workingDir: temp.path });
  open.push({ close: () => config.dispose() });
  expect((await fire(config)).output).toMatchObject({ decision: 'deny' });
});
