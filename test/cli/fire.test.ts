import { describe, expect, it } from 'vitest';
import { HookEventName } from '../../src/protocol/types.js';
import { record as recordSpan } from '../trace/helpers.js';
import { answering, Cli, group, keepingInput, saying } from './helpers.js';

const cli = new Cli();

/** Fires an event at a hook that keeps what it read, and gives that back. */
async function inputOf(event: string, args: readonly string[], input = ''): Promise<object> {
  const settings = await cli.settings({ [event]: group(keepingInput('seen.json')) });
  const fired = await cli.run(['fire', event, '--settings', settings, ...args], { input });
  expect(fired).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(await cli.read('seen.json')) as object;
}

async function fireJson(event: string, command: string, ...args: string[]) {
  const settings = await cli.settings({ [event]: group(command, { name: 'hook' }) });
  const fired = await cli.run(['fire', event, '--json', '--settings', settings, ...args]);
  return { ...fired, report: JSON.parse(fired.stdout) as object };
}

describe('the verdict of fire', () => {
  it('is proceed, with exit code 0, when no hook is there', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['fire', 'BeforeTool', '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      event: 'BeforeTool',
      proceed: true,
      blocked: false,
      stopped: false,
      asks: false,
      reason: null,
      stopReason: null,
      decidedBy: null,
      systemMessage: null,
      suppressOutput: null,
      hookSpecificOutput: null,
      success: true,
      results: [],
      notRun: [],
    });
    expect(stderr).toBe(
      'note: hooks are off for agents, as no settings file that counts says "enableHooks": true; here they run anyway',
    );
  });

  it.each([
    ['BeforeTool', true, 'Verdict: a person is to be asked'],
    ['AfterTool', false, 'Verdict: proceed'],
  ])('says at %s whether a hook that asks has an effect', async (event, asks, verdict) => {
    const { report } = await fireJson(event, saying({ decision: 'ask' }));
    expect(report).toMatchObject({ proceed: true, asks });
    const settings = await cli.settings({ [event]: group(saying({ decision: 'ask' })) });
    const { stdout } = await cli.run(['fire', event, '--settings', settings]);
    expect(stdout).toContain(verdict);
  });

  it('is proceed when hooks allow, with all that they said', async () => {
    const output = {
      decision: 'allow',
      reason: 'fine',
      systemMessage: 'be careful',
      suppressOutput: true,
      hookSpecificOutput: { tool_input: { content: 'x' } },
    };
    const { exitCode, stderr, report } = await fireJson('BeforeTool', saying(output));
    expect(exitCode).toBe(0);
    expect(stderr).toBe('');
    expect(report).toEqual({
      event: 'BeforeTool',
      proceed: true,
      blocked: false,
      stopped: false,
      asks: false,
      reason: 'fine',
      stopReason: null,
      decidedBy: null,
      systemMessage: 'be careful',
      suppressOutput: true,
      hookSpecificOutput: { tool_input: { content: 'x' } },
      success: true,
      results: [
        {
          hook: 'hook',
          success: true,
          exitCode: 0,
          signal: null,
          durationMs: expect.any(Number) as number,
          stdout: JSON.stringify(output),
          stderr: '',
          output,
          error: null,
          why: null,
          matched: null,
        },
      ],
    });
  });

  it('is blocked, with exit code 2', async () => {
    const { exitCode, report } = await fireJson('BeforeTool', 'echo no >&2; exit 2');
    expect(exitCode).toBe(2);
    const verdict = { proceed: false, blocked: true, stopped: false, reason: 'no' };
    expect(report).toMatchObject({ ...verdict, decidedBy: ['hook'] });
  });

  it('gives the reason of a denied permission', async () => {
    const hookSpecificOutput = { permissionDecision: 'deny', permissionDecisionReason: 'secret' };
    const { exitCode, report } = await fireJson('BeforeTool', saying({ hookSpecificOutput }));
    expect(exitCode).toBe(2);
    expect(report).toMatchObject({ blocked: true, reason: 'secret' });
  });

  it('is stopped, with exit code 3, even beside a block', async () => {
    const output = { continue: false, stopReason: 'enough', decision: 'block', reason: 'no' };
    const { exitCode, report } = await fireJson('BeforeTool', saying(output));
    expect(exitCode).toBe(3);
    expect(report).toMatchObject({ proceed: false, blocked: true, stopped: true });
    expect(report).toMatchObject({ stopReason: 'enough' });
  });

  it.each(['AfterTool', 'SessionStart'])(
    'of %s tells that a block has no effect',
    async (event) => {
      const settings = await cli.settings({ [event]: group(saying({ decision: 'block' })) });
      const { exitCode, stdout } = await cli.run(['fire', event, '--settings', settings]);
      expect(exitCode).toBe(2);
      expect(stdout).toContain('Verdict: blocked: Blocked by hook');
      expect(stdout).toContain(`A block of ${event} has no effect on the operation`);
    },
  );

  it('keeps a failed hook apart from the verdict', async () => {
    const { exitCode, stderr, report } = await fireJson('BeforeTool', 'echo oops >&2; exit 3');
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({
      proceed: true,
      success: false,
      results: [{ success: false, exitCode: 3, stderr: 'oops\n', error: null }],
    });
    expect(stderr).toMatch(/^warning: .*"hook".*$/u);
  });

  it('tells the signal that ended a hook', async () => {
    const { report } = await fireJson('BeforeTool', 'kill -KILL $$');
    expect(report).toMatchObject({ success: false, results: [{ signal: 'SIGKILL' }] });
  });

  it('tells which hook took too long', async () => {
    const settings = await cli.settings({ BeforeTool: group('sleep 60', { timeout: 50 }) });
    const { exitCode, stdout } = await cli.run(['fire', 'BeforeTool', '--settings', settings]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('timed out after 50 ms');
    expect(stdout).toContain('why: make it faster, or raise its "timeout"');
  });
});

