import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { Cli, group, MAIN } from './helpers.js';

const cli = new Cli();

const PATIENT = { timeout: 20_000 };

/** Ends when there is a file `go`. */
const UNTIL_GO =
  'cat > /dev/null; : > "$HOME/started"; until [ -e "$HOME/go" ]; do sleep 0.05; done';

/** The program on a terminal, or without one. */
function start(program: string, args: readonly string[], env: Record<string, string> = {}) {
  return execa(program, args, {
    cwd: cli.project,
    env: { ...cli.env, NO_COLOR: '1', SHELL: '/bin/sh', ...env },
    extendEnv: false,
    all: true,
    reject: false,
  });
}

describe('a hook that takes long', () => {
  const fire = ['fire', 'SessionStart'];

  it.each([
    ['fire', 'fire SessionStart', 'Verdict: proceed'],
    ['test', 'test', '1 passed, 0 failed'],
  ])('is named on a terminal, with its timeout: %s', async (_, args, end) => {
    await cli.userSettings({ SessionStart: group(UNTIL_GO, { name: 'slow', timeout: 90_000 }) });
    await cli.write('start.hooktest.json', {
      event: 'SessionStart',
      expect: { decision: 'allow' },
    });
    const command = `'${process.execPath}' '${MAIN}' ${args}`;
    const subprocess = start('script', ['-qefc', command, '/dev/null'], { TERM: 'xterm' });
    let shown = '';
    subprocess.all.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    await expect.poll(() => shown, PATIENT).toMatch(/waiting for slow, \d+ s of 90 s/u);
    await cli.write(join(cli.home, 'go'), '');
    expect((await subprocess).exitCode).toBe(0);
    expect(shown).toContain(end);
  });

  it('is not told where lines cannot be written anew, or JSON is asked for', async () => {
    // Longer than somebody at a terminal waits in silence.
    const slow = 'cat > /dev/null; sleep 2';
    await cli.userSettings({ SessionStart: group(slow, { name: 'slow' }) });
    const on = (args: string, env: Record<string, string>) =>
      start('script', ['-qefc', `'${process.execPath}' '${MAIN}' ${args}`, '/dev/null'], env);
    const all = await Promise.all([
      start(process.execPath, [MAIN, ...fire]),
      on('fire SessionStart', { TERM: 'dumb' }),
      on('fire SessionStart --json', { TERM: 'xterm' }),
    ]);
    for (const { all: shown, exitCode } of all) {
      expect(exitCode).toBe(0);
      expect(shown).toContain('slow');
      expect(shown).not.toContain('waiting');
    }
  });

  it('is named where a signal ends it', async () => {
    await cli.userSettings({ SessionStart: group(UNTIL_GO, { name: 'slow' }) });
    const subprocess = start(process.execPath, [MAIN, ...fire]);
    await expect.poll(() => existsSync(join(cli.home, 'started')), PATIENT).toBe(true);
    subprocess.kill('SIGINT');
    const { signal, all } = await subprocess;
    expect(signal).toBe('SIGINT');
    expect(all).toContain('note: SIGINT has ended the hook "slow", before any verdict');
  });
});
