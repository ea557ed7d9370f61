import events from 'node:events';
import { appendFile, link, mkdir, stat, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { record } from '../trace/helpers.js';
import { answer, answering, Cli, group, parseLines, saying, toolCall } from './helpers.js';

const cli = new Cli();

/** Runs the agent with a hook that moves what is written, and traces that. */
async function traceRun(
  options: Parameters<Cli['run']>[1] = {},
  args = ['--trace', 'trace.jsonl'],
) {
  const settings = await cli.settings({
    BeforeTool: group(saying({ hookSpecificOutput: { tool_input: { file_path: 'b.txt' } } }), {
      name: 'move',
    }),
    AfterTool: group('echo broken >&2; exit 3', { name: 'broken' }),
  });
  const calls = await cli.record(
    answer(toolCall('write_file', { file_path: 'a.txt', content: 'x' })),
    answer('Done.'),
  );
  const given = ['--settings', settings, '--responses', calls, ...args];
  return cli.run(['run', 'Write.', ...given], options);
}

it('exits with 1 for a file without spans', async () => {
  await cli.write('empty.jsonl', '');
  expect(await cli.run(['trace', 'empty.jsonl'])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: empty.jsonl holds no spans; write some with --trace empty.jsonl',
  });
});

it('tells who has answered a question', async () => {
  const question = record({ kind: 'question', name: 'careful', approver: 'ann@example.com' });
  await cli.write('asked.jsonl', `${JSON.stringify(question)}\n`);
  const { stdout } = await cli.run(['trace', 'asked.jsonl']);
  expect(stdout).toMatch(/^question careful .*, answered by ann@example\.com$/m);
});