describe('the report of fire', () => {
  it('shows each hook and the verdict', async () => {
    const settings = await cli.settings({
      BeforeTool: [
        ...group(saying({ decision: 'allow', systemMessage: 'hello' }), { name: 'greeter' }),
        ...group('echo one >&2; echo two >&2; exit 2', { name: 'guard' }),
      ],
    });
    const { exitCode, stdout } = await cli.run(['fire', 'BeforeTool', '--settings', settings]);
    expect(exitCode).toBe(2);
    expect(stdout.replaceAll(/\d+ ms/gu, '5 ms')).toBe(`greeter: exit code 0, 5 ms, decision allow
  stdout: {"decision":"allow","systemMessage":"hello"}
guard: exit code 2, 5 ms, decision deny
  stderr: one
    two

Verdict: blocked: one two
  decided by: guard
  systemMessage: hello`);
  });

  it('says when no hook ran', async () => {
    const settings = await cli.settings({ BeforeTool: group('exit 2', { matcher: 'read_file' }) });
    const { exitCode, stdout } = await cli.run(['fire', 'BeforeTool', '--settings', settings]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`No hook ran for BeforeTool of write_file: none matches.
  exit 2: its matcher "read_file" does not match write_file
More: hookstack explain BeforeTool --tool write_file

Verdict: proceed`);
  });

  it.each([
    {
      what: 'none is there',
      hooks: { SessionStart: [] },
      says: 'No hook ran for SessionStart: none is configured for SessionStart.\nMore: hookstack explain SessionStart\n',
    },
    {
      what: 'all are off',
      hooks: { SessionStart: group('mine', { name: 'off' }) },
      says: 'No hook ran for SessionStart: none is on and allowed.\n  off: disabled by name in USER; to switch it on: hookstack enable off\nMore:',
    },
    {
      what: 'some are off, and some do not match',
      hooks: {
        SessionStart: [
          ...group('mine', { name: 'off' }),
          {
            dialect: 'claude' as const,
            matcher: 'resume',
            hooks: [{ type: 'command' as const, command: 'theirs' }],
          },
        ],
      },
      says: 'No hook ran for SessionStart: none is on, allowed and matching.\n  off: disabled by name in USER; to switch it on: hookstack enable off\n  theirs: its matcher "resume" does not match startup\n',
    },
  ])('says why no hook ran: $what', async ({ hooks, says }) => {
    const user = await cli.userSettings(hooks, { disabledHooks: ['off'] });
    const { stdout } = await cli.run(['fire', 'SessionStart']);
    expect(stdout).toContain(says.replace('USER', user));
    const fired = await cli.run(['fire', 'SessionStart', '--json']);
    const { notRun } = JSON.parse(fired.stdout) as { notRun: { hook: string; reason: string }[] };
    const explained = await cli.run(['explain', 'SessionStart', '--json']);
    const reasons = JSON.parse(explained.stdout) as { hooks: typeof notRun };
    expect(notRun).toEqual(reasons.hooks.map(({ hook, reason }) => ({ hook, reason })));
  });

  it('says where a hook failed, and what it was not given', async () => {
    const script = await cli.write('guard.py', 'import os\nos.environ["SHOP_TOKEN"]\n');
    await cli.userSettings(
      { BeforeTool: group(`python3 ${script}`, { name: 'guard' }) },
      { hookEnvironment: { redact: ['@secrets'] } },
    );
    const env = { SHOP_TOKEN: 'hush-hush' };
    const why = `KeyError: 'SHOP_TOKEN' (${script}:2); SHOP_TOKEN is withheld from hooks: name it in "allow" of "hookEnvironment" in your settings`;
    const { stdout, stderr } = await cli.run(['fire', 'BeforeTool', '--trace', 't.jsonl'], { env });
    expect(stderr).toBe(
      `warning: The hook "guard" exited with code 1; the operation goes on without it (BeforeTool; ${why})`,
    );
    expect(stdout).toContain(`\n  why: ${why}\n`);
    const traced = await cli.run(['trace', 't.jsonl']);
    expect(traced.stdout).toContain(`exited with code 1: KeyError: 'SHOP_TOKEN' (${script}:2)`);
  });

  it('passes on no control characters of a hook', async () => {
    const command = String.raw`printf '\033[2Jgone\007\n' >&2; exit 2`;
    const settings = await cli.settings({ BeforeTool: group(command, { name: '\u001b[31mred' }) });
    const { stdout } = await cli.run(['fire', 'BeforeTool', '--settings', settings]);
    expect(stdout).toContain('Verdict: blocked: gone');
    expect(stdout).toMatch(/^[\P{Cc}\n]+$/u);
  });
});

