import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startRecordedModel } from '../agent/recordedServer.js';
import { answer, Cli, group, keepingInput, parseLines, saying, toolCall } from './helpers.js';

const cli = new Cli();
const writeHaiku = toolCall('write_file', { file_path: 'haiku.txt', content: 'An old pond' });

interface RunReport {
  readonly sessionId: string;
  readonly stopped: { readonly event: string; readonly reason: string } | null;
  readonly modelCalls: readonly { readonly request: { readonly contents: unknown } }[];
  readonly hooks: readonly object[];
  readonly [field: string]: unknown;
}

async function runJson(args: readonly string[]) {
  const { exitCode, stdout, stderr } = await cli.run([
    'run',
    'Go',
    '--output-format',
    'json',
    ...args,
  ]);
  return { exitCode, stderr, report: JSON.parse(stdout) as RunReport };
}

describe('run, as text,', () => {
  it('writes the answer to stdout, ending with a newline, and what tools do to stderr', async () => {
    const responses = await cli.record(
      answer('I will ', 'write it.', writeHaiku),
      answer('\n', 'Written.'),
    );
    const { stdout, stderr, exitCode } = await cli.start(['run', 'Go', '--responses', responses], {
      stripFinalNewline: false,
    });
    expect(stdout).toBe('I will write it.\nWritten.\n');
    expect(stderr).toBe(
      'tool: write_file {"file_path":"haiku.txt","content":"An old pond"}\ndone: write_file: Created haiku.txt\n',
    );
    expect(exitCode).toBe(0);
    expect(await cli.read('haiku.txt')).toBe('An old pond');
  });

  it('tells in short of a block, of a failure, and of a failed hook', async () => {
    const responses = await cli.record(
      answer(writeHaiku, toolCall('read_file', { file_path: 'missing' })),
      answer('Sorry.'),
    );
    const settings = await cli.settings({
      BeforeTool: group('echo not; echo "no\u0007\nhaikus" >&2; exit 2', { matcher: 'write' }),
      AfterTool: group('exit 1', { name: 'broken' }),
    });
    const args = ['run', 'Go', '--responses', responses, '--settings', settings];
    const { stdout, stderr, exitCode } = await cli.run(args);
    expect(stdout).toBe('Sorry.');
    expect(exitCode).toBe(0);
    const lines = stderr.split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^blocked: write_file by .*: no haikus$/u));
    expect(lines).toContainEqual(expect.stringMatching(/^failed: read_file: .*missing/u));
    expect(lines).toContainEqual(expect.stringMatching(/^warning: .*"broken"/u));
    expect(lines).toHaveLength(5);
  });

  it('shows all that a hook says to the user, whatever the length of its command', async () => {
    const settings = await cli.userSettings({
      BeforeAgent: [
        {
          dialect: 'claude',
          hooks: [
            {
              type: 'command',
              command: `${saying({ systemMessage: `Mind the ${'very '.repeat(80)}wide gap.` })} # ${'x'.repeat(300)}`,
            },
          ],
        },
      ],
    });
    const responses = await cli.record(answer('Done.'));
    const args = ['run', 'Go', '--responses', responses, '--settings', settings];
    const { stderr } = await cli.run(args);
    expect(stderr).toMatch(
      /^warning: Hook "cat .{0,60}…" \(BeforeAgent\): says: Mind the .* wide gap\.$/u,
    );
  });

  it.each(['SessionStart', 'SessionEnd', 'Notification'])(
    'shows why a hook of %s exits with 2',
    async (event) => {
      const settings = await cli.settings({
        [event]: group('echo "No network." >&2; exit 2', { name: 'mine' }),
      });
      const responses = await cli.record(answer('Done.'));
      const args = ['run', 'Go', '--responses', responses, '--settings', settings];
      const { stdout, stderr, exitCode } = await cli.run(args);
      expect({ stdout, exitCode }).toEqual({ stdout: 'Done.', exitCode: 0 });
      expect(stderr).toBe(
        `warning: Hook "mine" (${event}): exited with code 2, which blocks nothing at ${event}: No network.`,
      );
    },
  );

  it('does not show a result that a hook suppressed', async () => {
    const responses = await cli.record(answer(writeHaiku), answer('Done.'));
    const settings = await cli.settings({ AfterTool: group(saying({ suppressOutput: true })) });
    const args = ['run', 'Go', '--responses', responses, '--settings', settings];
    const { stderr } = await cli.run(args);
    expect(stderr).toMatch(/^tool: write_file .*$/u);
  });

  it('tells of a stop, which is no failure', async () => {
    const responses = await cli.record(answer(writeHaiku));
    const stop = saying({ continue: false, stopReason: 'enough' });
    const settings = await cli.settings({ BeforeTool: group(stop) });
    const args = ['run', 'Go', '--responses', responses, '--settings', settings];
    const { stdout, stderr, exitCode } = await cli.run(args);
    expect(exitCode).toBe(0);
    expect(stdout).toBe('');
    expect(stderr.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^stopped: at BeforeTool by .*…: enough$/u),
    ]);
  });

  it('tells that hooks objected after a tool, and to the end', async () => {
    const responses = await cli.record(answer(writeHaiku), answer('One.'), answer('Two.'));
    const settings = await cli.settings(
      {
        AfterTool: group('echo "not formatted" >&2; exit 2', { name: 'format' }),
        AfterAgent: group('echo "more" >&2; exit 2', { name: 'tests' }),
      },
      { maxStopHookRetries: 1 },
    );
    const args = ['run', 'Go', '--responses', responses, '--settings', settings];
    const { stderr } = await cli.run(args);
    expect(stderr.split('\n').filter((line) => /^(?:blocked|stopped)/u.test(line))).toEqual([
      'blocked: AfterTool by format: not formatted',
      'blocked: AfterAgent by tests: more',
      'blocked: AfterAgent by tests: more',
      'stopped: at AfterAgent by tests: Blocked, and maxStopHookRetries (1) is used up: more',
    ]);
  });

  it('tells why the model was not called', async () => {
    const settings = await cli.settings({ BeforeModel: group('echo "no budget" >&2; exit 2') });
    const args = ['run', 'Go', '--responses', await cli.record(), '--settings', settings];
    const { stdout, stderr, exitCode } = await cli.run(args);
    expect(exitCode).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^blocked: model call by .*: no budget$/u);
  });

  it('tells of a failure', async () => {
    const responses = await cli.record(answer('Half', writeHaiku));
    const { stdout, stderr, exitCode } = await cli.run(['run', 'Go', '--responses', responses]);
    expect(exitCode).toBe(1);
    expect(stdout).toBe('Half');
    expect(stderr).toMatch(/\nerror: .*all 1 recorded calls are used/u);
  });

  it('passes on no control characters of the model', async () => {
    const call = toolCall('\u001b[2Jtool', { a: '\u009b' });
    const responses = await cli.record(
      answer('\u001b]0;title\u0007red\u001b[31m', call),
      answer('\u0007'),
    );
    const { stdout, stderr } = await cli.run(['run', 'Go', '--responses', responses]);
    expect(stdout).toBe('red');
    expect(stderr).toMatch(/^[\P{Cc}\n]+$/u);
  });
});

