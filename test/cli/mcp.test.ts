import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, group, keepingInput, saying } from './helpers.js';
import { isRunning } from '../process/helpers.js';
import { RawClient, SERVER, textOf } from './mcpClient.js';

const cli = new Cli();

/** A client in front of a server, with hooks of the user. */
async function open(hooks: Parameters<Cli['userSettings']>[0] = {}, options = {}) {
  await cli.userSettings(hooks);
  return new RawClient(cli, options);
}

const DEEP = '['.repeat(20_000) + ']'.repeat(20_000);

const deepPing = (id: string) => `{"jsonrpc":"2.0","id":"${id}","method":"ping","params":${DEEP}}`;

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

/** Hides the result of a tool, as hooks for Claude Code do. */
function replacing(text: string) {
  const output = { hookEventName: 'PostToolUse', updatedToolOutput: text };
  const [hooks] = group(saying({ hookSpecificOutput: output }));
  return [{ ...hooks, dialect: 'claude' as const }] as ReturnType<typeof group>;
}

function asking() {
  return group(saying({ decision: 'ask', reason: 'It is production.' }));
}

function gone(why: string) {
  const message = expect.stringContaining(`the MCP server "test" ${why}`) as string;
  return { code: -32_000, message };
}

function allowingOnly(...names: string[]) {
  const toolConfig = { mode: 'AUTO', allowedFunctionNames: names };
  return group(saying({ hookSpecificOutput: { toolConfig } }));
}

describe('calls of tools', () => {
  it('go through hooks under the name of the server, with the id of the request', async () => {
    const client = await open({ BeforeTool: group(keepingInput('seen.json')) });
    await client.initialize();
    expect(textOf(await client.call('echo', { a: 1 }))).toBe('{"a":1}');
    expect(JSON.parse(await cli.read('seen.json'))).toMatchObject({
      tool_name: 'mcp__test__echo',
      tool_input: { a: 1 },
    });
    expect(await client.end()).toMatchObject({ exitCode: 0 });
  });

  it('are blocked with the reason as the result, and never reach the server', async () => {
    const notes = path.join(cli.project, 'notes');
    const client = await open(
      { BeforeTool: group('echo "not this one" >&2; exit 2', { matcher: '^mcp__test__echo$' }) },
      { env: { NOTES: notes } },
    );
    await client.initialize();
    const { result } = await client.call('echo', { a: 1 });
    expect(result).toEqual({ content: [{ type: 'text', text: 'not this one' }], isError: true });
    await client.request('ping');
    expect(await readFile(notes, 'utf8')).not.toContain('tools/call');
  });

  it('have a result that is complete, for clients of 2026-07-28', async () => {
    const client = await open({ BeforeTool: group('exit 2') });
    const { result } = await client.call('echo', {}, MODERN);
    expect(result).toMatchObject({ isError: true, resultType: 'complete' });
  });

  it('run with the arguments that hooks left', async () => {
    const change = { hookSpecificOutput: { tool_input: { b: 10 } } };
    const client = await open({ BeforeTool: group(saying(change)) });
    await client.initialize();
    expect(textOf(await client.call('echo', { a: 1 }))).toBe('{"a":1,"b":10}');
  });

  it('that stop the agent are errors, with what the tool gave', async () => {
    const client = await open({
      AfterTool: group(saying({ continue: false, stopReason: 'enough' })),
    });
    await client.initialize();
    const { result } = await client.call('echo', {});
    expect(result).toMatchObject({ isError: true });
    expect(textOf({ result: result ?? {} })).toBe('{}|The agent is to stop: enough');
  });

  it('without an object of arguments, or a name, are refused', async () => {
    const client = await open();
    const wrong = { code: -32_602, message: expect.stringContaining('params.') as string };
    expect((await client.request('tools/call', { name: 'echo', arguments: [] })).error).toEqual(
      wrong,
    );
    expect((await client.request('tools/call', { arguments: {} })).error).toEqual(wrong);
  });

  it('without an id are dropped', async () => {
    const notes = path.join(cli.project, 'notes');
    const client = await open({}, { env: { NOTES: notes } });
    client.say({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'echo' } });
    await client.request('ping');
    expect(await readFile(notes, 'utf8')).not.toContain('tools/call');
    expect((await client.end()).stderr).toContain('the call has no id');
  });

  it.each([
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"mixed"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","a\\":":{"b":1,"\\u0062":2}}}',
  ])('with a key that is written twice are refused: %s', async (line) => {
    const client = await open({ BeforeTool: group('exit 2', { matcher: 'echo' }) });
    client.say(line);
    const { error } = await client.waitFor(({ id }) => id === 1);
    expect(error?.message).toContain('twice');
  });
});

