import { request as sendRaw } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Cli, group, keepingInput, saying } from './helpers.js';
import * as mcp from './mcpHttp.js';

const cli = new Cli();
const { call, event, json, post, replacing, startServer, textResult } = mcp;

const SESSION = { 'mcp-session-id': 's' };

/** A door in front of a server whose every tool gives SECRET, in the way that a test says. */
async function secretive(
  respond: (response: Parameters<typeof json>[0], message: object, id: unknown) => void,
) {
  await cli.userSettings({ AfterTool: replacing('gone') });
  const server = await startServer(({ message }, response) => {
    respond(response, textResult(message.id, 'SECRET'), message.id);
  });
  return { server, door: await mcp.openDoor(cli, server.url) };
}

describe('a result over HTTP', () => {
  it('passes hooks as JSON and as an event, and nothing else of a message changes', async () => {
    const { door } = await secretive((response, message, id) => {
      if (id === 1) return json(response, message, { 'x-other': 'kept' });
      mcp.beginEvents(response);
      response.end(event(message, 'e1'));
    });
    const whole = await post(door.url, call(1));
    expect(await whole.over).toBe('ended');
    expect(whole.response.headers.get('x-other')).toBe('kept');
    expect(whole.events).toMatchObject([
      { message: { id: 1, result: { content: [{ text: 'gone' }] } } },
    ]);
    const stream = await post(door.url, call(2));
    expect(await stream.over).toBe('ended');
    expect(stream.events).toMatchObject([
      { id: 'e1', message: { id: 2, result: { content: [{ text: 'gone' }] } } },
    ]);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('passes them where it is compressed with %s', async (encoding, compress) => {
    const { door } = await secretive((response, message) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding });
      response.end(compress(JSON.stringify(message)));
    });
    const reply = await post(door.url, call(1));
    await reply.over;
    expect(reply.texts).toContain('gone');
    expect(reply.texts).not.toContain('SECRET');
  });

  it.each([
    ['a batch', 'application/json', (message: object) => JSON.stringify([message])],
    ['another type', 'text/plain', (message: object) => JSON.stringify(message)],
    ['no end', 'application/json', (message: object) => JSON.stringify(message).slice(0, -1)],
    ['the id of nobody', 'application/json', () => JSON.stringify(textResult(9, 'SECRET'))],
    ['another compression', 'application/json', (message: object) => JSON.stringify(message)],
  ])('is withheld as %s', async (kind, type, write) => {
    const { door } = await secretive((response, message) => {
      const encoding = kind === 'another compression' && { 'content-encoding': 'none-known' };
      response.writeHead(200, { 'content-type': type, ...encoding });
      response.end(write(message));
    });
    const reply = await post(door.url, call(1));
    await reply.over;
    expect(JSON.stringify(reply.events)).not.toContain('SECRET');
    expect(reply.texts).toMatch(/"error"|gone/u);
  });

  it('is withheld where the server says it in the answer to something else', async () => {
    const { door } = await secretive((response, message, id) => {
      if (id === 1) return mcp.beginEvents(response);
      json(response, id === undefined ? textResult(1, 'SECRET') : message);
    });
    const hanging = new AbortController();
    const waiting = post(door.url, call(1), SESSION, hanging.signal).then(({ events }) => events);
    const told = await post(door.url, { jsonrpc: '2.0', method: 'notifications/x' }, SESSION);
    await told.over;
    expect(told.texts).not.toContain('SECRET');
    hanging.abort();
    await waiting.catch(() => undefined);
  });

  it('of an error status is read by hooks too, and keeps status and headers', async () => {
    const [hidden] = group(saying({ decision: 'deny', reason: 'gone' }), { matcher: '.*seen' });
    await cli.userSettings({ AfterTool: [{ ...hidden!, dialect: 'gemini' }] });
    const server = await startServer((_said, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer scope="a"' });
      response.end('"SECRET"');
    });
    const door = await mcp.openDoor(cli, server.url);
    for (const [name, said] of [
      ['seen', 'gone'],
      ['other', 'SECRET'],
    ] as const) {
      const reply = await post(door.url, call(1, name));
      await reply.over;
      expect(reply.status).toBe(401);
      expect(reply.response.headers.get('www-authenticate')).toBe('Bearer scope="a"');
      expect(reply.texts).toContain(said);
      if (name === 'seen') expect(reply.texts).not.toContain('SECRET');
    }
  });
});

