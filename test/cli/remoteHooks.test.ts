import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { marked } from '../helpers/marked.js';
import { Cli } from './helpers.js';

const cli = new Cli();
let server: Server;
let url: string;

beforeEach(async () => {
  server = createServer((request, response) => response.end(answerTo(request)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/events`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function answerTo({ headers }: IncomingMessage): string {
  return JSON.stringify(marked(headers['hookstack-question'], { decision: 'deny', reason: 'no' }));
}

function asking(...hooks: object[]) {
  const remote = hooks.map((hook) => ({ type: 'remote', url, timeout: 5000, ...hook }));
  return { BeforeTool: [{ hooks: remote as unknown as CommandHookConfig[] }] };
}

describe('of a hook that asks a server', () => {
  it('trust shows what it asks, and where it stands', async () => {
    const hooks = asking({ url: `${url}/a` }, { name: 'central' });
    await cli.write('.llxprt/settings.json', JSON.stringify({ enableHooks: true, hooks }, null, 2));
    const { stdout, exitCode } = await cli.run(['trust', '--json']);
    expect(exitCode).toBe(1);
    const { items } = JSON.parse(stdout) as { items: { line: number; definition: object }[] };
    expect(items.map(({ definition }) => definition)).toEqual([
      { event: 'BeforeTool', timeout: 5000, type: 'remote', url: `${url}/a` },
      { event: 'BeforeTool', name: 'central', timeout: 5000, type: 'remote', url },
    ]);
    const [first, second] = items;
    expect(first?.line).toBeGreaterThan(0);
    expect(second?.line).toBeGreaterThan(first?.line ?? Infinity);
  });

  it('fire tells no exit code, as no process has ended', async () => {
    const settings = await cli.settings(asking({ name: 'central' }));
    const fired = await cli.run(['fire', 'BeforeTool', '--settings', settings]);
    expect(fired.stdout).toMatch(/^central: \d+ ms, decision deny$/mu);
    const { stdout } = await cli.run(['fire', 'BeforeTool', '--json', '--settings', settings]);
    expect(JSON.parse(stdout)).toMatchObject({
      blocked: true,
      results: [{ hook: 'central', success: true, exitCode: null, signal: null }],
    });
  });

  it('doctor says that the server has answered, or that it is away', async () => {
    await cli.userSettings(asking({ name: 'central' }));
    const found = await cli.run(['doctor']);
    expect(found.stdout).toContain('the server answered: it has an answer, or no objection');
    expect(found.exitCode).toBe(0);
    server.closeAllConnections();
    server.close();
    const { stdout, exitCode } = await cli.run(['doctor']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('reached no server');
  });

  it('doctor asks no more than an event does, as servers have limits', async () => {
    server.removeAllListeners('request').on('request', (request: IncomingMessage, response) => {
      const isLong = Number(request.headers['content-length']) > 100 * 1024;
      response.writeHead(isLong ? 413 : 200).end(answerTo(request));
    });
    await cli.userSettings(asking({ name: 'central' }));
    const { stdout, exitCode } = await cli.run(['doctor']);
    expect(stdout).toContain('the server answered: it has an answer, or no objection');
    expect(exitCode).toBe(0);
  });

  it('list shows the address without what may be a secret in it', async () => {
    const settings = await cli.settings(asking({ url: `${url}?token=sk-123&b=1` }));
    const { stdout } = await cli.run(['list', '--json', '--settings', settings]);
    expect(stdout).toContain(`${url}?…`);
    expect(stdout).not.toContain('sk-123');
  });
});
