import { mkdir, readdir, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeptProcess } from '../author/keptProcess.js';
import { Cli } from './helpers.js';

const ROOT = resolve(import.meta.dirname, '../..');
const cli = new Cli();

const LANGUAGES = ['bash', 'node', 'python'] as const;
const RUN = {
  bash: { program: 'bash', extension: 'sh' },
  node: { program: process.execPath, extension: 'mjs' },
  python: { program: 'python3', extension: 'py' },
};

/** As after `npm install hookstack`. */
async function installPackage(): Promise<void> {
  await mkdir(join(cli.project, 'node_modules'), { recursive: true });
  await symlink(ROOT, join(cli.project, 'node_modules/hookstack'));
}

async function initPersistent(language: string, ...options: string[]) {
  return cli.run(['init', '--language', language, '--persistent', ...options]);
}

async function keep(language: (typeof LANGUAGES)[number], name: string): Promise<KeptProcess> {
  const { program, extension } = RUN[language];
  const kept = new KeptProcess(program, [`.llxprt/hooks/${name}.${extension}`], cli.project);
  onTestFinished(() => void kept.child.kill('SIGKILL'));
  expect(await kept.line()).toBe('{"hookstack":1}');
  return kept;
}

const writeCall = (file_path: string) => ({
  hook_event_name: 'BeforeTool',
  tool_name: 'write_file',
  tool_input: { file_path, content: '{"id":1,"input":{}}' },
});

describe.each(LANGUAGES)('init --persistent in %s', (language) => {
  it('writes a first working hook, which is allowed and turned on', async () => {
    await installPackage();
    expect(await initPersistent(language)).toMatchObject({ exitCode: 0, stderr: '' });
    const settings = await cli.read('.llxprt/settings.json');
    expect(settings).toContain('"persistent": true');

    const fired = ['fire', 'BeforeTool', '--tool', 'write_file', '--input'];
    const blocked = await cli.run([...fired, '{"file_path":"sub/.env"}']);
    expect(blocked).toMatchObject({ exitCode: 2, stderr: '' });
    expect(blocked.stdout).toContain('Verdict: blocked: Files named .env hold secrets');
    expect(await cli.run([...fired, '{"file_path":"env"}'])).toMatchObject({ exitCode: 0 });
    expect(await cli.run(['test'])).toMatchObject({ exitCode: 0 });
    expect(await cli.run(['validate'])).toMatchObject({ exitCode: 0 });
  });

  it('writes one that answers one event after the other', async () => {
    await installPackage();
    await initPersistent(language);
    const kept = await keep(language, 'protect-env');
    const verdicts = [];
    for (const file of ['a/.env', 'env', '.env', 'ü"\\.env', 'x']) {
      const answer = await kept.ask(writeCall(file));
      const { exitCode, output } = answer ?? {};
      verdicts.push(exitCode === 2 || (output !== undefined && 'decision' in output));
    }
    expect(verdicts).toEqual([true, false, true, false, false]);
    expect(await kept.end()).toBe(0);
  });

  it('writes one that answers the input of an ordinary hook after its hello', async () => {
    await installPackage();
    await initPersistent(language);
    const { program, extension } = RUN[language];
    const say = async (file: string) => {
      const { stdout, exitCode } = await execa(
        program,
        [`.llxprt/hooks/protect-env.${extension}`],
        {
          cwd: cli.project,
          env: { HOOKSTACK_PERSISTENT: '1' },
          input: JSON.stringify(writeCall(file)),
          reject: false,
        },
      );
      const [hello, answer = ''] = stdout.split('\n');
      expect(hello).toBe('{"hookstack":1}');
      return { answer, exitCode };
    };
    expect(await say('env')).toEqual({ answer: '{}', exitCode: 0 });
    const { answer, exitCode } = await say('.env');
    expect(exitCode === 2 || answer.includes('"decision"')).toBe(true);
  });

  it('writes hooks of any event, whose tests pass', async () => {
    await installPackage();
    const events = ['SessionStart', 'AfterTool', 'BeforeModel', 'AfterAgent', 'BeforeAgent'];
    for (const event of events) {
      expect(await initPersistent(language, '--event', event)).toMatchObject({ exitCode: 0 });
    }
    const { exitCode, stdout } = await cli.run(['test']);
    expect(stdout).toContain('5 passed, 0 failed');
    expect(exitCode).toBe(0);

    const kept = await keep(language, 'note-SessionStart');
    for (const id of [1, 2]) {
      expect(await kept.ask({ hook_event_name: 'SessionStart' })).toMatchObject({
        id,
        output: { systemMessage: 'The hook note-SessionStart has seen SessionStart.' },
      });
    }
    expect(await kept.end()).toBe(0);
    expect(await kept.stderr).toBe('SessionStart\nSessionStart\n');
  });
});

describe('init --persistent', () => {
  it('writes the helper for Python once, beside the hooks', async () => {
    const { stdout } = await initPersistent('python');
    expect(stdout).toContain('.llxprt/hooks/hookstack.py');
    const again = await initPersistent('python', '--name', 'second');
    expect(again).toMatchObject({ exitCode: 0, stderr: '' });
    expect(again.stdout).not.toContain('hookstack.py');
    expect(again.stdout).toContain('It is allowed');
    const { mode } = await stat(join(cli.project, '.llxprt/hooks/hookstack.py'));
    expect(mode & 0o111).toBe(0);
  });

  it('does not touch another file in the place of the helper', async () => {
    await cli.write('.llxprt/hooks/hookstack.py', 'mine = 1\n');
    const { exitCode, stderr } = await initPersistent('python');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('.llxprt/hooks/hookstack.py is there already and is another file');
    expect(await cli.read('.llxprt/hooks/hookstack.py')).toBe('mine = 1\n');
    expect(await readdir(join(cli.project, '.llxprt/hooks'))).toEqual(['hookstack.py']);
    expect(await readdir(join(cli.project, '.llxprt/tests'))).toEqual([]);
  });

  it('says what is missing for a hook in JavaScript', async () => {
    const { exitCode, stderr } = await initPersistent('node');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      'npm install --save-dev hookstack, or choose --language python or bash',
    );
  });

  it('says that other agents keep no hooks', async () => {
    const { exitCode, stderr } = await initPersistent('bash', '--dialect', 'claude');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('leave out --dialect or --persistent');
  });

  it('has its helper in the package', async () => {
    const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await execa('npm', pack, { cwd: ROOT });
    const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
    const files = packed?.files.map(({ path }) => path) ?? [];
    expect(files.filter((file) => file.endsWith('.py'))).toEqual(['python/hookstack.py']);
    expect(files).toContain('docs/persistent-hooks.md');
  });
});