describe('a stream that is resumed', () => {
  it('brings a result past hooks once, however often it is replayed', async () => {
    await cli.userSettings({
      AfterTool: [...group('echo x >> "$LLXPRT_PROJECT_DIR/runs"'), ...replacing('gone')],
    });
    const open: { destroy: () => unknown }[] = [];
    const server = await startServer(({ method, message, headers }, response) => {
      mcp.beginEvents(response);
      if (method === 'POST') {
        response.write(`id: 0\ndata: \n\n`);
        open.push(response);
        return;
      }
      expect(headers['last-event-id']).toBe('0');
      response.end(event(textResult(message.id ?? 1, 'SECRET'), '1'));
    });
    const door = await mcp.openDoor(cli, server.url);
    const first = await post(door.url, call(1), SESSION);
    await expect.poll(() => server.received.length).toBe(1);
    open[0]?.destroy();
    expect(await first.over).toBe('broken');
    for (let each = 0; each < 2; each++) {
      const resumed = await mcp.get(door.url, { ...SESSION, 'last-event-id': '0' });
      await resumed.over;
      expect(resumed.events).toMatchObject([
        { id: '1', message: { id: 1, result: { content: [{ text: 'gone' }] } } },
      ]);
    }
    expect(await cli.read('runs')).toBe('x\n');
  });

  it('brings the result of a call whose client has gone while hooks looked at it', async () => {
    const [hidden] = replacing('gone');
    const wait = 'cd "$LLXPRT_PROJECT_DIR"; echo x >> runs; until [ -e go ]; do sleep 0.02; done';
    await cli.userSettings({ AfterTool: [...group(wait), ...(hidden ? [hidden] : [])] });
    const server = await startServer(({ method }, response) => {
      mcp.beginEvents(response);
      const answer = event(textResult(1, 'SECRET'), '1');
      response.end(method === 'GET' ? answer : `id: 0\ndata: \n\n${answer}${answer}`);
    });
    const door = await mcp.openDoor(cli, server.url);
    const client = new AbortController();
    const lost = await post(door.url, call(1), SESSION, client.signal);
    const soon = { timeout: 10_000 };
    await expect.poll(() => cli.read('runs').catch(() => ''), soon).toBe('x\n');
    client.abort();
    expect(await lost.over).toBe('broken');
    const resumed = await mcp.get(door.url, { ...SESSION, 'last-event-id': '0' });
    await expect.poll(() => server.received.length).toBe(2);
    await cli.write('go', '');
    expect(await resumed.over).toBe('ended');
    expect(resumed.events).toMatchObject([
      { id: '1', message: { id: 1, result: { content: [{ text: 'gone' }] } } },
    ]);
    expect(await cli.read('runs')).toBe('x\n');
  });

  it('gives nothing of a call that nobody here knows', async () => {
    const { door } = await secretive((response) => {
      mcp.beginEvents(response);
      response.end(event(textResult(7, 'SECRET'), '1'));
    });
    const resumed = await mcp.get(door.url, { ...SESSION, 'last-event-id': '0' });
    await resumed.over;
    expect(resumed.events).toMatchObject([
      { id: '1', message: { id: 7, error: { code: -32_603 } } },
    ]);
    expect(resumed.texts).not.toContain('SECRET');
  });
});

describe('what passes as it is', () => {
  it('is every header of both sides but those of a connection, and the bytes of a body', async () => {
    const odd =
      '{"jsonrpc":"2.0", "id":1,"method":"resources/read","params":{"n":1234567890123456789}}';
    const answer = '{"id":1, "jsonrpc":"2.0","result":{"n":1.0000000000000000001}}';
    const server = await startServer((_said, response) => json(response, answer, { 'x-b': '2' }));
    const door = await mcp.openDoor(cli, server.url);
    const headers = { authorization: 'Bearer t', 'x-a': '1', 'mcp-protocol-version': '2025-11-25' };
    const { response } = await post(door.url, odd, { ...headers, ...SESSION });
    expect(server.received[0]?.body).toBe(odd);
    expect(server.received[0]?.headers).toMatchObject({ ...headers, ...SESSION });
    expect(response.headers.get('x-b')).toBe('2');
  });

  it('is a session: its id, its end, and that it is lost', async () => {
    const server = await startServer(({ method, message }, response) => {
      if (message.method === 'initialize')
        return json(response, { jsonrpc: '2.0', id: 'init', result: {} }, SESSION);
      if (method === 'DELETE') return void response.writeHead(204).end();
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
      );
    });
    const door = await mcp.openDoor(cli, server.url);
    const { response } = await post(door.url, mcp.initialize());
    expect(response.headers.get('mcp-session-id')).toBe('s');
    const lost = await post(door.url, call(1), SESSION);
    await lost.over;
    expect(lost.status).toBe(404);
    expect(lost.texts).toContain('Session not found');
    const end = await fetch(door.url, { method: 'DELETE', headers: SESSION });
    expect(end.status).toBe(204);
    expect(server.received.at(-1)).toMatchObject({ method: 'DELETE', headers: SESSION });
  });
});

