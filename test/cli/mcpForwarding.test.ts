import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, group, keepingInput, saying } from './helpers.js';
import { RawClient, textOf } from './mcpClient.js';

const cli = new Cli();

/** A client, and the messages that its server has got. */
async function open(hooks: Parameters<Cli['userSettings']>[0]) {
  await cli.userSettings(hooks);
  const notes = path.join(cli.project, 'notes');
  const client = new RawClient(cli, { env: { NOTES: notes } });
  await client.initialize();
  const said = async () => (await readFile(notes, 'utf8')).trim().split('\n').slice(1);
  return { client, said };
}

const CALL = '"jsonrpc":"2.0","id":"c","method":"tools/call"';

/** Says a call in these very words. */
function callWith(client: RawClient, params: string, envelope = CALL) {
  client.say(`{${envelope},"params":${params}}`);
  return client.waitFor(({ id }) => id === 'c');
}

const seen = async () => JSON.parse(await cli.read('seen.json')) as Record<string, unknown>;

describe('a call that hooks look at', () => {
  it.each([
    ['1234567890123456789', 'the number 1234567890123456789 cannot be written exactly'],
    ['[-1e400]', 'the number -1e400 cannot be written exactly'],
    ['{"a":0.1000000000000000055}', 'the number 0.1000000000000000055'],
  ])('is refused with a number that hooks would read as another: %s', async (amount, why) => {
    const { client, said } = await open({ BeforeTool: group(keepingInput('seen.json')) });
    const { error } = await callWith(client, `{"name":"echo","arguments":{"amount":${amount}}}`);
    expect(error).toEqual({ code: -32_602, message: expect.stringContaining(why) as string });
    expect(await said()).toEqual([]);
  });

  it('reaches the server as hooks have read it, and nothing beside it does', async () => {
    const { client, said } = await open({ BeforeTool: group(keepingInput('seen.json')) });
    const params = '{"arguments":{ "n" : 1.5e2,"t":"\\u0061" },"name":"echo","_meta":{"a":1}}';
    await callWith(client, params, `"more":{"arguments":{}},${CALL}`);
    const [line = ''] = await said();
    expect((await seen())['tool_input']).toEqual({ n: 150, t: 'a' });
    expect(line).toBe(
      '{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo","_meta":{"a":1},"arguments":{"n":150,"t":"a"}}}',
    );
  });

  it('is refused with parameters that no hook sees', async () => {
    const { client, said } = await open({ BeforeTool: group('true') });
    const { error } = await callWith(client, '{"name":"echo","args":{"a":1}}');
    expect(error?.message).toContain('params has the key "args", which hooks do not see');
    expect(await said()).toEqual([]);
  });
});

describe('a call that no hook looks at', () => {
  it.each(['the first', 'a later'])('passes byte for byte, both ways: %s one', async (which) => {
    const { client, said } = await open({ BeforeTool: group('exit 2', { matcher: 'secret' }) });
    if (which === 'a later') await client.call('echo');
    const line = `{ "args":1,${CALL},"params":{"name":"large64","arguments":{"n":1234567890123456789}}}`;
    client.say(line.replace('"c"', '7'));
    await client.waitFor(({ id }) => id === 7);
    expect((await said()).at(-1)).toBe(line.replace('"c"', '7'));
    client.process.stdin?.end();
    expect(String((await client.process).stdout)).toContain('{"n":1234567890123456789}');
  });
});

describe('a result that hooks look at', () => {
  it('is seen whole: texts and media as they are, all else as JSON', async () => {
    const { client } = await open({ AfterTool: group(keepingInput('seen.json')) });
    const { result } = await client.call('mixed');
    expect(result?.['content']).toEqual([
      { type: 'text', text: 'A picture:', annotations: { priority: 1 } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a', text: 'inner' } },
    ]);
    expect((await seen())['tool_response']).toMatchObject({
      llmContent: [
        { text: 'A picture:' },
        { text: '{"annotations":{"priority":1}}' },
        { inlineData: { data: 'AAAA', mimeType: 'image/png' } },
        { text: 'file:///a\ninner' },
      ],
    });
    await client.call('hidden');
    expect(await cli.read('seen.json')).toContain('SECRET');
  });

  it('is a text where a server only says its name beside it, which goes no further', async () => {
    const { client } = await open({ AfterTool: group(keepingInput('seen.json')) });
    expect((await client.call('modernMeta')).result).toEqual({
      content: [{ type: 'text', text: 'Done.' }],
    });
    expect((await seen())['tool_response']).toMatchObject({ llmContent: 'Done.' });
  });

  it('takes nothing with it that stands beside it', async () => {
    const { client } = await open({ AfterTool: group('true') });
    expect(textOf(await client.call('beside'))).toBe('Done.');
    expect(JSON.stringify(client.received)).not.toContain('SECRET');
  });

  it('is withheld with a number that hooks would read as another, and they hear of it', async () => {
    const { client } = await open({ AfterTool: group(keepingInput('seen.json')) });
    const { error } = await client.call('large64');
    expect(error).toEqual({
      code: -32_603,
      message: expect.stringMatching(
        /^the tool has run, and its result is withheld.*6789 cannot/u,
      ) as string,
    });
    expect((await seen())['tool_response']).toMatchObject({ error: { type: 'tool_failed' } });
  });

  it('has structured content of its own where a text repeats it with other digits', async () => {
    const { client } = await open({ AfterTool: group(keepingInput('seen.json')) });
    await client.call('repeated64');
    expect((await seen())['tool_response']).toMatchObject({
      llmContent: [{ text: '{"n":1234567890123456789}' }, { text: '{"n":1234567890123456800}' }],
    });
  });

  it.each(['words', 'taskWords'])('comes before any words about it: %s', async (tool) => {
    const { client } = await open({ AfterTool: group(saying({})) });
    const { result } = await client.call(tool, {}, { progressToken: 5 });
    expect(result).toBeDefined();
    expect(JSON.stringify(client.received)).not.toContain('SECRET');
    if (tool === 'taskWords') expect(result).toEqual({ task: { taskId: 't', status: 'working' } });
    else {
      const params = { progressToken: 5, progress: 1, total: 2 };
      const progress = { jsonrpc: '2.0', method: 'notifications/progress', params };
      expect(client.received).toContainEqual(progress);
    }
  });

  it('is none where hooks see calls only: words about it pass', async () => {
    const { client } = await open({ BeforeTool: group('true') });
    await client.call('words', {}, { progressToken: 5 });
    expect(JSON.stringify(client.received)).toContain('SECRET');
  });
});