describe('keys that some readers take for others', () => {
  it.each([
    ['"method":"tools/call","params":{"name":"echo","Name":"secret"}', -32_602, '"Name"'],
    ['"method":"tools/call","params":{"name":"echo","Arguments":{}}', -32_602, '"Arguments"'],
    ['"method":"tools/call","params":{"NAME":"echo"}', -32_602, '"NAME"'],
    ['"method":"ping","Method":"tools/call"', -32_600, '"Method"'],
    ['"method":"tools/call","params":{"name":"a"},"Params":{"name":"b"}', -32_600, '"Params"'],
    ['"method":"tools/call","params":{"name":"a"},"param\u017f":{}', -32_600, '"param\u017f"'],
  ])('are refused, and never reach the server: %s', async (fields, code, key) => {
    const notes = path.join(cli.project, 'notes');
    const client = await open({}, { env: { NOTES: notes } });
    client.say(`{"jsonrpc":"2.0","id":"k",${fields}}`);
    const { error } = await client.waitFor(({ id }) => id === 'k');
    expect(error).toMatchObject({ code });
    expect(error?.message).toContain(`the key ${key}`);
    await client.request('ping');
    expect(await readFile(notes, 'utf8')).not.toContain('"k"');
  });

  it.each([
    ['"method":"tools/call\\u0000","params":{"name":"secret"}', -32_600],
    ['"method":"tools/call","params":{"name":"secret\\u0000x"}', -32_602],
    ['"method":"tools/call","params":{"name\\u0000":"secret","name":"echo"}', -32_602],
    ['"method\\u0000":"tools/call","method":"ping"', -32_600],
  ])('are those that programs in C read in part: %s', async (fields, code) => {
    const client = await open({ BeforeTool: group('exit 2', { matcher: 'secret$' }) });
    client.say(`{"jsonrpc":"2.0","id":"k",${fields}}`);
    const { error } = await client.waitFor(({ id }) => id === 'k');
    expect(error).toMatchObject({ code });
  });

  it.each([
    ['an answer', '{"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call"}'],
    ['a notification', '{"jsonrpc":"2.0","method":"notifications/x","ID":1}'],
    [
      'a request with an id that is in use',
      '{"jsonrpc":"2.0","id":"h","method":"ping","Method":"tools/call"}',
    ],
  ])('are refused in %s too, which answers no other request', async (_what, line) => {
    const client = await open();
    client.say({ jsonrpc: '2.0', id: 'h', method: 'tools/call', params: { name: 'hang' } });
    client.say(line);
    expect((await client.waitFor(({ id }) => id === null)).error?.message).toContain('the key');
    expect(client.received.filter(({ id }) => id === 'h')).toEqual([]);
  });

  it('may stand in the arguments, which hooks see as they are', async () => {
    const client = await open({ BeforeTool: group(keepingInput('seen.json')) });
    await client.call('echo', { name: 1, Name: 2 });
    expect(JSON.parse(await cli.read('seen.json'))).toMatchObject({
      tool_input: { name: 1, Name: 2 },
    });
  });

  it('of a server are an error of that call, and dropped elsewhere', async () => {
    const client = await open({ AfterTool: group('true') });
    await client.initialize();
    expect((await client.call('lookalike')).error?.message).toContain('answered with the key');
    expect(textOf(await client.call('otherId'))).toBe('real');
    expect(JSON.stringify(client.received)).not.toContain('SECRET');
  });
});