describe('run --trace', () => {
  it('writes a story that trace tells as a tree', async () => {
    expect((await traceRun()).exitCode).toBe(0);

    const { exitCode, stdout, stderr } = await cli.run(['trace', 'trace.jsonl']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.replaceAll(/\d+(\.\d+)? m?s/g, '…').replace(/session \S+/, 'session')).toBe(
      [
        'session Write.  …',
        '  turn 1 Write.  …',
        '    model gemini-2.5-flash Write.  …',
        '    tool write_file a.txt, content: x change  …',
        '      event BeforeTool write_file a.txt, content: x change  …',
        '        hook move (BeforeTool) write_file a.txt, content: x change  …',
        '            @@ tool_input.file_path',
        '            - a.txt',
        '            + b.txt',
        '      event AfterTool write_file b.txt, content: x fail  …',
        '        hook broken (AfterTool) write_file b.txt, content: x fail  …, exit code 3',
        '            exited with code 3: broken',
        '  turn 2 result of write_file  …',
        '    model gemini-2.5-flash result of write_file  …',
      ].join('\n'),
    );
  });

  it('says of a persistent hook, and of no other, whether its process was new', async () => {
    await cli.write('stay.mjs', answering('{}'));
    const settings = await cli.settings({
      BeforeTool: group('node $LLXPRT_PROJECT_DIR/stay.mjs', { name: 'stay', persistent: true }),
      AfterTool: group('cat > /dev/null', { name: 'plain' }),
    });
    const write = answer(toolCall('write_file', { file_path: 'a.txt', content: 'x' }));
    const calls = await cli.record(write, write, answer('Done.'));
    const given = ['--settings', settings, '--responses', calls, '--trace', 'trace.jsonl'];
    expect((await cli.run(['run', 'Write.', ...given])).exitCode).toBe(0);

    const { stdout } = await cli.run(['trace', 'trace.jsonl']);
    const hooks = stdout.split('\n').filter((line) => line.trimStart().startsWith('hook'));
    expect(hooks.map((line) => line.trim().replace(/ \(.*?[\d.]+ m?s/u, ''))).toEqual([
      'hook stay, new process',
      'hook plain',
      'hook stay, kept process',
      'hook plain',
    ]);
    const lines = parseLines((await cli.read('trace.jsonl')).trimEnd());
    const ofHooks = lines.filter(({ kind }) => kind === 'hook');
    expect(ofHooks.map(({ process }) => process)).toEqual(['new', undefined, 'kept', undefined]);
  });

  it('tells who was asked, and how long that took', async () => {
    const tool = record({ kind: 'tool', name: 'deploy', durationMs: 91_000, verdict: 'block' });
    const question = record({
      parent: tool.id,
      kind: 'question',
      event: 'BeforeTool',
      name: 'careful\u001b[2J',
      durationMs: 90_000,
      verdict: 'block',
      reason: 'Not on a Friday.',
      input: '{"tool_name":"deploy","tool_input":{"to":"eu"}}',
    });
    const lines = [question, tool].map((span) => JSON.stringify(span));
    await cli.write('asked.jsonl', lines.join('\n'));
    expect((await cli.run(['trace', 'asked.jsonl'])).stdout).toBe(`tool deploy block  91 s
  question careful (BeforeTool) deploy to: eu block  90 s
      Not on a Friday.`);
    expect((await cli.run(['trace', 'asked.jsonl', '--slowest', '1'])).stdout).toBe(
      '     90 s  question careful (BeforeTool) deploy to: eu block',
    );
  });

  it('takes the file from the environment, and appends to it', async () => {
    const env = { HOOKSTACK_TRACE: 'from-env.jsonl' };
    await traceRun({ env }, []);
    const once = parseLines((await cli.read('from-env.jsonl')).trimEnd()).length;
    await traceRun({ env }, []);
    expect(parseLines((await cli.read('from-env.jsonl')).trimEnd())).toHaveLength(2 * once);
  });

  it('goes on with one warning where the file cannot be written', async () => {
    const { exitCode, stderr } = await traceRun({}, ['--trace', 'missing/trace.jsonl']);
    expect(exitCode).toBe(0);
    expect(stderr.match(/warning: The trace missing\/trace.jsonl cannot be written/g)).toHaveLength(
      1,
    );
    expect(await cli.read('b.txt')).toBe('x');
  });
});

describe('fire --trace', () => {
  it('writes the event with its hooks', async () => {
    const settings = await cli.settings({ BeforeTool: group('exit 2', { name: 'no' }) });
    const args = ['--settings', settings, '--trace', 'trace.jsonl'];
    expect((await cli.run(['fire', 'BeforeTool', ...args])).exitCode).toBe(2);
    const lines = parseLines((await cli.read('trace.jsonl')).trimEnd());
    expect(lines.map(({ kind, name, verdict }) => [kind, name, verdict])).toEqual([
      ['hook', 'no', 'block'],
      ['event', 'BeforeTool', 'block'],
    ]);
  });
});

describe('trace', () => {
  it('lists what took longest', async () => {
    const spans = [10, 300, 2000].map((durationMs) =>
      record({ name: `h${durationMs}`, durationMs }),
    );
    await cli.write('trace.jsonl', spans.map((span) => JSON.stringify(span)).join('\n'));
    const { stdout } = await cli.run(['trace', 'trace.jsonl', '--slowest', '2']);
    expect(stdout).toBe('      2 s  hook h2000\n   300 ms  hook h300');
  });

  it('writes the story as JSON', async () => {
    await traceRun();
    const { stdout } = await cli.run(['trace', 'trace.jsonl', '--json']);
    const { spans } = JSON.parse(stdout) as { spans: { kind: string; depth: number }[] };
    expect(spans.slice(0, 3)).toMatchObject([
      { kind: 'session', depth: 0 },
      { kind: 'turn', name: '1', depth: 1 },
      { kind: 'model', depth: 2, ownMs: expect.any(Number) },
    ]);
  });

  it('shows what a hook is called and says on its line, and drives no terminal', async () => {
    const span = record({
      name: 'a\u001b[2J\nfake',
      reason: 'x\u001b]0;title\u0007',
      verdict: 'block',
    });
    await cli.write('trace.jsonl', JSON.stringify({ ...span, change: '@@ a\n+ \u001b[31mb' }));
    const { stdout } = await cli.run(['trace', 'trace.jsonl']);
    expect(stdout.split('\n')).toEqual([
      'hook a fake block  10 ms',
      '    x',
      '    @@ a',
      '    + b',
    ]);
  });

  it('names the command that replays a block so that a shell reads only words', async () => {
    const blocked = record({
      id: "$(x)'\u0007",
      kind: 'event',
      verdict: 'block',
      name: 'BeforeTool',
    });
    await cli.write('a b.jsonl', JSON.stringify(blocked));
    const { stdout } = await cli.run(['trace', 'a b.jsonl']);
    expect(stdout.split('\n').at(-1)).toBe(
      String.raw`Replay: hookstack fire --from-trace 'a b.jsonl' --span '$(x)'\'''`,
    );
  });

  it('says which lines it leaves out', async () => {
    await cli.write('trace.jsonl', `${JSON.stringify(record())}\n{"id":`);
    const { exitCode, stdout, stderr } = await cli.run(['trace', 'trace.jsonl']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'hook check  10 ms' });
    expect(stderr).toBe('warning: trace.jsonl:2: 1 line is not a span and is left out');
  });

  it('writes a page for its owner alone, and never over the trace that a link leads to', async () => {
    const text = JSON.stringify(record());
    const trace = await cli.write('t', text);
    expect(await cli.run(['trace', 't', '--html', 't.html'])).toMatchObject({ exitCode: 0 });
    expect((await stat(join(cli.project, 't.html'))).mode & 0o777).toBe(0o600);

    await symlink(trace, join(cli.project, 'symbolic.html'));
    await link(trace, join(cli.project, 'hard.html'));
    for (const page of ['symbolic.html', 'hard.html']) {
      const { exitCode, stderr } = await cli.run(['trace', 't', '--html', page]);
      expect(stderr).toContain('would overwrite the trace itself');
      expect(exitCode).toBe(2);
    }
    expect(await cli.read('t')).toBe(text);
  });

  it('refuses a trace with a line that no memory holds', async () => {
    await truncate(await cli.write('huge', ''), 600 * 1024 * 1024);
    const { exitCode, stdout, stderr } = await cli.run(['trace', 'huge']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: The trace huge cannot be read \(line 1 is longer than [^\n]+$/);
  });

  it.each([
    { what: 'a missing trace', args: ['missing.jsonl'], says: 'missing.jsonl cannot be read' },
    {
      what: 'a page in place of the trace',
      args: ['t', '--html', './t'],
      says: 'overwrite the trace',
    },
    { what: 'a page nowhere', args: ['t', '--html', 'no/t.html'], says: 'cannot be written' },
    { what: 'a wrong number', args: ['t', '--slowest', 'x'], says: 'whole number' },
  ])('refuses $what', async ({ args, says }) => {
    await cli.write('t', JSON.stringify(record()));
    const { exitCode, stderr } = await cli.run(['trace', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(says);
  });
});

/** A line of a trace. */
function lineOf(id: string, verdict: string): string {
  const facts = { id, parent: null, kind: 'hook', name: id, event: 'BeforeTool' };
  return `${JSON.stringify({ ...facts, start: 1, durationMs: 2, verdict, reason: `because of ${id}` })}\n`;
}

describe('trace --follow', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('tells spans as they end, until %s', async (signal) => {
    const following = cli.start(['trace', 'live.jsonl', '--follow'], { timeout: 20_000 });
    let told = '';
    following.stdout?.on('data', (chunk: Buffer) => (told += chunk));
    const hears = (text: string) =>
      vi.waitFor(() => expect(told).toContain(text), { timeout: 15_000 });
    await cli.write('live.jsonl', lineOf('one', 'allow'));
    await hears('hook one');
    // A line is told once all of it is there.
    const [half = '', rest = ''] = lineOf('two', 'block').split('because');
    await appendFile(join(cli.project, 'live.jsonl'), half);
    await appendFile(join(cli.project, 'live.jsonl'), `because${rest}`);
    await hears('because of two');
    await cli.write('live.jsonl', lineOf('anew', 'stop'));
    await hears('hook anew');
    following.kill(signal);
    expect(await following).toMatchObject({ exitCode: 0, stderr: '' });
    expect(told.match(/hook one/g)).toHaveLength(1);
  });

  it('reads a line of 60 MB in seconds', async () => {
    const long = lineOf('long', 'allow').replace('because', 'a'.repeat(60_000_000));
    await cli.write('live.jsonl', `${lineOf('one', 'allow')}${long}${lineOf('good', 'allow')}`);
    const following = cli.start(['trace', 'live.jsonl', '--follow'], { timeout: 10_000 });
    let told = '';
    following.stdout?.on('data', (chunk: Buffer) => (told += chunk));
    await vi.waitFor(() => expect(told).toContain('hook good'), { timeout: 9000 });
    following.kill('SIGINT');
    expect(await following).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('goes on after a time that is no date', async () => {
    const bad = JSON.stringify({ ...JSON.parse(lineOf('bad', 'allow')), start: 9e15 });
    await cli.write('live.jsonl', `${bad}\n${lineOf('good', 'allow')}`);
    const following = cli.start(['trace', 'live.jsonl', '--follow'], { timeout: 20_000 });
    const [told] = (await events.once(following.stdout!, 'data')) as [Buffer];
    expect(String(told)).toContain('hook good');
    following.kill('SIGINT');
    expect(await following).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('writes a line of JSON for each with --json', async () => {
    await cli.write('live.jsonl', lineOf('one', 'allow'));
    const following = cli.start(['trace', '--follow', '--json'], {
      timeout: 20_000,
      env: { HOOKSTACK_TRACE: 'live.jsonl' },
    });
    const [line] = (await events.once(following.stdout!, 'data')) as [Buffer];
    expect(JSON.parse(String(line))).toMatchObject({ id: 'one', verdict: 'allow' });
    following.kill('SIGINT');
    await following;
  });

  it.each([
    [
      ['--follow', '--html', 'page.html'],
      "option '--html <out>' cannot be used with option '--follow",
    ],
    [['--diff', '--html', 'page.html'], "option '--diff' cannot be used with option '--html"],
    [['--diff', '--slowest', '3'], "option '--diff' cannot be used with option '--slowest"],
    [['--query', '', '--diff'], "option '--query <conditions>' cannot be used with option '--diff"],
    [['--nats', 'nats://127.0.0.1:1'], '--nats tells what comes, and reads no file'],
    [[], 'There is no trace: name its file, or set HOOKSTACK_TRACE'],
  ])('refuses %j', async (options, message) => {
    const file = options.length > 0 ? ['live.jsonl'] : [];
    const { exitCode, stderr } = await cli.run(['trace', ...file, ...options]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(message) });
  });
});

it.each([
  [['trace'], 2],
  [['trace', '--follow'], 2],
  [['trace', '--html', 'page.html'], 2],
  [['fire', '--from-trace'], 1],
])('has nobody remove a directory: %j', async (args, code) => {
  await mkdir(join(cli.project, 'record'));
  const { exitCode, stderr } = await cli.run([...args, 'record']);
  expect({ exitCode, stderr }).toEqual({
    exitCode: code,
    stderr:
      'error: record is a directory; name a file in it, or ask all of them with hookstack trace --query or --diff',
  });
});