describe('run, as json,', () => {
  it('writes one object with everything', async () => {
    const responses = await cli.record(answer(writeHaiku), answer('Done.'));
    const settings = await cli.settings({
      BeforeTool: group(saying({ decision: 'allow' }), { name: 'guard' }),
    });
    const args = ['--responses', responses, '--settings', settings, '--model', 'gemini-test'];
    const { exitCode, stderr, report } = await runJson(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const toolInput = { file_path: 'haiku.txt', content: 'An old pond' };
    expect(report).toMatchObject({
      sessionId: expect.stringMatching(/^[\da-f-]{36}$/u) as string,
      response: 'Done.',
      turns: 2,
      stopped: null,
      toolCalls: [
        {
          name: 'write_file',
          originalInput: toolInput,
          input: toolInput,
          status: 'success',
          llmContent: expect.stringContaining('haiku.txt') as string,
          suppressDisplay: false,
        },
      ],
      modelCalls: [
        {
          blocked: false,
          synthetic: false,
          request: { model: 'gemini-test', contents: [{ role: 'user', parts: [{ text: 'Go' }] }] },
        },
        { blocked: false, synthetic: false, request: { model: 'gemini-test' } },
      ],
      hooks: [
        {
          event: 'BeforeTool',
          hook: 'guard',
          durationMs: expect.any(Number) as number,
          success: true,
          exitCode: 0,
          signal: null,
          decision: 'allow',
        },
      ],
      usage: { promptTokenCount: 20, candidatesTokenCount: 4, totalTokenCount: 24 },
    });
    expect(report).not.toHaveProperty('error');
    expect(report.modelCalls[1]?.request.contents).toHaveLength(3);
  });

  it('tells which results are not for display', async () => {
    const responses = await cli.record(answer(writeHaiku), answer('Done.'));
    const settings = await cli.settings({ AfterTool: group(saying({ suppressOutput: true })) });
    const { report } = await runJson(['--responses', responses, '--settings', settings]);
    expect(report).toMatchObject({
      toolCalls: [
        { suppressDisplay: true, llmContent: expect.stringContaining('haiku') as string },
      ],
    });
  });

  it.each([
    { event: 'BeforeAgent', turns: 0 },
    { event: 'BeforeModel', turns: 1 },
    { event: 'AfterTool', turns: 1 },
  ])('tells that a hook of $event stopped', async ({ event, turns }) => {
    const responses = await cli.record(answer(writeHaiku));
    const stop = saying({ continue: false, stopReason: 'enough' });
    const settings = await cli.settings({ [event]: group(stop) });
    const { exitCode, report } = await runJson(['--responses', responses, '--settings', settings]);
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ stopped: { event, reason: 'enough' }, turns });
  });

  it('tells that a hook answered instead of the model', async () => {
    const llm_response = { candidates: [{ content: { role: 'model', parts: ['From a hook'] } }] };
    const output = { decision: 'block', reason: 'cached', hookSpecificOutput: { llm_response } };
    const settings = await cli.settings({ BeforeModel: group(saying(output)) });
    const { report } = await runJson(['--responses', await cli.record(), '--settings', settings]);
    expect(report).toMatchObject({
      response: 'From a hook',
      modelCalls: [{ blocked: true, synthetic: true }],
    });
    expect(report.modelCalls[0]).toMatchObject({
      blockReason: 'cached',
      blockedBy: [expect.any(String)],
    });
  });

  it('has the error of a failure beside what there is', async () => {
    const responses = await cli.record(answer(writeHaiku));
    const { exitCode, stderr, report } = await runJson(['--responses', responses]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe('');
    expect(report).toMatchObject({
      error: { message: expect.stringContaining('all 1 recorded calls are used') as string },
      toolCalls: [{ name: 'write_file', status: 'success' }],
      stopped: null,
    });
  });

  it('gives up after --max-turns', async () => {
    const responses = await cli.record(answer(writeHaiku), answer(writeHaiku));
    const { exitCode, report } = await runJson(['--responses', responses, '--max-turns', '1']);
    expect(exitCode).toBe(1);
    expect(report).toMatchObject({
      turns: 1,
      error: { message: expect.stringContaining('within 1 model calls') as string },
    });
  });
});