describe('results of tools', () => {
  it('get the notes of hooks as a further text', async () => {
    const added = { hookSpecificOutput: { additionalContext: 'checked' } };
    const client = await open({ AfterTool: group(saying(added)) });
    await client.initialize();
    const { result } = await client.call('structured');
    const { content, ...rest } = result as { content: { text: string }[] };
    expect(content[0]).toEqual({ type: 'text', text: '{"token":"SECRET"}' });
    expect(content[1]?.text).toMatch(/^<hook_context-\w+>\nchecked\n/u);
    expect(rest).toEqual({ structuredContent: { token: 'SECRET' }, _meta: { repeated: 'SECRET' } });
  });

  it('hold once what async hooks have said of others, also where no hook looks at them', async () => {
    const late = { matcher: 'mcp__test__echo', async: true };
    const client = await open({ AfterTool: group('echo LATE >&2; exit 2', late) });
    await client.initialize();
    expect(JSON.stringify(await client.call('echo'))).not.toContain('LATE');
    const others = [];
    do others.push(JSON.stringify(await client.call('structured')));
    while (!others.at(-1)?.includes('LATE') && others.length < 2000);
    expect(others.at(-1)).toMatch(/<hook_context-\w+>.{2}LATE/u);
    expect(JSON.stringify(await client.call('structured'))).not.toContain('LATE');
    expect(await client.end()).toMatchObject({ exitCode: 0 });
  });

  it.each(['secret', 'structured', 'hidden', 'disguised'])(
    'of %s are nowhere the same any more once a hook has replaced them',
    async (tool) => {
      const client = await open({ AfterTool: replacing('gone') });
      await client.initialize();
      const answer = await client.call(tool);
      expect(JSON.stringify(answer)).not.toContain('SECRET');
      expect(JSON.stringify(answer)).toContain('gone');
    },
  );

  it.each([
    'noList',
    'data',
    'otherKind',
    'taskAndMore',
    'inputAndMore',
    'blob',
    'extra',
    'annotated',
    'blockMeta',
    'resourceMeta',
    'oddKind',
    'meta',
    'oddError',
  ])('of the form %s are seen by hooks, and replaced', async (tool) => {
    const seen = group(keepingInput('seen.json'));
    const [hidden] = group(saying({ decision: 'deny', reason: 'gone' }));
    const client = await open({ AfterTool: [...seen, { ...hidden!, dialect: 'gemini' }] });
    await client.initialize();
    const answer = JSON.stringify(await client.call(tool));
    expect(await cli.read('seen.json')).toContain('SECRET');
    expect(answer).not.toContain('SECRET');
    expect(answer).toContain('gone');
  });

  it('that are errors keep their data beside the note of a hook', async () => {
    const added = { hookSpecificOutput: { additionalContext: 'checked' } };
    const client = await open({ AfterTool: group(saying(added)) });
    await client.initialize();
    const { error } = await client.call('data');
    expect(error).toMatchObject({ code: 1, data: { a: 'SECRET' } });
    expect(error?.message).toMatch(/^No\.\n\n<hook_context-\w+>\nchecked\n/u);
  });

  it('that are errors of the protocol are replaced as well', async () => {
    const [hidden] = group(saying({ decision: 'deny', reason: 'gone' }));
    const client = await open({ AfterTool: [{ ...hidden!, dialect: 'gemini' }] });
    await client.initialize();
    expect((await client.call('refused')).error).toEqual({ code: -32_602, message: 'gone' });
  });

  it('with structured content keep some where the replacement is an object, and are errors else', async () => {
    const client = await open({ AfterTool: replacing('{"token":"***"}') });
    await client.initialize();
    expect((await client.call('structured')).result).toEqual({
      content: [{ type: 'text', text: '{"token":"***"}' }],
      structuredContent: { token: '***' },
    });
    const other = new RawClient(cli, {
      args: ['--settings', await cli.settings({ AfterTool: replacing('gone') })],
    });
    await other.initialize();
    expect((await other.call('structured')).result).toEqual({
      content: [{ type: 'text', text: 'gone' }],
      isError: true,
    });
  });

  it('of tools that failed are told to hooks as failures', async () => {
    const client = await open({ AfterTool: group(keepingInput('seen.json')) });
    await client.initialize();
    expect((await client.call('failing')).result).toMatchObject({ isError: true });
    expect(JSON.parse(await cli.read('seen.json'))).toMatchObject({
      tool_response: { llmContent: 'No.', error: { type: 'tool_failed' } },
    });
  });

  it('of 10 MB pass', async () => {
    const client = await open({ AfterTool: group('cat > /dev/null') });
    await client.initialize();
    expect(textOf(await client.call('large'))).toHaveLength(10_000_000);
    const echoed = await client.call('echo', { text: 'y'.repeat(10_000_000) });
    expect(textOf(echoed)).toHaveLength(10_000_011);
  });

  it('that are tasks pass untouched, and it is said once what hooks will not see', async () => {
    const client = await open({ AfterTool: replacing('gone') });
    await client.initialize();
    expect((await client.call('task')).result).toEqual({
      task: { taskId: 't', status: 'working' },
    });
    expect((await client.end()).stderr.match(/answers with a task/gu)).toHaveLength(1);
  });
});

