import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Sessions } from '../../src/cli/mcp/http/sessions.js';
import { McpProxy } from '../../src/cli/mcp/proxy.js';
import { Outlet } from '../../src/cli/mcp/lines.js';
import { Cli, group, saying } from './helpers.js';
import * as mcp from './mcpHttp.js';

const cli = new Cli();
const { call, json, post, startServer, textResult } = mcp;
const soon = { timeout: 10_000 };
const CAN_ASK = { elicitation: {} };

/** A server that has sessions by the id it is given here, and answers what is no call as a test says. */
async function open(session: object = {}, statusOf: (method: string) => number = () => 404) {
  const server = await startServer(({ method, message }, response) => {
    if (message.method === 'initialize') {
      return json(response, { jsonrpc: '2.0', id: message.id, result: {} }, session);
    }
    if (message.id === undefined) return void response.writeHead(statusOf(method)).end();
    json(response, textResult(message.id, 'ran'));
  });
  return { server, url: (await mcp.openDoor(cli, server.url)).url };
}

async function begin(url: string, capabilities: object, headers = {}) {
  const { response, over } = await post(url, mcp.initialize(capabilities), headers);
  await over;
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
}

/** What the client of a call reads first. */
async function firstOf(url: string, headers: Record<string, string>) {
  const over = new AbortController();
  const reply = await post(url, call(1), headers, over.signal);
  await expect.poll(() => reply.events.length, soon).toBe(1);
  over.abort();
  return reply.events[0]?.message;
}

const configFor = () => Promise.reject(new Error('no hooks'));

const ASKED = { method: 'elicitation/create' };
const asking = () =>
  cli.userSettings({ BeforeTool: group(saying({ decision: 'ask', reason: 'Dear.' })) });

describe('a client whose user can be asked', () => {
  it.each([
    ['of the server', { 'mcp-session-id': 's' }],
    ['of the door', {}],
  ])('is asked after a 404 to something else, in a session %s', async (_whose, session) => {
    await asking();
    const { url } = await open(session);
    const headers = await begin(url, CAN_ASK);
    expect((await mcp.get(url, headers)).status).toBe(404);
    if (!('mcp-session-id' in session)) {
      const told = await post(url, { jsonrpc: '2.0', method: 'notifications/x' }, headers);
      expect(told.status).toBe(404);
    }
    expect(await firstOf(url, headers)).toMatchObject(ASKED);
  });

  it('is asked where the server gives a second client the same session', async () => {
    await asking();
    const { server, url } = await open({ 'mcp-session-id': 'same' });
    await begin(url, {});
    const headers = await begin(url, CAN_ASK);
    expect(await firstOf(url, headers)).toMatchObject(ASKED);
    await begin(url, {});
    expect(await firstOf(url, headers)).toMatchObject(ASKED);
    expect(server.received.map(({ message }) => message.method)).not.toContain('tools/call');
  });

  it('is not forgotten for any number of ids that no server gave', async () => {
    await asking();
    const { url } = await open();
    const headers = await begin(url, CAN_ASK);
    const client = new Outlet(process.stdout);
    const proxy = new McpProxy({ name: 'a', client, configFor, warn: () => undefined });
    const ended: unknown[] = [];
    const sessions = new Sessions(
      (forHooks) => proxy.newSession(forHooks),
      (session) => ended.push(session),
    );
    const asks = (id: string) => {
      const request = new IncomingMessage(new Socket());
      request.headers['mcp-session-id'] = id;
      return sessions.of(request);
    };
    const known = sessions.begin();
    sessions.register('known', known);
    const stranger = asks('stranger');
    for (let count = 0; count < 10_050; count += 1) asks(`made up ${count}`);
    expect(asks('known')).toBe(known);
    expect(ended).toContain(stranger);
    expect(await firstOf(url, headers)).toMatchObject(ASKED);
  });
});

describe('a client of which the door has not heard the beginning', () => {
  it.each([
    ['with a session', { 'mcp-session-id': 'of-before' }],
    ['with a session of another door', { 'mcp-session-id': 'hookstack-1' }],
    ['without one', {}],
  ])('is denied what hooks ask about, %s', async (_kind, headers) => {
    await asking();
    const { server, url } = await open();
    const answer = await firstOf(url, headers);
    expect(answer).toMatchObject({ result: { isError: true } });
    expect(JSON.stringify(answer)).toContain('connect it anew');
    expect(server.received).toEqual([]);
  });
});

describe('the async hooks of a client', () => {
  it.each([
    ['of the server', { 'mcp-session-id': 's' }, 200],
    ['of the door', {}, 405],
  ])('end with its session %s', async (_whose, session, status) => {
    const command = 'cat >/dev/null; echo $$ > "$LLXPRT_PROJECT_DIR/pid"; exec sleep 60';
    await cli.userSettings({ AfterTool: group(command, { async: true }) });
    const { url } = await open(session, (method) => (method === 'DELETE' ? status : 202));
    const headers = await begin(url, {});
    expect(await firstOf(url, headers)).toMatchObject({ result: { content: [{ text: 'ran' }] } });
    const pidOf = async () => Number(await cli.read('pid').catch(() => ''));
    await expect.poll(pidOf, soon).toBeGreaterThan(0);
    const pid = await pidOf();
    const isThere = () => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    expect(isThere()).toBe(true);
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(status);
    await expect.poll(isThere, soon).toBe(false);
  });
});

describe('what an async hook says late', () => {
  it('withholds no result that cannot be written anew, and waits for one that can', async () => {
    const late = `${saying({ systemMessage: 'LATE' })}; touch "$LLXPRT_PROJECT_DIR/done"`;
    await cli.userSettings({
      AfterTool: group(late, { async: true, matcher: 'mcp__test__watched' }),
    });
    const exact = '"structuredContent":{"id":12345678901234567890}';
    const server = await startServer(({ message }, response) => {
      const { name } = message.params ?? {};
      if (name === 'plain') return json(response, textResult(message.id, 'ran'));
      const id = JSON.stringify(message.id);
      json(response, `{"jsonrpc":"2.0","id":${id},"result":{"content":[],${exact}}}`);
    });
    const { url } = await mcp.openDoor(cli, server.url);
    const headers = await begin(url, {});
    const textAt = async (name: string) => {
      const response = await fetch(url, {
        method: 'POST',
        body: JSON.stringify(call(1, name)),
        headers: { 'content-type': 'application/json', ...headers },
      });
      return response.text();
    };
    expect(await textAt('watched')).toContain(exact);
    await expect.poll(() => cli.read('done').catch(() => undefined), soon).toBe('');
    for (let count = 0; count < 30; count += 1) expect(await textAt('big')).toContain(exact);
    await expect.poll(() => textAt('plain'), soon).toContain('LATE');
  });
});
