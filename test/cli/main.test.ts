import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { answer, Cli, group, MAIN } from './helpers.js';

const cli = new Cli();
const ROOT = resolve(dirname(MAIN), '..');

describe('hookstack', () => {
  it('tells its version', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await cli.run(['--version'])).toEqual({ exitCode: 0, stdout: version, stderr: '' });
  });

  it.each([
    'init',
    'run',
    'fire',
    'test',
    'explain',
    'doctor',
    'list',
    'enable',
    'disable',
    'stack',
    'install',
    'hook',
    'completion',
    'collect',
  ])('explains %s with an example', async (command) => {
    const { exitCode, stdout } = await cli.run([command, '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`Exit codes: 0 .*Example:\n  \\$ hookstack ${command} `, 'su'),
    );
    expect(stdout).not.toMatch(/\$ {2}/u);
  });

  it('lists its commands when it is called without one, as wrong usage', async () => {
    const { exitCode, stderr } = await cli.run([]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/run .*fire .*list /su);
  });

  it.each([
    { args: ['fier'], says: /unknown command 'fier'\n\(Did you mean fire\?\)/u, code: 2 },
    { args: ['run', '--nope'], says: /unknown option '--nope'/u, code: 2 },
    { args: ['list', 'all'], says: /too many arguments/u, code: 2 },
    { args: ['fire'], says: /There is no event: name one, such as BeforeTool/u, code: 1 },
    { args: ['fire', 'BeforeTool', '--nope'], says: /unknown option '--nope'/u, code: 1 },
  ])('refuses $args', async ({ args, says, code }) => {
    const { exitCode, stdout, stderr } = await cli.run(args);
    expect(stderr).toMatch(says);
    expect(stdout).toBe('');
    expect(exitCode).toBe(code);
  });
});

describe('a command line in the process of a test', () => {
  it.each([
    ['--help'],
    ['fier'],
    ['list'],
    ['list', '--json', '--cwd', 'missing'],
    ['explain', 'BeforeTool'],
    ['validate', '--format', 'github'],
    ['fire', 'BeforeTool', '--input', '-'],
    ['enable', 'guard'],
    ['trust', '--check', '--json'],
  ])('says what the program says: %s', async (...args) => {
    const hooks = { BeforeTool: group(`grep -o '"a":1' >&2; exit 2`, { name: 'guard' }) };
    await cli.userSettings(hooks, { disabledHooks: ['other'] });
    await cli.projectSettings(hooks);
    const env = { HOOKSTACK_TRACE: 'trace.jsonl', FORCE_COLOR: '1', SECRET: 's' };
    const options = { env, input: '{"a":1}' };
    const inProcess = await cli.run(args, options);
    expect(withoutTimes(inProcess)).toEqual(withoutTimes(await cli.runProgram(args, options)));
  });
});

function withoutTimes(said: object): string {
  return JSON.stringify(said).replaceAll(/\d+ ms/g, 'N ms');
}

describe('an error with --json', () => {
  it.each([
    { args: ['list', '--nope'], says: /^unknown option '--nope'/u, code: 2 },
    { args: ['list', '--cwd', 'missing'], says: /^--cwd missing cannot be used/u, code: 2 },
    { args: ['explain', 'BeforTool'], says: /did you mean 'BeforeTool'\?/u, code: 2 },
    { args: ['fire'], says: /^There is no event/u, code: 1 },
    { args: ['test', 'missing'], says: /^missing cannot be read/u, code: 2 },
    { args: ['validate', 'missing.json'], says: /^There is no file missing\.json/u, code: 2 },
    { args: ['enable', 'x'], says: /^There is no hook "x"/u, code: 2 },
    { args: ['trace', 'missing'], says: /missing/u, code: 2 },
    { args: ['untrust', '--cwd', 'missing'], says: /^--cwd missing/u, code: 2 },
  ])('is an object on stdout: $args', async ({ args, says, code }) => {
    const { exitCode, stdout, stderr } = await cli.run([...args, '--json']);
    expect(JSON.parse(stdout)).toEqual({ error: expect.stringMatching(says) });
    expect(stderr).toMatch(/^error: /mu);
    expect(exitCode).toBe(code);
  });

  it('is not written behind the object of the command', async () => {
    await cli.write('file', '');
    const args = ['fire', 'SessionStart', '--json', '--record', 'file/x.hooktest.json'];
    const { exitCode, stdout, stderr } = await cli.run(args);
    expect(exitCode).not.toBe(0);
    expect(stdout.split('\n').filter((line) => line !== '')).toHaveLength(1);
    expect(stderr).toContain('error: ');
  });
});

describe('without the SDK', () => {
  it('lists hooks, and says what to install when the agent is to run', async () => {
    const copy = join(cli.home, 'copy');
    await mkdir(join(copy, 'node_modules'), { recursive: true });
    await cp(join(ROOT, 'dist'), join(copy, 'dist'), { recursive: true });
    await cp(join(ROOT, 'package.json'), join(copy, 'package.json'));
    const packages = await readdir(join(ROOT, 'node_modules'));
    for (const name of packages.filter((each) => each !== '@google')) {
      await symlink(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name));
    }
    const start = (...args: string[]) =>
      execa(process.execPath, [join(copy, 'dist/cli.cjs'), ...args], {
        cwd: cli.project,
        env: { ...cli.env, GEMINI_API_KEY: 'key' },
        extendEnv: false,
        input: '',
        reject: false,
      });
    expect(await start('list')).toMatchObject({ exitCode: 0, stderr: '' });
    const { exitCode, stderr } = await start('run', 'hi');
    expect(stderr).toBe(
      'error: The Gemini SDK, which calls the model, is not installed: npm install @google/genai, or name a file of recorded calls with --responses',
    );
    expect(exitCode).toBe(2);
    const recorded = await start('run', 'hi', '--responses', await cli.record(answer('hi')));
    expect(recorded).toMatchObject({ exitCode: 0, stdout: 'hi' });
  });
});

describe.skipIf(!existsSync('/usr/bin/script'))('on a terminal', () => {
  it('uses colours, unless NO_COLOR is set', async () => {
    await cli.userSettings({ BeforeTool: group('true') });
    expect(await listOnTerminal()).toContain('\u001b[32mactive\u001b[39m');
    for (const said of [{ NO_COLOR: '1' }, { TERM: 'dumb' }, { FORCE_COLOR: '0' }]) {
      const plain = await listOnTerminal(said);
      expect(plain).toContain('[active]');
      expect(plain).not.toContain('\u001b');
    }
  });

  it('uses none elsewhere, unless FORCE_COLOR asks for them', async () => {
    await cli.userSettings({ BeforeTool: group('true') });
    expect((await cli.run(['list'])).stdout).toContain('[active]');
    const { stdout } = await cli.run(['list'], { env: { FORCE_COLOR: '1' } });
    expect(stdout).toContain('\u001b[32mactive\u001b[39m');
  });
});

async function listOnTerminal(env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await execa('/usr/bin/script', ['-qec', '"$NODE" "$MAIN" list', '/dev/null'], {
    cwd: cli.project,
    env: { ...cli.env, SHELL: '/bin/sh', TERM: 'xterm', NODE: process.execPath, MAIN, ...env },
    extendEnv: false,
    stdin: 'ignore',
  });
  return stdout;
}
