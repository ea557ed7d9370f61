import { request, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Cli, group, saying } from './helpers.js';
import * as mcp from './mcpHttp.js';

const cli = new Cli();
const { call, event, json, post, replacing, startServer, textResult } = mcp;
/** Keeps what each hook has read. */
const KEEPING = '(cat; echo) >> "$LLXPRT_PROJECT_DIR/seen"';
const soon = { timeout: 10_000 };

const PROGRESS = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 5, progress: 1, message: 'SECRET' },
};
const LOGGED = {
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'error', logger: 'SECRET', data: 'SECRET' },
};

describe('beside a call whose result hooks are to see', () => {
  it.each([
    ['of a session', { 'mcp-session-id': 's' }],
    ['without sessions', {}],
  ])('a client %s reads no words of it in any stream', async (_kind, session) => {
    await cli.userSettings({ AfterTool: replacing('gone', 'mcp__test__secret') });
    const waiting: ServerResponse[] = [];
    const server = await startServer(({ message }, response) => {
      if (message.params?.['name'] === 'secret') {
        waiting.push(response);
        return;
      }
      mcp.beginEvents(response);
      response.end(event(PROGRESS) + event(LOGGED) + event(textResult(message.id, 'done')));
    });
    const { url } = await mcp.openDoor(cli, server.url);
    const awaited = post(url, call(1), session);
    await expect.poll(() => waiting.length).toBe(1);
    const own = await mcp.get(url, session);
    const other = await post(url, call(2, 'other'));
    for (const reply of [own, other]) {
      await reply.over;
      expect(reply.texts).not.toContain('SECRET');
      expect(reply.events.slice(0, 2)).toMatchObject([
        { message: { params: { progressToken: 5, progress: 1 } } },
        {
          message: {
            params: { level: 'error', data: expect.stringContaining('withheld') as string },
          },
        },
      ]);
    }
    if (waiting[0]) json(waiting[0], textResult(1, 'SECRET'));
    expect((await awaited).status).toBe(200);
    const later = await post(url, call(3, 'other'));
    await later.over;
    expect(later.events).toMatchObject([{ message: PROGRESS }, { message: LOGGED }, {}]);
  });
});

describe('what some readers take for the end of a line', () => {
  it.each(['\u2028', '\u0085', '\v', '\u001C'])(
    '%j passes in no field of an event',
    async (end) => {
      await cli.userSettings({ AfterTool: replacing('gone') });
      const forged = `${end}data: ${JSON.stringify(textResult(1, 'SECRET'))}${end}${end}`;
      const server = await startServer(({ message }, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-7' });
        response.write(`:${forged}\n\nid: 1${forged}\ndata: \n\n`);
        response.write(`event: x${forged}\ndata: 1\n\n`);
        response.end(event(textResult(message.id, 'SECRET'), '2'));
      });
      const { url } = await mcp.openDoor(cli, server.url);
      const response = await fetch(url, {
        method: 'POST',
        body: JSON.stringify(call(1)),
        headers: { 'content-type': 'application/json' },
      });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const said = await response.text();
      expect(said).toContain('gone');
      expect(said).not.toContain('SECRET');
    },
  );
});

async function begin(url: string, capabilities = {}) {
  const { response, over } = await post(url, mcp.initialize(capabilities));
  await over;
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

/** A server with sessions, or without. */
async function open(hasSessions: boolean) {
  let count = 0;
  const server = await startServer(({ message }, response) => {
    const isFirst = hasSessions && message.method === 'initialize';
    const session = isFirst && { 'mcp-session-id': `s${(count += 1)}` };
    json(response, textResult(message.id, 'ran'), session || {});
  });
  return mcp.openDoor(cli, server.url);
}

async function sessionsOf(replies: readonly Promise<mcp.Reply>[]) {
  for (const reply of replies) await (await reply).over;
  const lines = (await cli.read('seen')).trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { session_id: string }).session_id);
}