describe('run, as stream-json,', () => {
  it('writes an object a line as things happen', async () => {
    const responses = await cli.record(answer('I ', 'write.', writeHaiku), answer('Done.'));
    const settings = await cli.settings({ BeforeTool: group('true', { name: 'guard' }) });
    const args = ['run', 'Go', '--responses', responses, '--settings', settings];
    const { exitCode, stdout, stderr } = await cli.run([...args, '--output-format', 'stream-json']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const toolInput = { file_path: 'haiku.txt', content: 'An old pond' };
    const lines = parseLines(stdout);
    expect(lines).toMatchObject([
      { type: 'session', model: 'gemini-2.5-flash' },
      { type: 'text', text: 'I ' },
      { type: 'text', text: 'write.' },
      { type: 'tool_call', name: 'write_file', originalInput: toolInput },
      { type: 'hook', event: 'BeforeTool', hook: 'guard', success: true },
      { type: 'tool_result', name: 'write_file', input: toolInput, status: 'success' },
      { type: 'text', text: 'Done.' },
      { type: 'result', response: 'Done.', turns: 2, sessionId: lines[0]?.['sessionId'] },
    ]);
    expect(lines[5]?.['callId']).toBe(lines[3]?.['callId']);
  });

  it('ends with the result of a failure', async () => {
    const args = ['run', 'Go', '--responses', await cli.record(), '--output-format', 'stream-json'];
    const { exitCode, stdout } = await cli.run(args);
    expect(exitCode).toBe(1);
    expect(parseLines(stdout)).toMatchObject([
      { type: 'session' },
      { type: 'result', error: { message: expect.any(String) as string } },
    ]);
  });
});

describe('the prompt of run', () => {
  it('is read from stdin when there is no argument', async () => {
    const settings = await cli.settings({ BeforeAgent: group(keepingInput('seen.json')) });
    const args = ['run', '--responses', await cli.record(answer('Hi')), '--settings', settings];
    expect(await cli.run(args, { input: 'From a pipe\n' })).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(await cli.read('seen.json'))).toMatchObject({ prompt: 'From a pipe\n' });
  });

  it('must not be missing', async () => {
    const args = ['run', '--responses', await cli.record(answer('Hi'))];
    const { exitCode, stdout, stderr } = await cli.run(args);
    expect(stderr).toMatch(/^error: There is no prompt: /u);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });
});

