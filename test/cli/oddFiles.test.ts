import { mkdir, open, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

/** Far more than any of it takes, and less than a test may: what hangs is ended, so that it fails here. */
const HANGS = { timeout: 25_000, killSignal: 'SIGKILL' } as const;

/** What may stand in the place of a file, by what makes it. */
const ODD: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  'a link to a terminal': (file) => symlink('/dev/ptmx', file),
  'a link to an endless device': (file) => symlink('/dev/zero', file),
  'a link to the terminal of the agent': (file) => symlink('/dev/tty', file),
  'a named pipe': (file) => execa('mkfifo', [file]),
  'a link to a named pipe': async (file) => {
    await execa('mkfifo', [`${file}.pipe`]);
    await symlink(`${file}.pipe`, file);
  },
  'a directory': (file) => mkdir(file),
  'a file of gigabytes': async (file) => {
    const handle = await open(file, 'w');
    await handle.truncate(6 * 1024 ** 3);
    await handle.close();
  },
  'a file of the system that goes on': (file) => symlink('/proc/kallsyms', file),
};

async function put(kind: string, file: string): Promise<string> {
  const path = file.startsWith('/') ? file : join(cli.project, file);
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true, recursive: true });
  await ODD[kind]?.(path);
  return path;
}

const TOOL = { tool_name: 'Bash', tool_input: { command: 'ls' } };
const EVENTS = {
  claude: { hook_event_name: 'PreToolUse', ...TOOL },
  gemini: { ...TOOL, hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' },
} as const;

async function ask(agent: 'claude' | 'gemini') {
  const input = JSON.stringify({ cwd: cli.project, session_id: 's', ...EVENTS[agent] });
  const { exitCode, stdout, stderr } = await cli.runProgram(['hook', '--from', agent], {
    ...HANGS,
    input,
  });
  const isNo = exitCode === 2 || (exitCode === 0 && /"(?:deny|block)"/u.test(stdout));
  return { isNo, exitCode, stdout, stderr };
}

const PLACES = [
  '.llxprt/settings.json',
  '.llxprt/hooks.lock',
  '.llxprt/extensions/odd/llxprt-extension.json',
  '.llxprt/extensions/odd/gemini-extension.json',
  '.llxprt/extensions/odd/hooks/hooks.json',
];

describe.each(Object.keys(ODD))('%s in the place of a file of a project', (kind) => {
  it.each(PLACES)('silences no guard of the user: %s', async (place) => {
    await cli.userSettings({ BeforeTool: group('cat > /dev/null; echo no >&2; exit 2') });
    await put(kind, place);
    for (const agent of ['claude', 'gemini'] as const) {
      expect(await ask(agent)).toMatchObject({ isNo: true, exitCode: 0 });
    }
  });

  it.each([['list'], ['validate'], ['trust', '--check'], ['explain', 'BeforeTool']])(
    'is told of by "hookstack %s", which ends',
    async (...args) => {
      await put(kind, '.llxprt/settings.json');
      const { exitCode, stdout, stderr } = await cli.runProgram(args, HANGS);
      expect(exitCode).toBeGreaterThanOrEqual(0);
      expect(stdout + stderr).toContain('.llxprt/settings.json:1:1');
    },
  );
});

describe.each(Object.keys(ODD))('%s in the place of a file of the user', (kind) => {
  // What a system file says can be read: that there is no hook in it.
  it.skipIf(kind === 'a file of the system that goes on')(
    'is no yes where a guard may stand in it',
    async () => {
      await put(kind, join(cli.home, '.llxprt', 'settings.json'));
      for (const agent of ['claude', 'gemini'] as const) {
        expect(await ask(agent)).toMatchObject({ isNo: true });
      }
    },
  );

  it('allows nothing, and silences no guard, where it says what is allowed', async () => {
    await cli.userSettings({ BeforeTool: group('cat > /dev/null; echo no >&2; exit 2') });
    await cli.projectSettings({ BeforeTool: group('touch ran') });
    await put(kind, join(cli.home, '.llxprt', 'trusted-hooks.json'));
    expect(await ask('claude')).toMatchObject({ isNo: true, exitCode: 0 });
    await expect(cli.read('ran')).rejects.toThrow('ENOENT');
  });
});