describe('what is no call of a tool', () => {
  it('passes byte for byte in both directions', async () => {
    const notes = path.join(cli.project, 'notes');
    const client = await open({ BeforeTool: group('exit 2') }, { env: { NOTES: notes } });
    const odd = '{"jsonrpc":"2.0",  "id":"a\\u0062", "method":"ping"}';
    client.say(odd);
    await client.waitFor(({ id }) => id === 'ab');
    client.say('{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}');
    client.say('{"jsonrpc":"2.0","method":"notifications/x", "params":1e400}');
    await client.request('ping');
    expect((await readFile(notes, 'utf8')).split('\n').slice(0, 3)).toEqual([
      odd,
      '{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}',
      '{"jsonrpc":"2.0","method":"notifications/x", "params":1e400}',
    ]);
  });

  it('is one line for every reader: a part of it is no message of its own', async () => {
    const notes = path.join(cli.project, 'notes');
    const client = await open({ BeforeTool: group('exit 2') }, { env: { NOTES: notes } });
    const call = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"secret"}}';
    client.say(`{"jsonrpc":"2.0","id":1,"method":"ping",\r"params":{"n":1e400,"x":\r${call}\r}}\r`);
    await client.waitFor(({ id }) => id === 1);
    client.say('{"jsonrpc":"2.0","id":3,"method":"ping","params":"a\u2028b\u2029\u0085"}');
    await client.waitFor(({ id }) => id === 3);
    expect((await readFile(notes, 'utf8')).split('\n')).toEqual([
      `{"jsonrpc":"2.0","id":1,"method":"ping", "params":{"n":1e400,"x": ${call} }}`,
      String.raw`{"jsonrpc":"2.0","id":3,"method":"ping","params":"a\u2028b\u2029\u0085"}`,
      '',
    ]);
  });

  it('is one line for the client too', async () => {
    const client = await open();
    expect(await client.call('lines')).toMatchObject({ result: { a: 'x\u2028y' } });
    expect(client.received).not.toContainEqual(expect.objectContaining({ id: 'own' }));
  });

  it('includes progress and requests of the server, during a call', async () => {
    const client = await open({ BeforeTool: group('true') });
    await client.initialize();
    await client.call('progress', {}, { progressToken: 5 });
    expect(client.received).toContainEqual(
      expect.objectContaining({ params: { progressToken: 5, progress: 1 } }),
    );
    await client.call('asks');
    expect(client.received).toContainEqual(
      expect.objectContaining({ id: 'q1', method: 'roots/list' }),
    );
  });
});

