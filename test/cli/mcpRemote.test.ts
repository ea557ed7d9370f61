import { describe, expect, it } from 'vitest';
import { Cli, group, saying } from './helpers.js';
import { RawClient, textOf } from './mcpClient.js';
import { beginEvents, event, json, startServer, textResult } from './mcpHttp.js';

const cli = new Cli();
const SESSION = { 'mcp-session-id': 's' };

type Handler = Parameters<typeof startServer>[0];

/** A client that has started hookstack in front of a server over HTTP. */
async function open(handle: Handler, env: Record<string, string> = {}) {
  const server = await startServer((said, response) => {
    const { message, method } = said;
    if (method === 'DELETE') return void response.writeHead(204).end();
    if (message.method === 'initialize') {
      const { protocolVersion } = message.params ?? {};
      const result = { protocolVersion, capabilities: {}, serverInfo: { name: 's', version: '1' } };
      return json(response, { jsonrpc: '2.0', id: message.id, result }, SESSION);
    }
    if (method === 'POST' && message.id === undefined) return void response.writeHead(202).end();
    return handle(said, response);
  });
  const client = new RawClient(cli, { at: server.url, env });
  await client.initialize();
  client.say({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { client, server };
}

describe('a server over HTTP, for a client that starts hookstack', () => {
  it('has sessions, headers of the environment, and a stream of what it says by itself', async () => {
    await cli.userSettings({ BeforeTool: group('env > "$LLXPRT_PROJECT_DIR/seen"') });
    const { client, server } = await open(
      ({ method, message }, response) => {
        if (method === 'POST') return json(response, textResult(message.id, 'ran'));
        beginEvents(response);
        response.write(event({ jsonrpc: '2.0', method: 'notifications/own' }));
      },
      { HOOKSTACK_MCP_HEADER_1: 'Authorization: Bearer SECRET' },
    );
    await client.waitFor(({ method }) => method === 'notifications/own');
    expect(textOf(await client.call('a'))).toBe('ran');
    expect(await client.end()).toMatchObject({ exitCode: 0 });
    const [first, ...others] = server.received;
    expect(first?.headers).not.toHaveProperty('mcp-session-id');
    for (const { headers } of others) {
      const own = { ...SESSION, 'mcp-protocol-version': '2025-11-25' };
      expect(headers).toMatchObject({ ...own, authorization: 'Bearer SECRET' });
    }
    expect(server.received.map(({ method }) => method).toSorted()).toEqual([
      'DELETE',
      'GET',
      'POST',
      'POST',
      'POST',
    ]);
    expect(await cli.read('seen')).not.toContain('SECRET');
  });

  it('goes on with a stream that was broken off, and hooks see the result', async () => {
    const [hidden] = group(saying({ decision: 'deny', reason: 'gone' }));
    await cli.userSettings({ AfterTool: [{ ...hidden!, dialect: 'gemini' }] });
    const { client, server } = await open(({ method, message, headers }, response) => {
      if (method === 'GET' && headers['last-event-id'] === undefined) {
        response.writeHead(405).end();
        return;
      }
      beginEvents(response);
      if (method === 'GET') {
        response.end(event(textResult(message.id ?? 2, 'SECRET'), '1'));
        return;
      }
      response.write('id: 0\nretry: 1\ndata: \n\n');
      setImmediate(() => response.destroy());
    });
    expect(textOf(await client.call('a'))).toBe('gone');
    expect(server.received.at(-1)?.headers).toMatchObject({ 'last-event-id': '0', ...SESSION });
  });

  it('that ends without an answer, or is gone, is an error to each request', async () => {
    const { client, server } = await open(({ method }, response) => {
      if (method === 'GET') {
        response.writeHead(405).end();
        return;
      }
      beginEvents(response);
      setImmediate(() => response.destroy());
    });
    expect((await client.call('a')).error?.message).toContain('ended without an answer');
    server.server.close();
    server.server.closeAllConnections();
    expect((await client.call('b')).error?.message).toContain('cannot be reached');
    expect(await client.end()).toMatchObject({ exitCode: 0 });
  });

  it('that ends its own stream at once is asked for it once a second at most', async () => {
    const { client, server } = await open(({ method, message }, response) => {
      if (method === 'POST') return json(response, textResult(message.id, 'ran'));
      beginEvents(response);
      response.end('retry: 0\n\n');
    });
    const times: number[] = [];
    const noteGets = () => {
      const gets = server.received.filter(({ method }) => method === 'GET').length;
      while (times.length < gets) times.push(performance.now());
      return gets;
    };
    await expect.poll(noteGets, { timeout: 15_000, interval: 5 }).toBeGreaterThanOrEqual(4);
    const [first = 0, , , fourth = 0] = times;
    // Timers may be early by some of that.
    expect(fourth - first).toBeGreaterThan(2800);
    expect(textOf(await client.call('a'))).toBe('ran');
  });

  it('that wants a login says what to do', async () => {
    const { client } = await open((_said, response) => void response.writeHead(401).end());
    const { error } = await client.call('a');
    expect(error?.message).toContain(
      'HTTP 401; put a token into the variable HOOKSTACK_MCP_HEADER_1',
    );
    expect((await client.end()).stderr).toContain('wants a login');
  });

  it('that has lost the session ends it with an error', async () => {
    const { client } = await open((_said, response) => void response.writeHead(404).end());
    expect((await client.call('a')).error?.code).toBe(-32_000);
    const { exitCode, stderr } = await client.ended();
    expect(exitCode).toBe(1);
    expect(stderr).toContain('has lost the session (HTTP 404): restart it in the client');
  });

  it('hears that a call is cancelled, and keeps on', async () => {
    const { client, server } = await open(({ message }, response) => {
      if (message.id === 'n') json(response, textResult('n', 'here'));
    });
    client.say({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'hang' } });
    await expect.poll(() => server.received.some(({ message }) => message.id === 'c')).toBe(true);
    client.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } });
    client.say({ jsonrpc: '2.0', id: 'n', method: 'tools/call', params: { name: 'next' } });
    expect(textOf(await client.waitFor(({ id }) => id === 'n'))).toBe('here');
    expect(server.received.map(({ message }) => message.method)).toContain(
      'notifications/cancelled',
    );
    expect(client.received.some(({ id }) => id === 'c')).toBe(false);
  });
});

describe('where the server is', () => {
  it.each([
    [['--url', 'ftp://a/b'], 'no address of a server'],
    [['--url', 'https://a:b@c/d'], 'holds a password'],
    [['--url', 'https://c/d', '--', 'serve'], 'leave out one of them'],
    [['--listen', '127.0.0.1:0', '--', 'serve'], 'leave out one of them'],
    [[], 'Say what starts the server'],
  ])('is told clearly: %j', async (args, why) => {
    const { exitCode, stderr } = await cli.run(['mcp', '--name', 'a', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(why);
  });

  it('has headers that are some', async () => {
    const env = { HOOKSTACK_MCP_HEADER_1: 'SECRET', HOOKSTACK_MCP_URL: 'https://c/d' };
    const { exitCode, stderr } = await cli.run(['mcp', '--name', 'a'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('HOOKSTACK_MCP_HEADER_1 is no header');
    expect(stderr).not.toContain('SECRET');
  });
});
