import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Cli, group, saying } from './helpers.js';
import { RawClient, SERVER, textOf, type RpcMessage } from './mcpClient.js';

const cli = new Cli();

/** A client whose proxy has read all hooks: they are read for the first call. */
async function openWarm(
  hooks: Parameters<Cli['userSettings']>[0],
  options: ConstructorParameters<typeof RawClient>[1] = {},
): Promise<RawClient> {
  await cli.userSettings(hooks);
  const client = new RawClient(cli, options);
  await client.initialize();
  await client.call('echo');
  return client;
}

const UNCONCERNED = {
  BeforeTool: group('exit 2', { matcher: '^nothing$' }),
  AfterTool: group('exit 2', { matcher: '^nothing$' }),
};

function toCall(id: number | string, name: string, args: object = {}) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

/** A number of the kernel about a process: of a file in its folder of /proc. */
async function askKernel(pid: number | undefined, file: string, field: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/${file}`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'mu').exec(text)?.[1]);
}

describe('calls that no hook looks at', () => {
  it('are passed on in order, among all else that a busy client says', async () => {
    const notes = path.join(cli.project, 'notes');
    const client = await openWarm(UNCONCERNED, { env: { NOTES: notes } });
    const before = (await readFile(notes, 'utf8')).length;
    const said = Array.from({ length: 300 }, (_, n) => {
      const id = `m${n}`;
      if (n % 3 === 0) return toCall(id, 'echo', { n });
      if (n % 3 === 1) return { jsonrpc: '2.0', id, method: 'ping' };
      return { jsonrpc: '2.0', method: 'notifications/x', params: { n } };
    }).map((message) => JSON.stringify(message));
    for (const line of said) client.say(line);
    await client.waitFor(({ id }) => id === 'm298');
    expect((await readFile(notes, 'utf8')).slice(before).trim().split('\n')).toEqual(said);
    const answered = client.received.flatMap(({ id }) => (String(id).startsWith('m') ? id : []));
    const requests = Array.from({ length: 300 }, (_, n) => n).filter((n) => n % 3 < 2);
    expect(answered).toEqual(requests.map((n) => `m${n}`));
  });

  it('are no reason to pass by the hooks of others', async () => {
    const client = await openWarm({
      BeforeTool: group('echo "not this one" >&2; exit 2', { matcher: 'secret' }),
      AfterTool: group(saying({ continue: false, stopReason: 'enough' }), { matcher: 'mixed' }),
    });
    const [plain, blocked, stopped] = await Promise.all([
      client.call('echo', { a: 1 }),
      client.call('secret'),
      client.call('mixed'),
    ]);
    expect(textOf(plain)).toBe('{"a":1}');
    expect(textOf(blocked)).toBe('not this one');
    expect(textOf(stopped)).toContain('enough');
  });

  it('are none where a hook waits for the failure of a tool', async () => {
    const hooks = [{ type: 'command' as const, command: 'jq -c .hook_event_name >>ran' }];
    const client = await openWarm({ PostToolUseFailure: [{ dialect: 'claude', hooks }] });
    await client.call('failing');
    expect(await cli.read('ran')).toBe('"PostToolUseFailure"\n');
  });

  it('are none where a middleware stands around tools', async () => {
    const source = `export default async function note(call, next) {
      await next();
      call.result = { ...call.result, llmContent: 'seen' };
    }`;
    const manifest = { middleware: [{ module: './note.mjs', stack: 'tool' }] };
    await cli.extension('user', 'notes', manifest, { 'note.mjs': source });
    const client = await openWarm(UNCONCERNED);
    expect(textOf(await client.call('echo'))).toBe('seen');
  });

  it('are not mixed with what a middleware prints', async () => {
    const source = `export default async function note(call, next) {
      console.log('{"jsonrpc":"2.0","method":"notifications/printed"}');
      await next();
    }`;
    const manifest = { middleware: [{ module: './note.mjs', stack: 'tool' }] };
    await cli.extension('user', 'notes', manifest, { 'note.mjs': source });
    const client = await openWarm(UNCONCERNED);
    await client.call('echo');
    expect(client.received.filter(({ method }) => method === 'notifications/printed')).toEqual([]);
  });

  it('are in a trace', async () => {
    const client = await openWarm(UNCONCERNED, { args: ['--trace', 'trace.jsonl'] });
    await client.call('lines');
    await client.end();
    expect(await cli.read('trace.jsonl')).toContain('mcp__test__lines');
  });

  it('are refused where their arguments are nested too deeply, as with hooks', async () => {
    const client = await openWarm(UNCONCERNED);
    const nested = `${'['.repeat(300)}${']'.repeat(300)}`;
    expect(textOf(await client.call('echo', { nested: JSON.parse(nested) as unknown }))).toContain(
      'was not run, as its arguments cannot be read',
    );
  });

  it('are errors once the server is gone', async () => {
    const client = await openWarm(UNCONCERNED);
    const [hanging, ending] = await Promise.all([client.call('hang'), client.call('die')]);
    const message = expect.stringContaining('has ended (exit code 7)') as string;
    expect(hanging.error).toEqual({ code: -32_000, message });
    expect(ending.error).toEqual({ code: -32_000, message });
  });

  it('may be cancelled, and their id is free then', async () => {
    const client = await openWarm(UNCONCERNED);
    client.say(toCall('c', 'hang'));
    client.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } });
    client.say(toCall('c', 'echo', { again: true }));
    expect(textOf(await client.waitFor(({ id }) => id === 'c'))).toBe('{"again":true}');
    expect((await client.end()).exitCode).toBe(0);
  });

  it('have their ids for themselves until they are answered', async () => {
    const client = await openWarm(UNCONCERNED);
    client.say(toCall('c', 'hang'));
    client.say(toCall('c', 'echo'));
    const { error } = await client.waitFor(({ id }) => id === null);
    expect(error?.message).toContain('belongs to a request that is not answered yet');
  });

  it('are answered after the client has said all', async () => {
    const client = await openWarm(UNCONCERNED);
    for (let id = 0; id < 20; id++) client.say(toCall(`l${id}`, 'late'));
    expect(await client.end()).toMatchObject({ exitCode: 0 });
    for (let id = 0; id < 20; id++) {
      expect(client.received).toContainEqual(expect.objectContaining({ id: `l${id}` }));
    }
  });

  it('fill no memory while the client does not read', { timeout: 90_000 }, async () => {
    await cli.userSettings(UNCONCERNED);
    const words = ['mcp', '--name', 'test', '--', process.execPath, SERVER];
    const proxy = cli.start(words, { stdin: 'pipe', input: undefined, buffer: false });
    onTestFinished(() => void proxy.kill('SIGKILL'));
    const { stdin, stdout, pid } = proxy;
    const say = (message: object) => stdin?.write(`${JSON.stringify(message)}\n`);
    say(toCall('first', 'echo'));
    await once(stdout!, 'readable');
    stdout?.read();
    const ids = Array.from({ length: 20 }, (_, id) => `b${id}`);
    for (const id of ids) say(toCall(id, 'large'));
    let seen = -1;
    const isStill = async () => {
      const read = await askKernel(pid, 'io', 'rchar');
      const wasSeen = seen;
      seen = read;
      return read === wasSeen;
    };
    await expect.poll(isStill, { interval: 1000, timeout: 40_000 }).toBe(true);
    // 200 MB are there to be read.
    expect(await askKernel(pid, 'status', 'VmRSS')).toBeLessThan(220_000);
    const answered: unknown[] = [];
    createInterface({ input: stdout! }).on('line', (line) => {
      answered.push((JSON.parse(line) as RpcMessage).id);
    });
    await expect.poll(() => answered.length, { timeout: 40_000 }).toBe(ids.length);
    expect(answered).toEqual(ids);
  });
});