describe('a client', () => {
  it.each([
    ['no JSON', 'nonsense', -32_700],
    ['text that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), -32_700],
    ['a number', '42', -32_600],
    ['an object that is nothing', '{}', -32_600],
    ['a batch', '[{"jsonrpc":"2.0","method":"ping"}]', -32_600],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"tools/call"}', -32_600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
    [
      'an id that would lose digits',
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
      -32_600,
    ],
    ['an id without end', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', -32_600],
    ['an id of many digits', '{"jsonrpc":"2.0","id":0.12345678901234567,"method":"ping"}', -32_600],
    ['no end of brackets', `{"jsonrpc":"2.0","method":"x","params":${DEEP}}`, -32_600],
  ])('that sends %s is told so, and goes on', async (_what, line, code) => {
    const client = await open();
    if (typeof line === 'string') client.say(line);
    else client.process.stdin?.write(Buffer.concat([line, Buffer.from('\n')]));
    expect((await client.waitFor(({ id }) => id === null)).error?.code).toBe(code);
    expect(await client.request('ping')).toMatchObject({ result: {} });
  });

  it('that sends a batch is told so, also in the one version that has them', async () => {
    const client = await open();
    await client.initialize({}, '2025-03-26');
    client.say(['a', 'b', 'a'].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' })));
    expect(await client.request('ping')).toMatchObject({ result: {} });
    // Nobody waits for the answer to a request in it.
    const message = expect.stringContaining('batches do not pass') as string;
    const refused = (id: string) =>
      expect.objectContaining({ id, error: { code: -32_600, message } });
    expect(client.received.slice(1, 3)).toEqual([refused('a'), refused('b')]);
    expect(client.received).toHaveLength(4);
  });

  it('that nests too deeply is told so, and goes on', async () => {
    const client = await open();
    await client.initialize({}, '2025-03-26');
    client.say(`[${deepPing('a')}]`);
    client.say(deepPing('b'));
    const of = (id: unknown) => client.waitFor((message) => message.id === id);
    expect((await of(null)).error?.message).toContain('nested too deeply');
    expect((await of('b')).error?.message).toContain('nested too deeply');
    expect(await client.request('ping')).toMatchObject({ result: {} });
  });

  it.each(['x', 1.5, -3, 0, '', '1'])('gets the id %j back as it was', async (given) => {
    const client = await open({ BeforeTool: group('exit 2') });
    client.say({ jsonrpc: '2.0', id: given, method: 'tools/call', params: { name: 'echo' } });
    expect(await client.waitFor(({ id }) => id === given)).toMatchObject({
      result: { isError: true },
    });
  });

  it('that uses an id twice is refused the second time', async () => {
    const client = await open();
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hang' } };
    client.say(call);
    client.say(call);
    const { error } = await client.waitFor(({ id }) => id === null);
    expect(error?.message).toContain('the id 1 belongs to a request that is not answered yet');
  });

  it('that cancels ends the hooks, and hears no more of the call', async () => {
    const notes = path.join(cli.project, 'notes');
    const waiting = 'echo $$ > "$LLXPRT_PROJECT_DIR/hook.pid"; sleep 100';
    const client = await open({ BeforeTool: group(waiting) }, { env: { NOTES: notes } });
    await client.initialize();
    client.say({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'echo' } });
    await expect.poll(() => cli.read('hook.pid').catch(() => '')).not.toBe('');
    const started = Number(await cli.read('hook.pid'));
    client.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } });
    await expect.poll(() => isRunning(started), { timeout: 10_000 }).toBe(false);
    await client.request('ping');
    expect(client.received.filter(({ id }) => id === 'c')).toEqual([]);
    const passed = await readFile(notes, 'utf8');
    expect(passed).toContain('notifications/cancelled');
    expect(passed).not.toContain('tools/call');
    const { stderr } = await client.end();
    expect(stderr).toContain('was aborted; nobody waits for its answer any more');
    expect(stderr).not.toContain('goes on');
  });

  it('that ends the proxy ends the hooks of its calls', async () => {
    const waiting = 'echo $$ > "$LLXPRT_PROJECT_DIR/hook.pid"; sleep 100';
    const client = await open({ BeforeTool: group(waiting) });
    await client.initialize();
    client.say({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'echo' } });
    await expect.poll(() => cli.read('hook.pid').catch(() => '')).not.toBe('');
    client.process.kill('SIGTERM');
    expect(await client.ended()).toMatchObject({ exitCode: 0 });
    expect(isRunning(Number(await cli.read('hook.pid')))).toBe(false);
  });

  it('that cancels other requests than calls is passed on, and may use the id again', async () => {
    const client = await open();
    client.say({ jsonrpc: '2.0', id: 'p', method: 'unknown' });
    client.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'p' } });
    client.say({ jsonrpc: '2.0', id: 'p', method: 'ping' });
    expect(await client.waitFor(({ id }) => id === 'p')).toMatchObject({ result: {} });
  });

  it('that uses the id of a cancelled call again does not get its answer past hooks', async () => {
    const notes = path.join(cli.project, 'notes');
    const client = await open({ AfterTool: replacing('gone') }, { env: { NOTES: notes } });
    await client.initialize();
    const params = { requestId: 'c' };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
    client.say({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'lateSecret' } });
    await expect.poll(() => readFile(notes, 'utf8').catch(() => '')).toContain('lateSecret');
    client.say(cancel);
    client.say(cancel);
    client.say({ jsonrpc: '2.0', id: 'c', method: 'unknown' });
    const { error } = await client.waitFor(({ id }) => id !== 1);
    expect(error?.message).toContain('belongs to a request that is not answered yet');
    await expect.poll(() => readFile(notes, 'utf8')).toContain('answered late');
    await client.request('ping');
    client.say({ jsonrpc: '2.0', id: 'c', method: 'ping' });
    expect(await client.waitFor(({ id }) => id === 'c')).toMatchObject({ result: {} });
    expect(JSON.stringify(client.received)).not.toContain('SECRET');
  });

  it('that says all at once and leaves still gets its answers', async () => {
    const client = await open({ BeforeTool: group('sleep 0.3') });
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } };
    client.say(call);
    expect(await client.end()).toMatchObject({ exitCode: 0 });
    expect(client.received).toContainEqual(expect.objectContaining({ id: 1 }));
  });
});