describe('the project of run', () => {
  it('is the directory of --cwd, by its real path', async () => {
    await cli.write('sub/.keep', '');
    const settings = await cli.settings({
      SessionStart: group('cat > "$LLXPRT_PROJECT_DIR/seen"'),
    });
    const responses = await cli.record(answer(writeHaiku), answer('Done.'));
    const args = ['run', 'Go', '--responses', responses, '--settings', settings, '--cwd', 'sub/.'];
    expect(await cli.run(args)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(cli.project, 'sub/haiku.txt'))).toBe(true);
    expect(JSON.parse(await cli.read('sub/seen'))).toMatchObject({ cwd: join(cli.project, 'sub') });
  });

  it('must be trusted for its hooks to run', async () => {
    await cli.projectSettings({ BeforeAgent: group('exit 2') });
    const args = ['--responses', await cli.record(answer('Hi'))];
    const { stderr, report } = await runJson(args);
    expect(report).toMatchObject({ response: 'Hi', hooks: [] });
    expect(stderr).toMatch(/^warning: 1 hook of this project skipped .*: hookstack trust$/u);
    const trusted = await runJson([...args, '--trust']);
    expect(trusted.report.stopped).toMatchObject({
      event: 'BeforeAgent',
      reason: 'Blocked by hook',
    });
    expect(trusted.stderr).toBe('');
  });

  it.each([
    ['the user', () => cli.write('../home/.llxprt/settings.json', '{'), []],
    ['a trusted project', () => cli.write('.llxprt/settings.json', '{'), ['--trust']],
  ])('do not let it run without the guards in a broken file of %s', async (_, write, options) => {
    await write();
    const args = ['run', 'go', '--responses', await cli.record(answer('Hi')), ...options];
    const { exitCode, stderr } = await cli.run(args);
    expect(stderr).toMatch(/settings\.json:1:\d+: not valid JSON/u);
    expect(exitCode).toBe(2);
  });

  it('may have a broken settings file, of which no hook runs', async () => {
    await cli.write('.llxprt/settings.json', '{"enableHooks": true, "hooks": {');
    await cli.userSettings({ SessionStart: group('true', { name: 'mine' }) });
    const { exitCode, stderr, report } = await runJson([
      '--responses',
      await cli.record(answer('Hi')),
    ]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^warning: .*settings\.json:1:\d+: not valid JSON/u);
    expect(report.hooks).toMatchObject([{ hook: 'mine' }]);
  });

  it('says with its settings how often AfterAgent hooks may object', async () => {
    const settings = await cli.settings(
      { AfterAgent: group('echo more >&2; exit 2') },
      { maxStopHookRetries: 1 },
    );
    const responses = await cli.record(answer('One'), answer('Two'), answer('Three'));
    const { report } = await runJson(['--responses', responses, '--settings', settings]);
    expect(report).toMatchObject({
      turns: 2,
      response: 'Two',
      stopped: { event: 'AfterAgent', reason: expect.stringMatching(/maxStopHookRetries.*more/u) },
      hooks: [{ reason: 'more' }, { reason: 'more' }],
    });
  });

  it('says with its settings whether answers are held for the hooks', async () => {
    const settings = await cli.settings(
      { AfterModel: group(saying({ suppressOutput: true })) },
      { afterModelDisplay: 'hold' },
    );
    const args = ['run', 'Go', '--responses', await cli.record(answer('Secret'))];
    const { stdout } = await cli.run([...args, '--settings', settings]);
    expect(stdout).toBe('');
  });
});