describe('what a server may do', () => {
  it('is to answer twice, of which the first counts', async () => {
    const { door } = await secretive((response, message) => {
      mcp.beginEvents(response);
      response.end(event(message, '1') + event(message, '2'));
    });
    const reply = await post(door.url, call(1));
    expect(await reply.over).toBe('ended');
    expect(reply.events).toMatchObject([{ id: '1', message: { id: 1 } }]);
    expect(reply.texts).not.toContain('SECRET');
  });

  it('is to be killed in the middle of a stream, or not to be there', async () => {
    const server = await startServer((_said, response) => {
      mcp.beginEvents(response);
      response.write(event({ jsonrpc: '2.0', method: 'notifications/x' }));
      setImmediate(() => response.destroy());
    });
    const door = await mcp.openDoor(cli, server.url);
    const reply = await post(door.url, call(1));
    expect(await reply.over).toBe('broken');
    server.server.closeAllConnections();
    server.server.close();
    const gone = await post(door.url, call(2));
    await gone.over;
    expect(gone.status).toBe(502);
    expect(gone.events).toMatchObject([
      {
        message: {
          id: 2,
          error: { message: expect.stringContaining('cannot be reached') as string },
        },
      },
    ]);
  });

  it('is to hang, until the client goes, which it learns; the call is over then', async () => {
    let isGone = false;
    const server = await startServer(({ message }, response) => {
      if (message.id === 2) return json(response, textResult(2, 'here'));
      response.on('close', () => (isGone = true));
    });
    await cli.userSettings({ AfterTool: replacing('gone') });
    const door = await mcp.openDoor(cli, server.url);
    const client = new AbortController();
    const hanging = post(door.url, call(1), SESSION, client.signal).catch(() => 'left');
    await expect.poll(() => server.received.length).toBe(1);
    client.abort();
    expect(await hanging).toBe('left');
    await expect.poll(() => isGone).toBe(true);
    const next = await post(door.url, call(2), SESSION);
    await next.over;
    expect(next.texts).toContain('gone');
  });

  it('is to redirect within its origin, and not to another one', async () => {
    const other = await startServer((_said, response) => json(response, textResult(1, 'other')));
    const server = await startServer(({ message }, response) => {
      const isOwn = message.id === 1;
      if (isOwn && server.received.length > 1) return json(response, textResult(1, 'own'));
      response.writeHead(307, { location: isOwn ? '/elsewhere' : other.url }).end();
    });
    const door = await mcp.openDoor(cli, server.url);
    const headers = { authorization: 'Bearer t' };
    const own = await post(door.url, call(1), headers);
    await own.over;
    expect(own.texts).toContain('own');
    const away = await post(door.url, call(2), headers);
    await away.over;
    expect(away.texts).toContain('redirects to');
    expect(away.response.headers.get('location')).toBeNull();
    expect(other.received).toEqual([]);
  });
});