describe('a server', () => {
  it.each([
    ['dies', 'die', 'has ended (exit code 7)'],
    ['closes its output', 'close', 'has closed its output'],
    ['speaks nothing but nonsense', 'nonsense', 'wrote 100 lines that are no messages'],
    ['writes nothing but empty batches', 'batches', 'wrote 100 lines that are no messages'],
    ['writes nothing but blank lines', 'blank', 'wrote 100 lines that are no messages'],
    ['never ends a line', 'flood', 'wrote a line without end'],
  ])('that %s is an error to all that wait, and on stderr', async (_what, tool, why) => {
    const client = await open({ AfterTool: group('true') });
    await client.initialize();
    const [hanging, calling] = await Promise.all([client.call('hang'), client.call(tool)]);
    expect(hanging.error).toEqual(gone(why));
    expect(calling.error).toEqual(gone(why));
    const { exitCode, stderr } = await client.ended();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`error: the MCP server "test" ${why}`);
  });

  it('that cannot be started is an error to the first request, and on stderr', async () => {
    const client = await open({}, { command: ['./not-there'] });
    const { error } = await client.initialize();
    expect(error?.message).toMatch(/"test" cannot be started: .*ENOENT/u);
    expect(await client.ended()).toMatchObject({ exitCode: 1 });
  });

  it('may write some lines that are no messages, which are dropped', async () => {
    const client = await open();
    await client.initialize();
    expect(textOf(await client.call('chatter'))).toBe('Done.');
    const { exitCode, stderr } = await client.end();
    expect(exitCode).toBe(0);
    expect(stderr.match(/is no message/gu)).toHaveLength(1);
  });

  it('that answers with nothing is an error of that call', async () => {
    const client = await open();
    await client.initialize();
    expect((await client.call('empty')).error?.message).toContain('neither a result nor an error');
  });

  it('that nests an answer too deeply, in a batch or alone, is an error of that call', async () => {
    const client = await open();
    await client.initialize();
    for (const tool of ['deepBatch', 'deep']) {
      expect((await client.call(tool)).error?.message).toContain('nested too deeply');
    }
    expect(await client.end()).toMatchObject({ exitCode: 0 });
  });

  it('that answers in a batch is an error of that call', async () => {
    const client = await open();
    expect((await client.call('batch')).error?.message).toContain('a batch, which does not pass');
  });

  it('that answers with a result and an error at once is an error of that call', async () => {
    const client = await open({ AfterTool: replacing('gone') });
    await client.initialize();
    const answer = await client.call('both');
    expect(answer.error?.message).toContain('a result and an error at once');
    expect(JSON.stringify(answer)).not.toContain('SECRET');
  });

  it('that says that there is no error beside its result has a result', async () => {
    const client = await open({ AfterTool: replacing('gone') });
    await client.initialize();
    expect((await client.call('noError')).result).toEqual({
      content: [{ type: 'text', text: 'gone' }],
    });
    const other = await open();
    expect(await other.call('noError')).not.toHaveProperty('error');
  });

  it('cannot answer in place of hooks: twice, or with what is a request too', async () => {
    const client = await open({ AfterTool: group('sleep 0.2') });
    await client.initialize();
    expect(textOf(await client.call('twice'))).toBe('first');
    expect(textOf(await client.call('ambiguous'))).toBe('real');
    await client.request('ping');
    const texts = JSON.stringify(client.received);
    expect(texts).not.toContain('second');
    expect(texts).not.toContain('SECRET');
  });

  it('cannot answer another request in words that could be read as an answer to a call', async () => {
    const client = await open({ AfterTool: replacing('gone') });
    await client.initialize();
    client.say({ jsonrpc: '2.0', id: 'p', method: 'unknown' });
    client.say({ jsonrpc: '2.0', id: 'h', method: 'tools/call', params: { name: 'twoIds' } });
    await client.waitFor(({ id }) => id === 'p');
    expect(textOf(await client.waitFor(({ id }) => id === 'h'))).toBe('gone');
    await client.end();
    const { stdout } = await client.process;
    const lines = String(stdout).split('\n');
    expect(lines.filter((line) => line.includes('SECRET'))).toEqual([
      '{"jsonrpc":"2.0","id":"p","result":{"content":"SECRET"}}',
    ]);
  });

  it.each(['nullBehind', 'oddId'])(
    'cannot give an error to nobody that could be read as an answer to a call: %s',
    async (tool) => {
      const client = await open({ AfterTool: replacing('gone') });
      await client.initialize();
      expect(textOf(await client.call(tool))).toBe('gone');
      await client.end();
      const { stdout } = await client.process;
      const lines = String(stdout).split('\n');
      expect(
        lines.filter((line) => line.includes('SECRET') && /"id":(?!null)/u.test(line)),
      ).toEqual([]);
    },
  );

  it.each(['SIGTERM', 'end of stdin'])('is ended with what it has started, at %s', async (how) => {
    const client = await open();
    await client.initialize();
    const child = Number(textOf(await client.call('child')));
    expect(isRunning(child)).toBe(true);
    if (how === 'SIGTERM') client.process.kill('SIGTERM');
    else client.process.stdin?.end();
    await client.ended();
    expect(isRunning(child)).toBe(false);
  });
});