describe('several clients of one door', () => {
  it.each([true, false])('are a session each for hooks (of the server: %s)', async (has) => {
    const watching = group(KEEPING);
    await cli.userSettings({ BeforeToolSelection: watching, BeforeTool: watching });
    const { url } = await open(has);
    const [a, b] = [await begin(url), await begin(url)];
    const seen: string[] = [];
    for (const [id, headers] of [a, b, a].entries()) {
      const all = await sessionsOf([post(url, call(id), headers)]);
      seen.push(...all.slice(seen.length));
    }
    // The tools that they are offered, and the call; the offer is remembered.
    expect(seen).toEqual([seen[0], seen[0], seen[2], seen[2], seen[0]]);
    expect(seen[0]).not.toBe(seen[2]);
    expect(JSON.stringify(seen)).not.toMatch(/"s\d"/u);
  });

  it('are told apart by their login where they have no session', async () => {
    await cli.userSettings({ BeforeTool: group(KEEPING) });
    const { url } = await open(false);
    const logins = ['Bearer a', 'Bearer b', 'Bearer a'].map((authorization) => ({ authorization }));
    let seen: string[] = [];
    for (const headers of logins) seen = await sessionsOf([post(url, call(1), headers)]);
    expect(seen[0]).toBe(seen[2]);
    expect(seen[0]).not.toBe(seen[1]);
  });

  it('do not share what a person has allowed for the session', async () => {
    await cli.userSettings({ BeforeTool: group(saying({ decision: 'ask', reason: 'Dear.' })) });
    const { url } = await open(true);
    const [a, b] = [await begin(url, { elicitation: {} }), await begin(url, { elicitation: {} })];
    const ask = async (id: number, headers: typeof a) => {
      const asked = await post(url, call(id), headers);
      await expect.poll(() => asked.events.length, soon).toBe(1);
      const { message } = asked.events[0] ?? {};
      if (message?.method !== 'elicitation/create') return 'not asked';
      const content = { answer: 'yes, for the whole session' };
      const result = { action: 'accept', content };
      await post(url, { jsonrpc: '2.0', id: message.id, result }, headers);
      await asked.over;
      return 'asked';
    };
    expect(await ask(1, a)).toBe('asked');
    expect(await ask(2, a)).toBe('not asked');
    expect(await ask(3, b)).toBe('asked');
  });
});

describe('a login', () => {
  it('has the door ask no other origin, whatever the server names', async () => {
    const other = await startServer((_said, response) => json(response, { resource: 'SECRET' }));
    const challenge = `Bearer resource_metadata="${other.url}"`;
    const server = await startServer(({ method }, response) => {
      response.writeHead(method === 'GET' ? 404 : 401, { 'www-authenticate': challenge }).end('{}');
    });
    const { url } = await mcp.openDoor(cli, server.url);
    const { response } = await post(url, call(1));
    expect(response.headers.get('www-authenticate')).toBe(challenge);
    const page = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
    expect(page.status).toBe(404);
    expect(other.received).toEqual([]);
  });

  it('at a server of 2025-03-26 that says nothing of it is at the server itself', async () => {
    const server = await startServer((_said, response) => json(response, { at: response.req.url }));
    const { url } = await mcp.openDoor(cli, server.url);
    const login = await fetch(new URL('/authorize?a=b%2F', url), { redirect: 'manual' });
    expect(login.status).toBe(302);
    expect(login.headers.get('location')).toBe(new URL('/authorize?a=b%2F', server.url).href);
    const said = { authorization: 'Basic a', 'content-type': 'application/x-www-form-urlencoded' };
    for (const path of ['/token', '/register']) {
      const asked = await fetch(new URL(path, url), { method: 'POST', body: '"a"', headers: said });
      expect(await asked.json()).toEqual({ at: path });
    }
    const posted = { method: 'POST', body: '"a"', headers: said };
    expect(server.received).toMatchObject([posted, posted]);
  });

  it.each([
    '/.well-known/oauth-protected-resource/../../admin',
    '/.well-known/oauth-protected-resource/%2e%2e/%2E%2e/admin',
    '/.well-known/oauth-protected-resource/x/..\\..\\..\\admin',
    '/.well-known/oauth-protected-resource/..%2f..%2fadmin',
    '/.well-known/oauth-authorization-server/other',
  ])('asks for no other page of the server: %s', async (path) => {
    const server = await startServer((_said, response) => json(response, {}));
    const { url } = await mcp.openDoor(cli, server.url);
    expect(await statusAt(url, 'GET', path)).toBe(404);
    expect(server.received).toEqual([]);
  });

  it('takes no text of a page', async () => {
    const server = await startServer((_said, response) => json(response, {}));
    const { url } = await mcp.openDoor(cli, server.url);
    const text = { 'content-type': 'text/plain' };
    for (const path of ['/token', '/register']) {
      expect(await statusAt(url, 'POST', path, text)).toBe(415);
      expect(await statusAt(url, 'POST', path, { origin: 'https://evil.example' })).toBe(403);
    }
    expect(server.received).toEqual([]);
  });
});

/** `fetch` would change the path. */
function statusAt(url: string, method: string, path: string, headers = {}): Promise<unknown> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject);
    asked.end(method === 'POST' ? '{}' : undefined);
  });
}
