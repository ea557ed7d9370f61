import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { answering, Cli, group, saying } from './helpers.js';

const cli = new Cli();

interface Tested {
  passed: number;
  failed: number;
  tests: { passed: boolean; differences: object[]; problems: string[] }[];
}

/** Runs one recorded event against a hook named "hook". */
async function check(test: unknown, command = 'echo "no .env" >&2; exit 2') {
  const settings = await cli.settings({ BeforeTool: group(command, { name: 'hook' }) });
  await cli.write('one.hooktest.json', typeof test === 'string' ? test : (test as object));
  const ran = await cli.run(['test', '--json', '--settings', settings]);
  const { tests } = JSON.parse(ran.stdout) as Tested;
  return { exitCode: ran.exitCode, ...tests[0] };
}

const ask = saying({ decision: 'ask', reason: 'It is production.' });
const change = saying({ hookSpecificOutput: { tool_input: { file_path: 'b' } } });

/** Starts `test --watch`. `seen` gives what it has said when its tests have run, of which a text is a part. */
function watch(...args: string[]) {
  const watching = cli.start(['test', '--watch', ...args]);
  let output = '';
  for (const stream of [watching.stdout, watching.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const seen = async (text: string) => {
    const options = { timeout: 20_000, interval: 20 };
    await vi.waitFor(() => expect(output).toContain(text), options);
    await vi.waitFor(() => expect(output).toContain('waiting for a change'), options);
    const said = output;
    output = '';
    return said;
  };
  return { watching, seen };
}

describe('test', () => {
  it('tells a question to a person from leave and from a block', async () => {
    const asking = { event: 'BeforeTool', expect: { decision: 'ask', reason: '/production/' } };
    expect(await check(asking, ask)).toMatchObject({ exitCode: 0, passed: true });
    expect(await check({ event: 'BeforeTool', expect: { decision: 'allow' } }, ask)).toMatchObject({
      differences: [{ at: 'decision', expected: 'allow', actual: 'ask' }],
    });
  });

  it.each([
    { what: 'a decision', expect: { decision: 'block' } },
    { what: 'a reason', expect: { reason: 'no .env' } },
    { what: 'a pattern of a reason', expect: { reason: '/\\.ENV$/i' } },
    { what: 'an exit code', expect: { exit: { hook: 2 } } },
    { what: 'that a hook does not run', expect: { exit: { other: null } } },
    { what: 'that nothing is said', expect: { systemMessage: null } },
  ])('passes with $what as expected', async ({ expect: expected }) => {
    expect(await check({ event: 'BeforeTool', expect: expected })).toMatchObject({
      exitCode: 0,
      passed: true,
      differences: [],
      problems: [],
    });
  });

  it.each([
    {
      what: 'the decision',
      expect: { decision: 'allow' },
      difference: { at: 'decision', expected: 'allow', actual: 'block' },
    },
    {
      what: 'the reason',
      expect: { decision: 'block', reason: '/nope/' },
      difference: { at: 'reason', expected: '/nope/', actual: 'no .env' },
    },
    {
      what: 'an exit code',
      expect: { exit: { hook: 0 } },
      difference: { at: 'exit.hook', expected: 0, actual: 2 },
    },
    {
      what: 'a hook that did not run',
      expect: { exit: { other: 0 } },
      difference: { at: 'exit.other', expected: 0, actual: null },
    },
  ])('tells of a difference in $what', async ({ expect: expected, difference }) => {
    expect(await check({ event: 'BeforeTool', expect: expected })).toMatchObject({
      exitCode: 1,
      passed: false,
      differences: [difference],
    });
  });

  it('gives up a pattern that takes for ever, and says so', async () => {
    const test = { event: 'BeforeTool', expect: { reason: '/^(a+)+$/' } };
    const tested = await check(test, `echo ${'a'.repeat(60)}b >&2; exit 2`);
    expect(tested).toMatchObject({ exitCode: 1, passed: false, differences: [] });
    expect(tested.problems).toEqual([
      expect.stringMatching(/one\.hooktest\.json: the pattern "\/\^\(a\+\)\+\$\/" took longer/u),
    ]);
  });

  it('compares what hooks changed', async () => {
    const event = 'BeforeTool';
    const same = { event, expect: { modified: { tool_input: { file_path: 'b' } } } };
    expect(await check(same, change)).toMatchObject({ passed: true });
    const other = { event, expect: { modified: { tool_input: { file_path: 'c' } } } };
    expect(await check(other, change)).toMatchObject({
      differences: [
        { at: 'modified.tool_input', expected: { file_path: 'c' }, actual: { file_path: 'b' } },
      ],
    });
  });

  it('hands the input to the hooks, and makes up what is missing', async () => {
    const command = `grep -q '"tool_name":"read_file","tool_input":{}'`;
    const test = {
      event: 'BeforeTool',
      input: { tool_name: 'read_file' },
      expect: { exit: { hook: 0 } },
    };
    expect(await check(test, command)).toMatchObject({ passed: true });
  });

  it.each([
    { what: 'no JSON', test: '{', says: /one\.hooktest\.json:1:2: not valid JSON/u },
    {
      what: 'an event that there is not',
      test: { event: 'BeforTool', expect: { decision: 'allow' } },
      says: /:1:2: event: there is no such event; did you mean 'BeforeTool'\?/u,
    },
    {
      what: 'a misspelt expectation',
      test: { event: 'BeforeTool', expect: { decison: 'allow' } },
      says: /expect\.decison: unknown key.*did you mean 'decision'\?/u,
    },
    {
      what: 'a decision that there is not',
      test: { event: 'BeforeTool', expect: { decision: 'deny' } },
      says: /expect\.decision: expected 'allow' or 'ask' or 'block' or 'stop'/u,
    },
    {
      what: 'a pattern that is none',
      test: { event: 'BeforeTool', expect: { reason: '/(/' } },
      says: /expect\.reason: expected a string, \/a regular expression\/ or null/u,
    },
    {
      what: 'nothing expected',
      test: { event: 'BeforeTool', expect: {} },
      says: /expect: nothing is expected/u,
    },
    {
      what: 'a field that the event does not have',
      test: { event: 'BeforeTool', input: { tool: 'x' }, expect: { decision: 'allow' } },
      says: /input: BeforeTool has no field "tool"/u,
    },
  ])('fails with $what, and says where', async ({ test, says }) => {
    const { exitCode, passed, problems } = await check(test);
    expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
    expect(problems?.join('\n')).toMatch(says);
  });

  it('runs all of a directory, and of the project where none is named', async () => {
    const settings = await cli.settings({ BeforeTool: group('exit 0', { name: 'hook' }) });
    const test = { event: 'BeforeTool', expect: { decision: 'allow' } };
    await cli.write('a/.hidden/x.hooktest.json', test);
    await cli.write('b/y.hooktest.json', test);
    await cli.write('node_modules/z.hooktest.json', test);
    const all = await cli.run(['test', '--settings', settings]);
    expect(all).toMatchObject({
      exitCode: 0,
      stdout:
        'ok a/.hidden/x.hooktest.json: BeforeTool\nok b/y.hooktest.json: BeforeTool\n\n2 passed, 0 failed',
    });
    const some = await cli.run(['test', 'b', 'b/y.hooktest.json', '--settings', settings]);
    expect(some.stdout).toContain('1 passed, 0 failed');
  });

  it('shows a reader what differs', async () => {
    const settings = await cli.settings({ BeforeTool: group(change, { name: 'hook' }) });
    const expected = { decision: 'block', modified: { tool_input: null } };
    await cli.write('one.hooktest.json', { event: 'BeforeTool', expect: expected });
    const { stdout, exitCode } = await cli.run(['test', '--settings', settings]);
    expect(stdout).toBe(`not ok one.hooktest.json: BeforeTool
  decision
    - expected "block"
    + actual   "allow"
  modified.tool_input
    - expected nothing
    + actual   {
    +            "file_path": "b"
    +          }

0 passed, 1 failed`);
    expect(exitCode).toBe(1);
  });

  it('says once why a hook did not run for several tests', async () => {
    await cli.userSettings(
      { BeforeTool: group('exit 2', { name: 'off' }) },
      { disabledHooks: ['off'] },
    );
    for (const name of ['one', 'two']) {
      await cli.write(`${name}.hooktest.json`, {
        event: 'BeforeTool',
        expect: { decision: 'block' },
      });
    }
    const { stdout } = await cli.run(['test']);
    expect(stdout.split('hookstack enable off')).toHaveLength(2);
    expect(stdout).toContain('  off did not run: as above');
  });

  it('says each sentence once for several tests, on stderr too', async () => {
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2\n');
    const guard = { name: 'guard', onFailure: 'deny' } as const;
    await cli.projectSettings({ BeforeTool: group('sh .llxprt/hooks/guard.sh', guard) });
    await cli.run(['trust', '--yes']);
    await cli.userSettings({ AfterTool: group('nosuchprogram', { name: 'fails' }) });
    for (const name of ['one', 'two', 'three']) {
      for (const event of ['BeforeTool', 'AfterTool']) {
        const expected = { event, expect: { decision: 'ask' } };
        await cli.write(`${name}${event}.hooktest.json`, expected);
      }
    }
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2 # changed\n');
    const { stdout, stderr } = await cli.run(['test']);
    for (const text of [stdout, stderr]) {
      expect(text.match(/nosuchprogram: command not found/gu)).toHaveLength(1);
    }
    expect(stdout.match(/it has changed since it was allowed/gu)).toHaveLength(1);
    expect(stdout.match(/guard did not run: as above/gu)).toHaveLength(2);
    expect(stderr.match(/was not started, because it has changed/gu)).toHaveLength(1);
    expect(stderr.match(/1 hook of this project is not tested.*add --trust/gu)).toHaveLength(1);
    expect((await cli.run(['test', '--trust'])).stderr).not.toContain('is not tested');
  });

  it('says why a hook did not run, and writes no null', async () => {
    const user = await cli.userSettings(
      {
        BeforeTool: [
          ...group('exit 2', { name: 'reads', matcher: '^read_' }),
          ...group('exit 2', { name: 'off' }),
        ],
      },
      { disabledHooks: ['off'] },
    );
    const exit = { reads: 2, of: 2, off: 2 };
    await cli.write('one.hooktest.json', {
      event: 'BeforeTool',
      expect: { decision: 'block', reason: 'no', exit },
    });
    const { stdout, exitCode } = await cli.run(['test']);
    expect(stdout).toContain(`  reason
    - expected "no"
    + actual   nothing
  exit.reads
    - expected 2
    + actual   did not run
`);
    expect(stdout).toContain(`
  reads did not run: its matcher "^read_" does not match write_file
  off did not run: disabled by name in ${user}; to switch it on: hookstack enable off
  of did not run: no hook of BeforeTool has this name; did you mean 'off'?

0 passed, 1 failed`);
    expect(stdout).not.toContain('null');
    expect(exitCode).toBe(1);
  });

  it('starts a persistent hook for each test, which knows nothing of the tests before', async () => {
    await cli.write('stay.mjs', answering('{ systemMessage: `event ${count}` }'));
    const command = 'node $LLXPRT_PROJECT_DIR/stay.mjs';
    const settings = await cli.settings({ BeforeTool: group(command, { persistent: true }) });
    const test = { event: 'BeforeTool', expect: { systemMessage: 'event 1' } };
    await cli.write('tests/a.hooktest.json', test);
    await cli.write('tests/b.hooktest.json', test);
    const { exitCode, stdout, stderr } = await cli.run(['test', '--settings', settings]);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    expect(stdout).toContain('2 passed, 0 failed');
    expect(stderr.match(/as ordinary ones/gu)).toHaveLength(1);
  });

  it('does not let a hook that fails in one test be off in the next', async () => {
    const hook = { name: 'hook', maxConsecutiveFailures: 1 };
    const settings = await cli.settings({ BeforeTool: group('exit 3', hook) });
    const test = { event: 'BeforeTool', expect: { exit: { hook: 3 } } };
    await cli.write('a.hooktest.json', test);
    await cli.write('b.hooktest.json', test);
    const { stdout } = await cli.run(['test', '--settings', settings]);
    expect(stdout).toContain('2 passed, 0 failed');
  });

  it('lets no name of a file and nothing in it pass for a result', async () => {
    await cli.write('a\nok forged.hooktest.json', '{\nok: forged');
    await cli.write('b\nok forged/b.hooktest.json', {});
    const { stdout, exitCode } = await cli.run(['test', '.', 'b\nok forged']);
    expect(stdout.split('\n').filter((line) => line.startsWith('ok'))).toEqual([]);
    expect(stdout).toContain('0 passed, 2 failed');
    expect(exitCode).toBe(1);
  });

  it('writes JUnit XML, in which nothing of a hook is markup', async () => {
    const reason = 'a "b" <c> & \u0001\u001b[31md\u001b[0m\uffff';
    const settings = await cli.settings({
      BeforeTool: group(saying({ decision: 'block', reason }), { name: 'hook' }),
    });
    const event = 'BeforeTool';
    await cli.write('a.hooktest.json', { event, expect: { decision: 'block' } });
    await cli.write('b & c.hooktest.json', { event, expect: { reason: 'other' } });
    await cli.write('d.hooktest.json', '{');
    const args = ['test', '--settings', settings, '--junit', 'reports/junit.xml'];
    expect(await cli.run(args)).toMatchObject({ exitCode: 1 });
    const xml = await cli.read('reports/junit.xml');
    const counts = 'tests="3" failures="1" errors="1" time="\\d+\\.\\d{3}"';
    expect(xml).toMatch(
      new RegExp(`^<\\?xml version="1.0" encoding="UTF-8"\\?>\n<testsuites ${counts}>\n`, 'u'),
    );
    expect(xml).toMatch(/<testcase name="a.hooktest.json" classname="BeforeTool" [^>]*\/>/u);
    expect(xml).toMatch(
      /<testcase name="b &amp; c.hooktest.json" [^>]*>\n +<failure message="reason: /u,
    );
    expect(xml).toContain('a \\&quot;b\\&quot; &lt;c&gt; &amp; d');
    expect(xml).toMatch(/<error message="[^"]*d\.hooktest\.json:1:2: not valid JSON/u);
    expect(xml).toMatch(/^[\P{Cc}\n]+$/u);
    expect(xml).not.toContain('\uffff');
  });

  it.each(['junit.xml', 'reports/junit.xml'])(
    'refuses %s where a link leads out of the project',
    async (file) => {
      await cli.write('one.hooktest.json', { event: 'BeforeTool', expect: {} });
      const victim = await cli.write(join(cli.home, 'junit.xml'), 'mine');
      const link = file === 'junit.xml' ? [victim, file] : [cli.home, 'reports'];
      await symlink(link[0] ?? '', join(cli.project, link[1] ?? ''));
      const { exitCode, stderr } = await cli.run(['test', '--junit', file]);
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringContaining('a link leads to a place outside of the project'),
      });
      expect(await readFile(victim, 'utf8')).toBe('mine');
    },
  );

  it('refuses a report that cannot be written', async () => {
    await cli.write('a.hooktest.json', { event: 'BeforeTool', expect: { decision: 'allow' } });
    await cli.write('file', '');
    const { exitCode, stderr } = await cli.run(['test', '--junit', 'file/junit.xml']);
    expect(stderr).toContain('--junit file/junit.xml cannot be written (');
    expect(exitCode).toBe(2);
  });

  it('writes with -u what was seen, and touches nothing else', async () => {
    const settings = await cli.settings({
      BeforeTool: group('echo /no/ >&2; exit 2', { name: 'a.b' }),
    });
    const test = `// Why.
{
  "event": "BeforeTool", // the event
  "expect": {
    "exit": { "a.b": 0 }, // clean
    /* the verdict */ "decision": "allow",
    "reason": null,
  },
}
`;
    await cli.write('one.hooktest.json', test);
    const args = ['test', '--settings', settings, '-u'];
    const first = await cli.run(args);
    expect(first.stdout).toContain('updated one.hooktest.json: BeforeTool\n  decision\n');
    expect(first.stdout).toContain('\n1 passed (1 updated), 0 failed');
    expect(first.exitCode).toBe(0);
    expect(await cli.read('one.hooktest.json')).toBe(
      test
        .replace('"a.b": 0', '"a.b": 2')
        .replace('"allow"', '"block"')
        .replace('null', () => '"/^/no/$/"'),
    );
    const second = await cli.run(args);
    expect(second.stdout).toContain('1 passed (0 updated), 0 failed');
  });

  it('does not write with -u where the change would not count', async () => {
    const settings = await cli.settings({ BeforeTool: group('exit 2', { name: 'hook' }) });
    const test = '{"event": "BeforeTool", "expect": {"decision": "stop", "decision": "allow"}}';
    await cli.write('one.hooktest.json', test);
    const { exitCode, stdout } = await cli.run(['test', '--settings', settings, '-u']);
    expect(stdout).toContain('not updated: a key is written twice');
    expect(exitCode).toBe(1);
    expect(await cli.read('one.hooktest.json')).toBe(test);
  });

  it('watches with --watch: tests, scripts and settings', async () => {
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2\n');
    const hook = { name: 'hook' };
    const settings = await cli.settings({ BeforeTool: group('sh .llxprt/hooks/guard.sh', hook) });
    await cli.write('one.hooktest.json', { event: 'BeforeTool', expect: { decision: 'block' } });
    const { watching, seen } = watch('--settings', settings);
    await seen('1 passed, 0 failed');
    await cli.write('.llxprt/hooks/guard.sh', 'exit 0 # changed\n');
    await seen('0 passed, 1 failed');
    await cli.write('one.hooktest.json', { event: 'BeforeTool', expect: { decision: 'allow' } });
    await seen('1 passed, 0 failed');
    await cli.settings({ BeforeTool: group('exit 2', hook) });
    await seen('0 passed, 1 failed');
    await cli.write(settings, '{');
    await seen('error: ');
    watching.kill('SIGINT');
    expect(await watching).toMatchObject({ signal: 'SIGINT' });
  });

  it('says with --watch that a changed hook is not tested, and names --trust', async () => {
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2\n');
    await cli.projectSettings({ BeforeTool: group('sh .llxprt/hooks/guard.sh', { name: 'hook' }) });
    await cli.write('one.hooktest.json', { event: 'BeforeTool', expect: { decision: 'block' } });
    await cli.run(['trust', '--yes']);
    const { watching, seen } = watch();
    expect(await seen('1 passed, 0 failed')).not.toContain('--trust');
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2 # changed\n');
    const output = await seen('0 passed, 1 failed');
    expect(output).toContain('1 hook of this project is not tested');
    expect(output).toContain('add --trust');
    watching.kill('SIGINT');
    await watching;
    const trusting = watch('--trust');
    expect(await trusting.seen('1 passed, 0 failed')).not.toContain('not tested');
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2 # changed again\n');
    expect(await trusting.seen('1 passed, 0 failed')).not.toContain('not tested');
    trusting.watching.kill('SIGINT');
    await trusting.watching;
  });

  it('takes no --json and no -u beside --watch', async () => {
    expect(await cli.run(['test', '--watch', '-u'])).toMatchObject({ exitCode: 2 });
    expect(await cli.run(['test', '--watch', '--json'])).toMatchObject({ exitCode: 2 });
  });

  it('is wrong usage where there is nothing to run', async () => {
    const { exitCode, stderr } = await cli.run(['test']);
    expect(stderr).toContain('There is no *.hooktest.json in ');
    expect(exitCode).toBe(2);
    expect(await cli.run(['test', 'missing'])).toMatchObject({ exitCode: 2 });
  });
});