describe('questions of hooks', () => {
  it.each([
    ['yes', { action: 'accept', content: { answer: 'yes' } }, '{"to":"\u0435u"}'],
    ['no', { action: 'accept', content: { answer: 'no', reason: 'Not today.' } }, 'Not today.'],
    ['nothing', { action: 'accept', content: {} }, 'said no'],
    ['decline', { action: 'decline' }, 'said no'],
    ['cancel', { action: 'cancel', content: { answer: 'yes' } }, 'said no'],
  ])('are elicitations, and %s counts', async (_what, answer, expected) => {
    const client = await open({ BeforeTool: asking() });
    await client.initialize({ elicitation: {} });
    const calling = client.call('echo', { to: '\u0435u' });
    const { id, params } = await client.waitFor(({ method }) => method === 'elicitation/create');
    expect(params?.['message']).toContain(String.raw`"to": "\u{435}u"`);
    expect(params?.['message']).toContain('mcp__test__echo');
    client.say({ jsonrpc: '2.0', id, result: answer });
    expect(textOf(await calling)).toContain(expected);
  });

  it('that a client refuses to show are a no', async () => {
    const client = await open({ BeforeTool: asking() });
    await client.initialize({ elicitation: { form: {} } });
    const calling = client.call('echo');
    const { id } = await client.waitFor(({ method }) => method === 'elicitation/create');
    client.say({ jsonrpc: '2.0', id, error: { code: -1, message: 'Not here.' } });
    expect(textOf(await calling)).toContain('Not here.');
  });

  it.each([undefined, MODERN])('are a no once the client has said all: %j', async (meta) => {
    const waiting = 'while [ ! -e "$LLXPRT_PROJECT_DIR/go" ]; do sleep 0.05; done';
    const answer = saying({ decision: 'ask', reason: 'Sure?' });
    const client = await open({ BeforeTool: group(`touch begun; ${waiting}; ${answer}`) });
    await client.initialize({ elicitation: {} });
    const params = { name: 'echo', ...(meta && { _meta: meta }) };
    client.say({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params });
    await expect.poll(() => cli.read('begun').catch(() => 'not yet')).toBe('');
    client.process.stdin?.end();
    const ended = client.ended();
    await cli.write('go', '');
    const before = Date.now();
    await ended;
    expect(Date.now() - before).toBeLessThan(10_000);
    expect(textOf(client.received.find(({ id }) => id === 'c') ?? {})).not.toBe('');
  });

  it('are taken back when the call is cancelled', async () => {
    const client = await open({ BeforeTool: asking() });
    await client.initialize({ elicitation: {} });
    client.say({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'echo' } });
    const { id } = await client.waitFor(({ method }) => method === 'elicitation/create');
    client.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c' } });
    const { params } = await client.waitFor(({ method }) => method === 'notifications/cancelled');
    expect(params).toMatchObject({ requestId: id });
  });

  it.each([{}, { elicitation: { url: {} } }])(
    'follow "approvals" where the client cannot ask: %j',
    async (capabilities) => {
      await cli.userSettings({ BeforeTool: asking() }, { approvals: { whenNobody: 'deny' } });
      const client = new RawClient(cli);
      await client.initialize(capabilities);
      expect(textOf(await client.call('echo'))).toContain('nobody can be asked here');
    },
  );

  it('are answers that need input since 2026-07-28, and the same call goes on', async () => {
    const notes = path.join(cli.project, 'notes');
    const client = await open({ BeforeTool: asking() }, { env: { NOTES: notes } });
    const params = { name: 'echo', arguments: { to: 'eu' }, _meta: MODERN };
    const { result } = await client.request('tools/call', params);
    expect(result).toMatchObject({ resultType: 'input_required' });
    const { requestState } = result ?? {};
    const inputResponses = { hookstack: { action: 'accept', content: { answer: 'yes' } } };
    const changed = { ...params, arguments: { to: 'us' }, requestState, inputResponses };
    expect((await client.request('tools/call', changed)).error?.message).toContain('another call');
    const again = { ...params, requestState, inputResponses };
    expect(textOf(await client.request('tools/call', again))).toBe('{"to":"eu"}');
    expect(await readFile(notes, 'utf8')).not.toContain('requestState');
    expect(textOf(await client.request('tools/call', again))).toContain('is over');
  });
});