// The SDK asks the environment of the process.
describe('the model of run', () => {
  it('is called with the key and the address of the environment', async () => {
    const model = await startRecordedModel(await cli.record(answer('Hello!')));
    try {
      const env = { GEMINI_API_KEY: model.apiKey, GOOGLE_GEMINI_BASE_URL: model.baseUrl };
      const { stdout, exitCode } = await cli.runProgram(['run', 'Hi', '--model', 'gemini-x'], {
        env,
      });
      expect(stdout).toBe('Hello!');
      expect(exitCode).toBe(0);
      expect(model.requests).toMatchObject([
        { method: 'generateContentStream', model: 'gemini-x' },
      ]);
    } finally {
      await model.close();
    }
  });

  it('is the recorded one even where the environment names another', async () => {
    const env = {
      GEMINI_API_KEY: 'key',
      GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9',
      GOOGLE_GENAI_USE_VERTEXAI: 'true',
    };
    const args = ['run', 'Hi', '--responses', await cli.record(answer('Hello!'))];
    expect(await cli.runProgram(args, { env })).toMatchObject({ stdout: 'Hello!', exitCode: 0 });
  });

  it('must be reachable: without a key and a recording, run says what to do', async () => {
    const { exitCode, stdout, stderr } = await cli.runProgram(['run', 'Hi']);
    expect(stderr).toMatch(/set GEMINI_API_KEY .* --responses$/u);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  it('may be slow', async () => {
    const slow = { ...answer('One ', 'two ', 'three'), delayMs: 300 };
    const args = ['run', 'Hi', '--responses', await cli.record(slow)];
    expect(await cli.runProgram(args)).toMatchObject({
      stdout: 'One two three',
      exitCode: 0,
      stderr: '',
    });
  });
});

describe('run refuses, with exit code 2,', () => {
  it.each([
    { args: ['--responses', 'missing'], says: 'missing: the recorded calls cannot be read' },
    { args: ['--responses', 'broken'], says: 'broken:1: not JSON' },
    { args: ['--settings', 'missing'], says: 'there is no such file' },
    { args: ['--settings', 'broken'], says: 'not valid JSON' },
    { args: ['--cwd', 'missing'], says: '--cwd missing cannot be used' },
    { args: ['--max-turns', '0'], says: 'Write a whole number above 0' },
    { args: ['--max-turns', '1.5'], says: 'Write a whole number above 0' },
    { args: ['--output-format', 'xml'], says: 'Allowed choices are text, json, stream-json' },
    { args: ['and', 'more'], says: 'too many arguments' },
  ])('$args', async ({ args, says }) => {
    await cli.write('broken', '{');
    const { exitCode, stdout, stderr } = await cli.run(['run', 'Go', ...args]);
    expect(stderr).toContain(says);
    expect(stderr.split('\n')).toHaveLength(1);
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });
});

const keepPath = () => group('jq -j .transcript_path > path');
const sessions = () => join(cli.home, '.llxprt', 'sessions');
const said = async () => {
  const text = await readFile(await cli.read('path'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type);
};

async function runAgent(args: readonly string[] = [], cwd = cli.project) {
  const responses = await cli.record(answer('Done.'));
  return cli.run(['run', 'Go', '--responses', responses, ...args], { cwd });
}

describe('the transcript of a run', () => {
  it("is in the session's folder in the home directory, for the user alone", async () => {
    await cli.userSettings({ AfterAgent: keepPath() });
    const { stderr, exitCode } = await runAgent();
    expect([stderr, exitCode]).toEqual(['', 0]);
    const [session = ''] = await readdir(sessions());
    const file = join(sessions(), session, 'transcript.jsonl');
    expect(await cli.read('path')).toBe(file);
    expect(await said()).toEqual(['user', 'assistant']);
    const modes = await Promise.all(
      [file, join(sessions(), session), sessions()].map(async (each) => (await stat(each)).mode),
    );
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o700, 0o700]);
  });

  it('is not written where no hook could read it, or nobody wants it', async () => {
    await runAgent();
    await cli.userSettings({ AfterAgent: keepPath() });
    await runAgent(['--no-transcript']);
    expect(await cli.read('path')).toBe('');
    expect(existsSync(sessions())).toBe(false);
  });

  it('is where the user says', async () => {
    await cli.userSettings({ AfterAgent: keepPath() });
    await runAgent(['--transcript', 'here.jsonl']);
    expect(await cli.read('path')).toBe(join(cli.project, 'here.jsonl'));
    expect(await said()).toEqual(['user', 'assistant']);
  });

  it('is removed by a later run after 30 days, and nothing else is', async () => {
    await cli.userSettings({ AfterAgent: keepPath() });
    const [old, young, other] = ['old', 'young', 'other'].map((name) => join(sessions(), name));
    await cli.write(join(String(old), 'transcript.jsonl'), '');
    await cli.write(join(String(young), 'transcript.jsonl'), '');
    await cli.write(join(String(other), 'transcript.jsonl'), '');
    await cli.write(join(String(other), 'notes'), '');
    const day = 24 * 60 * 60;
    const daysAgo = (days: number) => Date.now() / 1000 - days * day;
    for (const [folder, days] of [
      [old, 31],
      [young, 29],
      [other, 31],
    ] as const) {
      await utimes(join(String(folder), 'transcript.jsonl'), daysAgo(days), daysAgo(days));
    }
    await runAgent();
    expect(
      [old, young, join(String(other), 'notes')].map((each) => existsSync(String(each))),
    ).toEqual([false, true, true]);
  });

  it.each([
    ['the folder is a link', async () => symlink(cli.project, sessions())],
    [
      'others can write the folder',
      async () => mkdir(sessions(), { mode: 0o777 }).then(() => chmod(sessions(), 0o777)),
    ],
  ])('costs one warning where %s, and nothing is written there', async (_, make) => {
    await cli.userSettings({ AfterAgent: keepPath() });
    await make();
    const { stderr, exitCode } = await runAgent();
    expect(stderr).toMatch(/^warning: No transcript is written.*--no-transcript$/u);
    expect(exitCode).toBe(0);
    expect(await cli.read('path')).toBe('');
    expect(await readdir(sessions())).not.toContainEqual(expect.stringMatching(/-/u));
  });

  it('is not written into the project', async () => {
    await cli.userSettings({ AfterAgent: group('jq -j .transcript_path >&2; exit 2') });
    const { stderr } = await runAgent([], cli.home);
    expect(stderr).toContain('sessions is a part of the project');
    expect(existsSync(sessions())).toBe(false);
  });
});