describe('what fire makes up', () => {
  const request = {
    model: 'gemini-2.5-flash',
    messages: [{ role: 'user', content: 'Hello' }],
  };
  it.each<{ event: HookEventName; fields: object }>([
    { event: HookEventName.BeforeTool, fields: { tool_name: 'write_file', tool_input: {} } },
    {
      event: HookEventName.AfterTool,
      fields: { tool_input: {}, tool_response: { llmContent: '', returnDisplay: '' } },
    },
    { event: HookEventName.BeforeModel, fields: { llm_request: request } },
    {
      event: HookEventName.AfterModel,
      fields: { llm_request: request, llm_response: { text: 'Hello' } },
    },
    { event: HookEventName.BeforeToolSelection, fields: { llm_request: request } },
    { event: HookEventName.BeforeAgent, fields: { prompt: 'Hello' } },
    {
      event: HookEventName.AfterAgent,
      fields: { prompt: 'Hello', prompt_response: '', stop_hook_active: false },
    },
    { event: HookEventName.SessionStart, fields: { source: 'startup' } },
    { event: HookEventName.SessionEnd, fields: { reason: 'exit' } },
    { event: HookEventName.PreCompress, fields: { trigger: 'manual' } },
    {
      event: HookEventName.Notification,
      fields: { notification_type: 'Other', message: 'Hello', details: {} },
    },
  ])('for $event', async ({ event, fields }) => {
    expect(await inputOf(event, [])).toMatchObject({
      hook_event_name: event,
      cwd: cli.project,
      ...fields,
    });
  });
});