describe('lists of tools', () => {
  it('hold what hooks of BeforeToolSelection allow, and nothing else may be called', async () => {
    const client = await open({
      BeforeToolSelection: allowingOnly('mcp__test__echo', 'read_file'),
    });
    await client.initialize();
    const before = await client.call('secret');
    expect(before.result).toMatchObject({ isError: true });
    const { result } = await client.request('tools/list');
    expect(result?.['tools']).toEqual([{ name: 'echo', inputSchema: { type: 'object' } }]);
    expect(textOf(await client.call('secret'))).toContain('restricted the tools');
    expect(textOf(await client.call('echo'))).toBe('{}');
  });

  it('of several pages allow the tools of each', async () => {
    const client = await open({
      BeforeToolSelection: group(
        `if grep -q '"mcp__test__echo"'; then :; else ${saying({
          hookSpecificOutput: { toolConfig: { mode: 'NONE' } },
        })}; fi`,
      ),
    });
    await client.initialize();
    await client.request('tools/list');
    const { result } = await client.request('tools/list', { cursor: 'next' });
    expect(result?.['tools']).toEqual([]);
    expect(textOf(await client.call('echo'))).toBe('{}');
    expect(textOf(await client.call('further'))).toContain('restricted the tools');
  });

  it('are empty where hooks allow none', async () => {
    const none = saying({ hookSpecificOutput: { toolConfig: { mode: 'NONE' } } });
    const client = await open({ BeforeToolSelection: group(none) });
    await client.initialize();
    expect((await client.request('tools/list')).result).toEqual({ tools: [] });
  });
});

describe('the command line', () => {
  it.each([
    [['--', 'true'], 'what the server is called'],
    [['--name', 'a__b', '--', 'true'], 'no name for a server'],
    [['--name', 'a b', '--', 'true'], 'no name for a server'],
    [['--name', 'a'], 'what starts the server'],
  ])('%j is wrong', async (args, message) => {
    const { exitCode, stderr } = await cli.runProgram(['mcp', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  it('settings that cannot be read end the proxy before it starts anything', async () => {
    await cli.write(path.join(cli.home, '.llxprt/settings.json'), '{');
    const { exitCode, stdout } = await cli.runProgram([
      'mcp',
      '--name',
      'test',
      '--',
      process.execPath,
      SERVER,
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  it('says where no hook runs', async () => {
    const { exitCode, stderr } = await cli.runProgram([
      'mcp',
      '--name',
      'test',
      '--',
      process.execPath,
      SERVER,
    ]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('no hook runs around the tools of "test"');
  });

  it('--trace writes down what happens', async () => {
    const client = await open(
      { BeforeTool: group('exit 2') },
      { args: ['--trace', 'trace.jsonl'] },
    );
    await client.initialize();
    await client.call('echo');
    await client.end();
    expect(await cli.read('trace.jsonl')).toContain('mcp__test__echo');
  });
});
