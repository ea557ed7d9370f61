import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { answer, Cli, group, MAIN, parseLines, saying, toolCall } from './helpers.js';

const cli = new Cli();
const ASK = { decision: 'ask', reason: 'It is production.\u001b[2J' };
const PROMPT = 'Allow it?';
const PATIENT = { timeout: 20_000 };

const write = (name: string) => toolCall('write_file', { file_path: name, content: 'x' });

/** The arguments of a run in which a hook asks about each tool. */
async function open(calls: readonly object[], others: object = {}) {
  const responses = await cli.record(...calls);
  const settings = await cli.settings(
    { BeforeTool: group(saying(ASK), { name: 'production' }) },
    others,
  );
  return ['run', 'Go', '--responses', responses, '--settings', settings];
}

/** The program on a terminal. */
function onTerminal(args: readonly string[], typed = '') {
  const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`);
  // A shell that waits is interrupted by ^C too, and its exit code is then not that of the program.
  return inTerminal(`exec ${words.join(' ')}`, typed);
}

/** Keys are typed once a text is shown; each text that many times. */
function inTerminal(command: string, typed = '') {
  const subprocess = execa('script', ['-qefc', command, '/dev/null'], {
    cwd: cli.project,
    env: { ...cli.env, NO_COLOR: '1', SHELL: '/bin/sh', TERM: 'xterm' },
    extendEnv: false,
    stdin: 'pipe',
    reject: false,
  });
  const screen = { shown: '' };
  subprocess.stdout.on('data', (chunk: Buffer) => (screen.shown += chunk.toString()));
  if (typed !== '') subprocess.stdin.write(typed);
  const count = (text: string) => screen.shown.split(text).length - 1;
  const wait = async (text: string, times = 1) => {
    await expect.poll(() => count(text), PATIENT).toBeGreaterThanOrEqual(times);
  };
  /** Until a question can be answered, counted from 1. */
  const prompted = async (number = 1) => {
    const part = () => screen.shown.split('Hooks ask you')[number] ?? '';
    await expect.poll(part, PATIENT).toContain(PROMPT);
  };
  const type = (keys: string) => subprocess.stdin.write(keys);
  return { subprocess, screen, wait, prompted, type, count };
}

describe('run on a terminal', () => {
  it('asks, and lets the tool run once', async () => {
    const args = await open([answer(write('a.txt')), answer(write('a.txt')), answer('Done.')]);
    const { subprocess, screen, prompted, type } = onTerminal(args);
    await prompted();
    expect(screen.shown).toContain('  | production');
    expect(screen.shown).toContain('  | It is production.');
    expect(screen.shown).not.toContain('\u001b[2J');
    expect(screen.shown).toContain('  | write_file');
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
    type('y\r');
    await prompted(2);
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(true);
    // Nothing chosen is no.
    type('\r');
    expect((await subprocess).exitCode).toBe(0);
    expect(screen.shown).toContain('A person was asked, and said no');
  });

  it('asks no more in a session where the person says so', async () => {
    const args = await open([answer(write('a.txt')), answer(write('a.txt')), answer('Done.')]);
    const { subprocess, screen, prompted, type, count } = onTerminal(args);
    await prompted();
    type('s\r');
    expect((await subprocess).exitCode).toBe(0);
    expect(count('Hooks ask you')).toBe(1);
    expect(screen.shown).toContain('Done.');
  });

  it('tells the model why not', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')]);
    const { subprocess, screen, wait, prompted, type } = onTerminal(args);
    await prompted();
    type('r\r');
    await wait('Why not?');
    type('Not on a Friday\r');
    await subprocess;
    expect(screen.shown).toContain('A person was asked, and said no: Not on a Friday');
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });

  it('means no where nobody answers in time', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')], {
      approvals: { timeout: 1000 },
    });
    const { subprocess, screen } = onTerminal(args);
    expect((await subprocess).exitCode).toBe(0);
    expect(screen.shown).toContain('nobody answered within 1 s');
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });

  it('is ended by ^C, and nothing runs', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')]);
    const { subprocess, prompted, type } = onTerminal(args);
    await prompted();
    type('\u0003');
    expect((await subprocess).exitCode).not.toBe(0);
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });

  it('asks one question after the other', async () => {
    const args = await open([answer(write('a.txt'), write('b.txt')), answer('Done.')]);
    const { subprocess, prompted, type, count } = onTerminal(args);
    await prompted();
    expect(count('Hooks ask you')).toBe(1);
    type('y\r');
    await prompted(2);
    type('n\r');
    await subprocess;
    const written = ['a.txt', 'b.txt'].filter((name) => existsSync(join(cli.project, name)));
    expect(written).toHaveLength(1);
  });

  it('is not answered by what was typed before', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')], {
      approvals: { timeout: 3000 },
    });
    const { subprocess, screen } = onTerminal(args, 'y\ry\ry\r');
    await subprocess;
    expect(screen.shown).toContain('nobody answered within 3 s');
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });

  it('takes no answer within the first second, which was meant for the question before', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')], {
      approvals: { timeout: 900 },
    });
    const { subprocess, screen, wait, type } = onTerminal(args);
    await wait('Hooks ask you');
    const typing = setInterval(() => type('y\r'), 300);
    await subprocess;
    clearInterval(typing);
    expect(screen.shown).toContain('nobody answered within 1 s');
    expect(screen.shown).not.toContain(PROMPT);
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });

  it('is ended by ^C at once, also before the prompt is there', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')]);
    const { subprocess, screen, wait, type } = onTerminal(args);
    await wait('Hooks ask you');
    type('\u0003');
    expect((await subprocess).exitCode).toBe(1);
    expect(screen.shown).toContain('Interrupted by SIGINT');
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });

  it('means no after ^D', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')]);
    const { subprocess, screen, prompted, type } = onTerminal(args);
    await prompted();
    type('\u0004');
    expect((await subprocess).exitCode).toBe(0);
    expect(screen.shown).toContain('the terminal takes no more answers');
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });

  it('shows nothing of other calls between the rows of a question', async () => {
    const asked = join(cli.project, 'asked');
    const marker = join(cli.project, 'ended');
    const command = `until test -e ${asked}; do sleep 0.1; done; echo y\\) No; touch ${marker}`;
    const others = toolCall('run_shell_command', { command });
    const responses = await cli.record(answer(write('a.txt'), others), answer('Done.'));
    const hooks = { BeforeTool: group(saying(ASK), { name: 'production' }) };
    hooks.BeforeTool[0] = { ...hooks.BeforeTool[0], matcher: 'write_file' } as never;
    const settings = await cli.settings(hooks);
    const { subprocess, screen, prompted, wait, type } = onTerminal([
      'run',
      'Go',
      '--responses',
      responses,
      '--settings',
      settings,
    ]);
    await prompted();
    writeFileSync(asked, '');
    await expect.poll(() => existsSync(marker), PATIENT).toBe(true);
    type('y');
    await wait('y) Yes, this once');
    type('\r');
    expect((await subprocess).exitCode).toBe(0);
    const other = screen.shown.indexOf('done: run_shell_command');
    expect(other).toBeGreaterThan(screen.shown.lastIndexOf(PROMPT));
  });

  it('means no where the terminal is closed, and ends as a process whose terminal is gone', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')]);
    const ended = join(cli.project, 'ended');
    // The shell stays, to say how the program has ended.
    const run = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
    const { subprocess, prompted } = inTerminal(`trap : HUP; ${run}; echo $? > '${ended}'`);
    await prompted();
    subprocess.kill('SIGKILL');
    await expect
      .poll(() => existsSync(ended) && readFileSync(ended, 'utf8'), PATIENT)
      .toBe('129\n');
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });
});

describe('run without a terminal', () => {
  it.each([
    [[], true],
    [['--ask', 'deny'], false],
    [['--ask', 'allow'], true],
  ] as const)('decides by the settings, or by %j', async (options, runs) => {
    const args = await open([answer(write('a.txt')), answer('Done.')]);
    expect((await cli.run([...args, ...options])).exitCode).toBe(0);
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(runs);
  });

  it('takes answers from stdin, and refuses those that do not count', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')]);
    const subprocess = execa(
      process.execPath,
      [MAIN, ...args, '--output-format', 'stream-json', '--approvals', 'stdin'],
      { cwd: cli.project, env: cli.env, extendEnv: false, stdin: 'pipe', reject: false },
    );
    let text = '';
    subprocess.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const lines = () => parseLines(text.slice(0, text.lastIndexOf('\n')));
    const find = (type: string) => lines().filter((line) => line.type === type);
    await expect
      .poll(() => (text.includes('\n') ? find('awaiting_approval').length : 0), PATIENT)
      .toBe(1);
    const [waiting] = find('awaiting_approval');
    const { id, sessionId } = (waiting?.['request'] ?? {}) as Record<string, string>;
    const say = (line: unknown) => subprocess.stdin.write(`${JSON.stringify(line)}\n`);
    say('nonsense');
    say({ type: 'approval', id: 'other', sessionId, approval: { decision: 'allow' } });
    say({ type: 'approval', id, sessionId: 'other', approval: { decision: 'allow' } });
    say({ type: 'approval', id, sessionId, approval: { decision: 'perhaps' } });
    say({ type: 'approval', id, sessionId, approval: { decision: 'allow', by: 'ada' } });
    expect((await subprocess).exitCode).toBe(0);
    expect(
      find('approval_result').map(({ accepted, error }) =>
        accepted === true ? 'accepted' : (error as { code: string }).code,
      ),
    ).toEqual([
      'CONFIRMATION_MALFORMED',
      'CONFIRMATION_NOT_OPEN',
      'CONFIRMATION_OTHER_SESSION',
      'CONFIRMATION_MALFORMED',
      'accepted',
    ]);
    expect(find('approval')).toMatchObject([{ id, decision: 'allow', by: 'ada' }]);
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(true);
  });

  it.each([
    [['--approvals', 'stdin'], '--approvals stdin needs --output-format stream-json'],
    [['--approvals', 'stdin', '--ask', 'allow'], 'cannot be used with'],
  ])('refuses %j', async (options, why) => {
    const args = await open([answer('Done.')]);
    const { exitCode, stderr } = await cli.run([...args, ...options]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(why)]);
  });

  it('means no once stdin has ended', async () => {
    const args = await open([answer(write('a.txt')), answer('Done.')]);
    const { stdout } = await execa(
      process.execPath,
      [MAIN, ...args, '--output-format', 'stream-json', '--approvals', 'stdin'],
      { cwd: cli.project, env: cli.env, extendEnv: false, input: '', reject: false },
    );
    expect(stdout).toContain('stdin has ended');
    expect(existsSync(join(cli.project, 'a.txt'))).toBe(false);
  });
});