describe('what fire is given', () => {
  it('is the tool and its input', async () => {
    const args = ['--tool', 'read_file', '--input', '{"file_path":"a"}'];
    expect(await inputOf('BeforeTool', args)).toMatchObject({
      tool_name: 'read_file',
      tool_input: { file_path: 'a' },
    });
  });

  it('is read from a file with @', async () => {
    await cli.write('result.json', { llmContent: 'text', returnDisplay: 'shown' });
    expect(await inputOf('AfterTool', ['--response', '@result.json'])).toMatchObject({
      tool_response: { llmContent: 'text', returnDisplay: 'shown' },
    });
  });

  it('is read from stdin with -', async () => {
    const request = JSON.stringify({ model: 'other', contents: 'from stdin' });
    expect(await inputOf('BeforeModel', ['--request', '-'], request)).toMatchObject({
      llm_request: { model: 'other', messages: [{ role: 'user', content: 'from stdin' }] },
    });
  });

  it('is a request of which only a part is given, and a prompt', async () => {
    const args = ['--request', '{"config":{"temperature":0.5}}', '--prompt', 'What now?'];
    expect(await inputOf('BeforeToolSelection', args)).toMatchObject({
      llm_request: {
        model: 'gemini-2.5-flash',
        messages: [{ role: 'user', content: 'What now?' }],
        config: { temperature: 0.5 },
      },
    });
  });

  it('is a response of the SDK', async () => {
    const response = { candidates: [{ content: { role: 'model', parts: [{ text: '42' }] } }] };
    expect(await inputOf('AfterModel', ['--response', JSON.stringify(response)])).toMatchObject({
      llm_response: { text: '42' },
    });
  });

  it('is the text of AfterAgent, as it stands', async () => {
    const args = [
      '--prompt',
      'Hi',
      '--response',
      '{"not": parsed',
      '--input',
      '{"stop_hook_active":true}',
    ];
    expect(await inputOf('AfterAgent', args)).toMatchObject({
      prompt: 'Hi',
      prompt_response: '{"not": parsed',
      stop_hook_active: true,
    });
  });

  it.each([
    { event: 'SessionStart', fields: { source: 'resume' } },
    { event: 'SessionEnd', fields: { reason: 'logout' } },
    { event: 'PreCompress', fields: { trigger: 'auto' } },
    {
      event: 'Notification',
      fields: { notification_type: 'Idle', message: 'm', details: { a: 1 } },
    },
  ])('are the fields of $event', async ({ event, fields }) => {
    expect(await inputOf(event, ['--input', JSON.stringify(fields)])).toMatchObject(fields);
  });

  it('is the directory that the hooks run in', async () => {
    await cli.write('sub/marker', '');
    const settings = await cli.settings({ SessionStart: group('ls') });
    const { stdout } = await cli.run([
      'fire',
      'SessionStart',
      '--settings',
      settings,
      '--cwd',
      'sub',
    ]);
    expect(stdout).toContain('stdout: marker');
  });

  it('is told when it has no effect', async () => {
    const { exitCode, stderr } = await cli.run([
      'fire',
      'SessionStart',
      '--tool',
      'x',
      '--settings',
      await cli.settings({}),
    ]);
    expect(stderr).toBe('note: --tool has no effect on SessionStart');
    expect(exitCode).toBe(0);
  });
});