describe('hooks in front of a server over HTTP', () => {
  it('block, and rewrite', async () => {
    await cli.userSettings({
      BeforeTool: [
        ...group('echo "not this" >&2; exit 2', { matcher: 'mcp__test__no' }),
        ...group(saying({ hookSpecificOutput: { tool_input: { b: 2 } } }), {
          matcher: 'mcp__test__yes',
        }),
      ],
    });
    const server = await startServer(({ message }, response) =>
      json(response, textResult(message.id, 'ran')),
    );
    const door = await mcp.openDoor(cli, server.url);
    const no = await post(door.url, call(1, 'no'));
    await no.over;
    expect(no.events).toMatchObject([
      { message: { result: { isError: true, content: [{ text: 'not this' }] } } },
    ]);
    expect(server.received).toEqual([]);
    await (
      await post(door.url, call(2, 'yes', { a: 1 }))
    ).over;
    expect(server.received[0]?.message.params).toEqual({ name: 'yes', arguments: { a: 1, b: 2 } });
    const repeated = await post(door.url, call(3, 'yes', { a: 1 }), { 'mcp-param-a': '1' });
    await repeated.over;
    expect(repeated.texts).toContain('mcp-param-a');
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['with a session', SESSION],
    ['without one', {}],
  ])('ask in the stream of the call, of a server %s', async (_kind, session) => {
    await cli.userSettings({ BeforeTool: group(saying({ decision: 'ask', reason: 'Dear.' })) });
    const server = await startServer(({ message }, response) => {
      const result =
        message.method === 'initialize' ? {} : { content: [{ type: 'text', text: 'ran' }] };
      json(response, { jsonrpc: '2.0', id: message.id, result }, session);
    });
    const door = await mcp.openDoor(cli, server.url);
    const { response } = await post(door.url, mcp.initialize({ elicitation: {} }));
    const headers = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
    const asked = await post(door.url, call(1), headers);
    await expect.poll(() => asked.events.length).toBe(1);
    const { id, method } = asked.events[0]?.message ?? {};
    expect(method).toBe('elicitation/create');
    const answer = { action: 'accept', content: { answer: 'yes' } };
    const taken = await post(door.url, { jsonrpc: '2.0', id, result: answer }, headers);
    expect(taken.status).toBe(202);
    expect(await asked.over).toBe('ended');
    expect(asked.texts).toContain('ran');
    expect(server.received.at(-1)?.headers['mcp-session-id']).toBe(
      'mcp-session-id' in session ? 's' : undefined,
    );
  });

  it('end with a call that is cancelled before it has reached the server', async () => {
    await cli.userSettings({ BeforeTool: group('touch "$LLXPRT_PROJECT_DIR/began"; sleep 60') });
    const server = await startServer((_said, response) => void response.writeHead(202).end());
    const door = await mcp.openDoor(cli, server.url);
    const waiting = post(door.url, call(1), SESSION);
    await expect.poll(() => cli.read('began').catch(() => undefined), { timeout: 10_000 }).toBe('');
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect((await post(door.url, cancel, SESSION)).status).toBe(202);
    const reply = await waiting;
    expect(await reply.over).toBe('ended');
    expect(reply.events).toEqual([]);
    expect(server.received.map(({ message }) => message.method)).toEqual([
      'notifications/cancelled',
    ]);
  });

  it('keep clients without a session apart, whose ids are the same', async () => {
    await cli.userSettings({ BeforeTool: group(keepingInput('seen')) });
    const open: (() => void)[] = [];
    const server = await startServer(({ message }, response) => {
      const { name } = message.params ?? {};
      open.push(() => json(response, textResult(message.id, String(name))));
      if (open.length === 2) for (const answer of open) answer();
    });
    const door = await mcp.openDoor(cli, server.url);
    const replies = await Promise.all(['a', 'b'].map((name) => post(door.url, call(0, name))));
    for (const reply of replies) await reply.over;
    expect(replies.map(({ texts }) => /"text":"(\w)"/u.exec(texts)?.[1])).toEqual(['a', 'b']);
  });
});

/** `fetch` lets nobody say what stands in these headers. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = sendRaw(url, { method: 'POST', headers }, ({ statusCode }) =>
      resolve(statusCode),
    );
    asked.on('error', reject);
    asked.end('{}');
  });
}

describe('who may come in', () => {
  it('is no page of a browser, and nobody who has pointed a name here', async () => {
    const server = await startServer((_said, response) => json(response, {}));
    const { url } = await mcp.openDoor(cli, server.url);
    const type = { 'content-type': 'application/json' };
    expect(await statusOf(url, { ...type, host: 'evil.example' })).toBe(403);
    expect(await statusOf(url, { ...type, origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf(url, { ...type, origin: 'http://localhost:3000' })).toBe(400);
    expect(await statusOf(url, { 'content-type': 'text/plain' })).toBe(415);
    expect(await statusOf(url, { ...type, 'content-encoding': 'gzip' })).toBe(415);
    expect(await statusOf(`${url}/other`, type)).toBe(404);
    expect(server.received).toEqual([]);
  });

  it('is nobody of another machine', async () => {
    const url = 'http://127.0.0.1:1/mcp';
    const { exitCode, stderr } = await cli.run([
      'mcp',
      '--name',
      'a',
      '--url',
      url,
      '--listen',
      '0.0.0.0:0',
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('can be reached from other machines');
  });
});
