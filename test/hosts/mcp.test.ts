import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { Cli, group, keepingInput, saying } from '../cli/helpers.js';
import { connect, type ClientKind, type Elicit } from './mcpClients.js';
import { ARGUMENTS, survey, type AnyClient } from './mcpSurvey.js';

const cli = new Cli();

const KINDS: readonly ClientKind[] = ['1.32', '2.4', '2.4, 2026-07-28'];
const LEGACY = ['1.32', '2.4'] as const;

function versionOf(client: AnyClient): string | undefined {
  return 'getNegotiatedProtocolVersion' in client
    ? client.getNegotiatedProtocolVersion()
    : undefined;
}

/** A hook that runs around everything, and changes nothing. */
const WATCHING = { BeforeTool: group('true'), AfterTool: group('true') };

describe.each(KINDS)('the official client %s', (kind) => {
  it('finds and gets the same through the proxy, with hooks around everything', async () => {
    const server = 'everything';
    await cli.userSettings(WATCHING);
    const bare = await survey(await connect(cli, kind, { server }));
    const proxied = await survey(await connect(cli, kind, { server, proxy: [] }));
    expect(proxied).toEqual(bare);
    const answered = Object.entries(bare.calls).filter(([, outcome]) => 'content' in outcome);
    expect(answered.length).toBeGreaterThan(12);
  }, 60_000);
});

describe('a server of 2026-07-28', () => {
  const server = 'modern';
  const kind = '2.4, 2026-07-28';

  it('gives the same through the proxy, its own questions too', async () => {
    await cli.userSettings(WATCHING);
    const client = await connect(cli, kind, { server });
    const bare = await survey(client);
    expect(versionOf(client)).toBe('2026-07-28');
    const through = await connect(cli, kind, { server, proxy: [] });
    expect(await survey(through)).toEqual(bare);
    expect(versionOf(through)).toBe('2026-07-28');
    expect(JSON.stringify(bare)).toContain('sure');
  });

  it('has its own question and that of a hook in one call', async () => {
    await cli.userSettings({ BeforeTool: group(saying({ decision: 'ask' })) });
    const asked: string[] = [];
    const elicit: Elicit = (message) => {
      asked.push(message.split('\n')[0] ?? '');
      const content: ReturnType<Elicit>['content'] = message.startsWith('Hooks')
        ? { answer: 'yes, for the whole session' }
        : { sure: true };
      return { action: 'accept', content };
    };
    const client = await connect(cli, kind, { server, proxy: [], elicit });
    const { content } = await client.callTool({ name: 'confirm', arguments: {} });
    expect(content).toEqual([
      { type: 'text', text: '{"action":"accept","content":{"sure":true}}' },
    ]);
    expect(asked).toEqual(['Hooks ask you before this tool runs.', 'Really?']);
  });
});

const SUMS = [
  ['everything', 'get-sum', LEGACY[0]],
  ['everything', 'get-sum', LEGACY[1]],
  ['modern', 'sum', '2.4, 2026-07-28'],
] as const;

describe.each(SUMS)('hooks around a tool of %s (%s), for the client %s', (server, name, kind) => {
  const call = (client: AnyClient, args = { a: 1, b: 2 }) =>
    client.callTool({ name, arguments: args });

  it('block', async () => {
    const hook = group('echo "no sums" >&2; exit 2', { matcher: `^mcp__${server}__${name}$` });
    await cli.userSettings({ BeforeTool: hook });
    const result = await call(await connect(cli, kind, { server, proxy: [] }));
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'no sums' }] });
  });

  it('rewrite', async () => {
    const change = { hookSpecificOutput: { tool_input: { b: 10 } } };
    await cli.userSettings({
      BeforeTool: group(saying(change)),
      AfterTool: group(keepingInput('seen')),
    });
    const { content } = await call(await connect(cli, kind, { server, proxy: [] }));
    expect(JSON.stringify(content)).toContain('11');
    expect(await cli.read('seen')).toContain('"b":10');
  });

  it.each(['yes', 'no'])('ask, and %s counts', async (answer) => {
    const hook = group(saying({ decision: 'ask', reason: 'Sums are dear.' }));
    await cli.userSettings({ BeforeTool: hook });
    const questions: string[] = [];
    const elicit: Elicit = (message) => {
      questions.push(message);
      return { action: 'accept', content: { answer } };
    };
    const { content } = await call(await connect(cli, kind, { server, proxy: [], elicit }));
    expect(questions).toEqual([expect.stringContaining('Sums are dear.')]);
    expect(JSON.stringify(content)).toContain(answer === 'yes' ? '3' : 'said no');
  });

  it('restrict what is listed', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: [`mcp__${server}__${name}`] };
    await cli.userSettings({
      BeforeToolSelection: group(saying({ hookSpecificOutput: { toolConfig } })),
    });
    const client = await connect(cli, kind, { server, proxy: [] });
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual([name]);
  });
});

describe.each([
  ['everything', 'get-structured-content', LEGACY[0], 'temperature'],
  ['everything', 'get-structured-content', LEGACY[1], 'temperature'],
  ['modern', 'secret', '2.4, 2026-07-28', 'SECRET'],
] as const)('a result of %s (%s), for the client %s', (server, name, kind, secret) => {
  it.each(['gone', '{"temperature":0,"conditions":"gone","humidity":0}'])(
    'is nowhere the same once a hook has replaced it by %s',
    async (text) => {
      const output = { hookEventName: 'PostToolUse', updatedMCPToolOutput: text };
      const [hooks] = group(saying({ hookSpecificOutput: output }));
      if (hooks) await cli.userSettings({ AfterTool: [{ ...hooks, dialect: 'claude' }] });
      const client = await connect(cli, kind, { server, proxy: [] });
      await client.listTools();
      const result = await client.callTool({ name, arguments: ARGUMENTS[name] });
      expect(result.content).toEqual([{ type: 'text', text }]);
      expect(result.isError === true).toBe(text === 'gone');
      if (text === 'gone') expect(JSON.stringify(result)).not.toContain(secret);
      else expect(result.structuredContent).toEqual(JSON.parse(text));
    },
  );
});

describe('the client 1.32', () => {
  it('runs a task through the proxy', async () => {
    await cli.userSettings(WATCHING);
    const client = (await connect(cli, '1.32', { server: 'everything', proxy: [] })) as Client;
    const name = 'simulate-research-query';
    const steps = client.experimental.tasks.callToolStream(
      { name, arguments: { topic: 'hooks' } },
      CallToolResultSchema,
      { task: { ttl: 60_000 } },
    );
    const types: string[] = [];
    for await (const step of steps) types.push(step.type);
    expect(types[0]).toBe('taskCreated');
    expect(types.at(-1)).toBe('result');
  }, 60_000);

  it('gets progress, and cancels', async () => {
    await cli.userSettings(WATCHING);
    const client = (await connect(cli, '1.32', { server: 'everything', proxy: [] })) as Client;
    const name = 'trigger-long-running-operation';
    const progress: number[] = [];
    const onprogress = (told: { progress: number }) => progress.push(told.progress);
    const short = { name, arguments: { duration: 0.3, steps: 3 } };
    await client.callTool(short, undefined, { onprogress });
    // The client forgets what is left of it once it has read the result, which may come with the last step.
    expect(progress.slice(0, 2)).toEqual([1, 2]);
    const over = new AbortController();
    const long = { name, arguments: { duration: 60, steps: 60 } };
    const calling = client.callTool(long, undefined, {
      signal: over.signal,
      onprogress: () => over.abort(),
    });
    await expect(calling).rejects.toThrow(/abort/iu);
    await client.ping();
  }, 60_000);
});