describe('fire refuses, with exit code 1,', () => {
  it.each([
    { args: ['beforetoll'], says: `There is no event "beforetoll"; did you mean 'BeforeTool'?` },
    { args: ['\u001b[31mred\u0007'], says: String.raw`no event "\x1b[31mred\x07"` },
    { args: ['BeforeTool', '--input', '{'], says: '--input is not JSON (' },
    {
      args: ['BeforeTool', '--input', '[]'],
      says: 'of BeforeTool: tool_input: expected an object',
    },
    {
      args: ['BeforeTool', '--input', 'null'],
      says: 'of BeforeTool: tool_input: expected an object',
    },
    {
      args: ['BeforeTool', '--input', '@missing'],
      says: '--input @missing: the file cannot be read (ENOENT',
    },
    {
      args: ['BeforeModel', '--request', '{"model":5}'],
      says: 'llm_request.model: expected a string',
    },
    {
      args: ['AfterModel', '--response', '{"candidates":5}'],
      says: 'llm_response.candidates: expected an array',
    },
    {
      args: ['AfterModel', '--response', '{"candidates":[{"content":{"parts":["a"]}}]}'],
      says: 'llm_response.candidates: expected an array of candidates of the SDK, whose parts are',
    },
    {
      args: ['AfterTool', '--input', '-', '--response', '-'],
      says: 'Only one option can read stdin, and --input and --response want to',
    },
    {
      args: ['SessionStart', '--input', '{"sorce":"x"}'],
      says: `SessionStart has no field "sorce"; did you mean 'source'?`,
    },
    {
      args: ['SessionStart', '--input', '{"source":"x"}'],
      says: 'of SessionStart: source: expected',
    },
    {
      args: ['SessionStart', '--input', '5'],
      says: '--input of SessionStart must be a JSON object',
    },
    { args: ['BeforeTool', '--settings', 'missing'], says: 'there is no such file' },
    { args: ['BeforeTool', '--cwd', 'missing'], says: '--cwd missing cannot be used' },
  ])('$args', async ({ args, says }) => {
    const { exitCode, stdout, stderr } = await cli.run(['fire', ...args]);
    expect(stderr).toContain(says);
    expect(stderr.split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(exitCode).toBe(1);
  });
});

it('fire puts a request to hooks of which only a part can be read', async () => {
  const settings = await cli.settings({ BeforeModel: group('cat >seen') });
  const request = '{"contents":[{"parts":5},{"role":"user","parts":[{"text":"hi"}]}]}';
  const args = ['fire', 'BeforeModel', '--request', request, '--settings', settings];
  expect((await cli.run(args)).exitCode).toBe(0);
  expect(JSON.parse(await cli.read('seen'))).toMatchObject({
    llm_request: { messages: [{ role: 'user', content: 'hi' }] },
  });
});

describe('trust, in fire', () => {
  it('is needed for the hooks of the project', async () => {
    await cli.projectSettings({ BeforeTool: [...group('exit 2'), ...group('exit 0')] });
    const skipped = await cli.run(['fire', 'BeforeTool']);
    expect(skipped.exitCode).toBe(0);
    expect(skipped.stderr).toBe(
      'warning: 2 hooks of this project skipped until you allow them; to see and allow them, run in the project: hookstack trust',
    );
    expect(await cli.run(['fire', 'BeforeTool', '--trust'])).toMatchObject({
      exitCode: 2,
      stderr: '',
    });
    const env = { HOOKSTACK_TRUST_WORKSPACE: 'true' };
    expect(await cli.run(['fire', 'BeforeTool'], { env })).toMatchObject({
      exitCode: 2,
      stderr: '',
    });
  });

  it('is not needed for the hooks of the user', async () => {
    await cli.userSettings({ BeforeTool: group('exit 2') });
    expect(await cli.run(['fire', 'BeforeTool'])).toMatchObject({ exitCode: 2, stderr: '' });
  });
});

it('fire runs hooks that the settings have switched off as a whole', async () => {
  const settings = await cli.settings({ BeforeTool: group('exit 2') }, { enableHooks: false });
  const { exitCode, stderr } = await cli.run(['fire', 'BeforeTool', '--settings', settings]);
  expect(exitCode).toBe(2);
  expect(stderr).toBe(
    `note: hooks are off for agents, as enableHooks is false in ${settings}; here they run anyway`,
  );
});

describe('fire of a persistent hook', () => {
  it('starts it for one event, and keeps it for repeated ones', async () => {
    await cli.write('stay.mjs', answering('{ systemMessage: `event ${count}` }'));
    const command = 'node $LLXPRT_PROJECT_DIR/stay.mjs';
    await cli.userSettings({ BeforeTool: group(command, { persistent: true }) });
    const fire = async (...args: string[]) => {
      const told = await cli.run(['fire', 'BeforeTool', ...args, '--trace', 'trace.jsonl']);
      const isOrdinary = told.stderr.includes('for one event alone, as ordinary ones ("node $');
      return [/systemMessage: (.*)/u.exec(told.stdout)?.[1], isOrdinary];
    };
    expect(await fire()).toEqual(['event 1', true]);
    expect(await cli.read('trace.jsonl')).not.toContain('"process"');
    expect(await fire('--repeat', '3')).toEqual(['event 3', false]);
    expect(await cli.read('trace.jsonl')).toContain('"process":"kept"');
  });
});

describe('fire --repeat', () => {
  it('tells how long the event took, and the last verdict', async () => {
    const command = 'echo x >> "$LLXPRT_PROJECT_DIR/runs"; exit 2';
    const { exitCode, report } = await fireJson('BeforeTool', command, '--repeat', '3');
    expect(exitCode).toBe(2);
    expect((await cli.read('runs')).length).toBe(6);
    const { latencyMs } = report as { latencyMs: Record<string, number> };
    const { count, min, q1, median, q3, max } = latencyMs;
    expect(count).toBe(3);
    const quartiles = [min, q1, median, q3, max];
    expect(quartiles).toEqual(quartiles.toSorted((a = 0, b = 0) => a - b));
    expect(min).toBeGreaterThan(0);
  });

  it('tells a reader the quartiles', async () => {
    const { stdout } = await cli.run(['fire', 'BeforeTool', '--repeat', '2']);
    expect(stdout).toMatch(
      /\nFired 2 times: min [\d.]+ ms, quartiles [\d.]+, [\d.]+ and [\d.]+ ms, max [\d.]+ ms$/u,
    );
  });
});

describe('fire --explain', () => {
  it('says which hooks run and why not the others, with the verdict', async () => {
    const hooks = [
      ...group('exit 2', { name: 'asked' }),
      ...group('true', { name: 'idle', matcher: '^read_' }),
    ];
    const settings = await cli.settings({ BeforeTool: hooks });
    const args = ['fire', 'BeforeTool', '--explain', '--settings', settings];
    const { stdout, exitCode } = await cli.run(args);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(
      /^BeforeTool of write_file: 1 hook runs\..*1\. asked.*Verdict: blocked/su,
    );
    expect(stdout).toContain('- idle: its matcher "^read_" does not match write_file');
    const json = await cli.run([...args, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      blocked: true,
      explanation: { tool: 'write_file', hooks: [{ hook: 'asked' }, { hook: 'idle' }] },
    });
  });
});

describe('fire --record', () => {
  it('writes the event with the verdict', async () => {
    const output = { hookSpecificOutput: { tool_input: { content: 'b' }, additionalContext: 'c' } };
    const input = ['--input', '{"content": "a"}', '--record', 'x.hooktest.json'];
    const { stderr } = await fireJson('BeforeTool', saying(output), ...input);
    expect(stderr).toBe('recorded: x.hooktest.json');
    expect(JSON.parse(await cli.read('x.hooktest.json'))).toEqual({
      event: 'BeforeTool',
      input: { tool_name: 'write_file', tool_input: { content: 'a' } },
      expect: {
        decision: 'allow',
        exit: { hook: 0 },
        modified: { tool_input: { content: 'b' } },
      },
    });
  });

  it('makes the folders of its file', async () => {
    const file = '.llxprt/tests/x.hooktest.json';
    const { stderr } = await fireJson('BeforeTool', 'true', '--record', file);
    expect(stderr).toBe(`recorded: ${file}`);
    expect(JSON.parse(await cli.read(file))).toMatchObject({ event: 'BeforeTool' });
  });

  it('keeps a reason that looks like a pattern', async () => {
    const record = ['--record', 'x.hooktest.json'];
    await fireJson('BeforeTool', 'echo "/etc/(x)/" >&2; exit 2', ...record);
    const settings = ['--settings', `${cli.home}/../named.json`];
    expect(await cli.run(['test', ...settings])).toMatchObject({ exitCode: 0 });
  });

  it.each([
    { file: 'x.json', says: '--record x.json must end in .hooktest.json' },
    { file: 'there.hooktest.json/x.hooktest.json', says: 'cannot be written (EEXIST' },
    { file: 'there.hooktest.json', says: 'cannot be written (EEXIST' },
  ])('refuses $file', async ({ file, says }) => {
    await cli.write('there.hooktest.json', 'mine');
    const { exitCode, stderr } = await cli.run(['fire', 'BeforeTool', '--record', file]);
    expect(stderr).toContain(says);
    expect(exitCode).toBe(1);
    expect(await cli.read('there.hooktest.json')).toBe('mine');
  });
});

const recordedInput = { tool_name: 'write_file', tool_input: { content: 'x' } };
const recordedEvent = {
  kind: 'event' as const,
  name: 'BeforeTool',
  event: 'BeforeTool',
  input: JSON.stringify(recordedInput),
};

const toolOf = (name: string) => ({ input: JSON.stringify({ ...recordedInput, tool_name: name }) });

function writeTrace(...spans: readonly object[]): Promise<string> {
  return cli.write('t.jsonl', spans.map((span) => JSON.stringify(span)).join('\n'));
}

describe('fire --from-trace', () => {
  it.each([
    ['AfterTool', ['--response', '{"llmContent": "x", "returnDisplay": "y"}']],
    ['BeforeModel', ['--request', '{"config": {"temperature": 0.5}}']],
    ['AfterModel', ['--prompt', 'Why?']],
    ['BeforeAgent', ['--prompt', 'Why?']],
    ['AfterAgent', ['--prompt', 'Why?', '--response', 'So.']],
    ['SessionStart', ['--input', '{"source": "clear"}']],
    ['Notification', ['--input', '{"message": "m", "details": {"a": 1}}']],
  ])('lets hooks of %s read what they have read', async (name, args) => {
    const common = { session_id: '', timestamp: '' };
    const traced = await inputOf(name, [...args, '--trace', 't.jsonl']);
    const replayed = await inputOf(name, ['--from-trace', 't.jsonl']);
    expect({ ...replayed, ...common }).toEqual({ ...traced, ...common });
  });

  it('takes the last blocked event, else the last, or the one around a span', async () => {
    const spans = [
      recordSpan({ ...recordedEvent, ...toolOf('first'), id: 'e1', verdict: 'block' }),
      recordSpan({ ...recordedEvent, ...toolOf('second'), id: 'e2', verdict: 'block' }),
      recordSpan({ id: 'h3', parent: 'e3' }),
      recordSpan({ ...recordedEvent, ...toolOf('third'), id: 'e3' }),
    ];
    const settings = await cli.settings({ BeforeTool: group(keepingInput('seen.json')) });
    const toolFired = async (...args: string[]) => {
      await cli.run(['fire', '--from-trace', 't.jsonl', '--settings', settings, ...args]);
      return (JSON.parse(await cli.read('seen.json')) as { tool_name: string }).tool_name;
    };
    await writeTrace(...spans);
    expect(await toolFired()).toBe('second');
    expect(await toolFired('BeforeTool', '--span', 'e1')).toBe('first');
    expect(await toolFired('--span', 'h3')).toBe('third');
    await writeTrace(...spans.slice(2));
    expect(await toolFired()).toBe('third');
  });

  it('says what was masked', async () => {
    const settings = await cli.settings({ BeforeTool: group('true') });
    const input = JSON.stringify({
      ...recordedInput,
      tool_input: { a: '[SHOP_TOKEN] [1] [NAME]' },
    });
    await writeTrace(recordSpan({ ...recordedEvent, input }));
    const fired = await cli.run(['fire', '--from-trace', 't.jsonl', '--settings', settings]);
    expect(fired).toMatchObject({
      exitCode: 0,
      stderr:
        'note: the trace has [SHOP_TOKEN] in place of what was masked or left out; a hook that looks at it may decide otherwise',
    });
  });

  it('refuses an input that was cut', async () => {
    const input = JSON.stringify({ content: 'x'.repeat(20_000) });
    const settings = ['--settings', await cli.settings({ BeforeTool: group('true') })];
    await cli.run(['fire', 'BeforeTool', '--input', input, '--trace', 't.jsonl', ...settings]);
    const { exitCode, stderr } = await cli.run(['fire', '--from-trace', 't.jsonl', ...settings]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the trace holds only the beginning of its input');
  });

  it.each([
    { args: ['--span', 'none'], says: 'holds no span none' },
    { args: ['--span', 'lost'], says: 'the span lost is a hook, and part of no event' },
    { args: ['AfterTool'], says: 'is a BeforeTool and no AfterTool' },
    { args: ['--tool', 'x'], says: '--tool cannot be given with --from-trace' },
    { args: ['--span', 'empty'], says: 'the event empty has no input' },
    { args: ['--span', 'odd'], says: 'the event odd has no input that could be fired again' },
  ])('refuses $args', async ({ args, says }) => {
    await writeTrace(
      recordSpan({ id: 'lost', parent: 'gone' }),
      recordSpan({ ...recordedEvent, id: 'empty', input: '' }),
      recordSpan({
        ...recordedEvent,
        id: 'odd',
        event: 'BeforeModel',
        input: '{"llm_request": {"messages": [null]}}',
      }),
      recordSpan(recordedEvent),
    );
    const { exitCode, stderr } = await cli.run(['fire', '--from-trace', 't.jsonl', ...args]);
    expect(stderr).toContain(says);
    expect(exitCode).toBe(1);
  });

  it('refuses a span without a trace, and a trace without events', async () => {
    await writeTrace(recordSpan());
    expect((await cli.run(['fire', '--from-trace', 't.jsonl'])).stderr).toContain('holds no event');
    const { stderr } = await cli.run(['fire', 'BeforeTool', '--span', 'x']);
    expect(stderr).toContain('--span needs --from-trace FILE');
  });
});
