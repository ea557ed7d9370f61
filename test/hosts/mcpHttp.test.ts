import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import {
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Cli, group, saying } from '../cli/helpers.js';
import { openDoor } from '../cli/mcpHttp.js';
import { connectTo, SERVERS, type ClientKind } from './mcpClients.js';
import { survey } from './mcpSurvey.js';

const cli = new Cli();
const WATCHING = { BeforeTool: group('true'), AfterTool: group('true') };
const WAYS = ['stdio', 'door'] as const;
const OWN = path.join(import.meta.dirname, 'mcpHttpServer.mjs');

/** Starts a server, and waits for a line of it. */
async function start(args: readonly string[], line: RegExp, env = {}): Promise<string> {
  const server = execa(process.execPath, args, { env, reject: false, all: true });
  onTestFinished(() => void server.kill('SIGKILL'));
  let said = '';
  return new Promise((resolve, reject) => {
    server.all.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const found = line.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    void server.then(() => reject(new Error(said)));
  });
}

const ADDRESS = /(http:\S+)\n/u;
const startOwn = (...modes: string[]) => start([OWN, ...modes], ADDRESS);

async function startEverything(): Promise<string> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const [program] = SERVERS.everything;
  await start([program, 'streamableHttp'], /(listening)/u, { PORT: String(port) });
  return `http://127.0.0.1:${port}/mcp`;
}

function hiding() {
  const output = { hookEventName: 'PostToolUse', updatedToolOutput: 'gone' };
  const [hooks] = group(saying({ hookSpecificOutput: output }));
  return [{ ...hooks, dialect: 'claude' as const }] as ReturnType<typeof group>;
}

const KINDS: readonly ClientKind[] = ['1.32', '2.4', '2.4, 2026-07-28'];

describe.each(KINDS)('the official client %s', (kind) => {
  it.each(WAYS)(
    'gets the same of a server over HTTP through the proxy (%s)',
    async (way) => {
      await cli.userSettings(WATCHING);
      const isModern = kind === KINDS[2];
      const url = await (isModern
        ? start([...SERVERS.modern, 'http'], ADDRESS)
        : startEverything());
      const bare = await survey(await connectTo(cli, kind, { url, way: 'direct' }));
      expect(await survey(await connectTo(cli, kind, { url, way }))).toEqual(bare);
      expect(Object.values(bare.calls).filter((each) => 'content' in each).length).toBeGreaterThan(
        2,
      );
    },
    60_000,
  );
});

describe.each(WAYS)('hooks in front of an official server over HTTP (%s)', (way) => {
  it.each(['', 'json'])('see a result, and one that a client comes back for %s', async (mode) => {
    await cli.userSettings({ AfterTool: hiding() });
    const url = await startOwn(mode);
    const client = await connectTo(cli, '1.32', { url, way });
    for (const name of mode === 'json' ? ['secret'] : ['secret', 'resumed']) {
      const { content } = await client.callTool({ name });
      expect(content).toEqual([{ type: 'text', text: 'gone' }]);
    }
  });

  it('ask', async () => {
    await cli.userSettings({ BeforeTool: group(saying({ decision: 'ask', reason: 'Dear.' })) });
    const url = await startOwn();
    const asked: string[] = [];
    const client = await connectTo(cli, '1.32', {
      url,
      way,
      elicit: (message) => {
        asked.push(message);
        return { action: 'accept', content: { answer: asked.length === 1 ? 'yes' : 'no' } };
      },
    });
    expect(JSON.stringify(await client.callTool({ name: 'secret' }))).toContain('SECRET');
    expect(JSON.stringify(await client.callTool({ name: 'secret' }))).not.toContain('SECRET');
    expect(asked).toEqual([expect.stringContaining('Dear.'), expect.stringContaining('Dear.')]);
  });

  it('tell that a session is lost', async () => {
    await cli.userSettings(WATCHING);
    const url = await startOwn();
    const client = await connectTo(cli, '1.32', { url, way });
    await fetch(new URL('/sessions', url), { method: 'DELETE' });
    await expect(client.callTool({ name: 'secret' })).rejects.toThrow(/Session not found|404/u);
  });
});

/** A person who always agrees: the browser is a request. */
class Login implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:1/callback';
  readonly clientMetadata = { redirect_uris: [this.redirectUrl], client_name: 'test' };
  code = '';
  #verifier = '';
  #tokens: OAuthTokens | undefined;
  #client: OAuthClientInformationMixed | undefined;

  clientInformation() {
    return this.#client;
  }

  saveClientInformation(client: OAuthClientInformationMixed) {
    this.#client = client;
  }

  tokens() {
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens) {
    this.#tokens = tokens;
  }

  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }

  codeVerifier() {
    return this.#verifier;
  }

  async redirectToAuthorization(place: URL) {
    const { headers } = await fetch(place, { redirect: 'manual' });
    this.code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
  }
}

async function logIn(url: string): Promise<Client> {
  const authProvider = new Login();
  const info = { name: 'test', version: '1' };
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  await expect(new Client(info).connect(transport as Transport)).rejects.toThrow(UnauthorizedError);
  await transport.finishAuth(authProvider.code);
  const client = new Client(info);
  const again = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  await client.connect(again as Transport);
  onTestFinished(() => client.close());
  return client;
}

describe('a login', () => {
  it('is between the client and the authorization server, and its token goes to the server', async () => {
    await cli.userSettings({ AfterTool: hiding() });
    const url = await startOwn('auth');
    const direct = await logIn(url);
    expect((await direct.callTool({ name: 'secret' })).content).toMatchObject([{ text: 'SECRET' }]);
    const client = await logIn((await openDoor(cli, url)).url);
    expect((await client.callTool({ name: 'secret' })).content).toMatchObject([{ text: 'gone' }]);
  });

  it('fails where the authorization server gives tokens for its own address alone', async () => {
    const url = await startOwn('auth', 'strict');
    await logIn(url);
    await expect(logIn((await openDoor(cli, url)).url)).rejects.toThrow();
  });
});
