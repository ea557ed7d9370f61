import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

const SCRIPT = '.llxprt/hooks/protect-env.mjs';
const NEXT_TRUST = 'To see and allow, run: hookstack trust';
const fireGuard = async () =>
  cli
    .run(['fire', 'BeforeTool', '--input', '{"file_path": ".env"}'])
    .then(({ exitCode }) => exitCode);
const check = () => cli.run(['trust', '--check']).then(({ exitCode }) => exitCode);

async function init(...args: string[]) {
  const { stdout, exitCode } = await cli.run(['init', '--json', ...args]);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as { allowed: boolean; obstacles: string[]; next: string[] };
}

describe('init', () => {
  it('allows what it has written itself, so that it works at once', async () => {
    const { stdout } = await cli.run(['init']);
    expect(stdout).toContain('It is allowed as it was written now.');
    expect(stdout).not.toContain('--trust');
    expect(await fireGuard()).toBe(2);
    expect(await check()).toBe(0);
    expect((await cli.run(['test'])).stdout).toContain('1 passed, 0 failed');
    await cli.write(SCRIPT, '');
    expect(await check()).toBe(1);
  });

  it('leaves hooks allowed beside which it writes others', async () => {
    await init();
    expect(await init('--name', 'second', '--language', 'bash')).toMatchObject({ allowed: true });
    expect(await check()).toBe(0);
  });

  it.each([
    ['beside its script', '.llxprt/hooks/helper.mjs'],
    ['in a folder beside it', '.llxprt/hooks/lib/helper.mjs'],
  ])('allows nothing where there is a file %s that nobody has seen', async (_, file) => {
    await cli.write(file, 'evil');
    const { allowed, next } = await init();
    expect({ allowed, last: next.at(-1) }).toEqual({ allowed: false, last: 'hookstack trust' });
    expect(await check()).toBe(1);
    const { stdout } = await cli.run(['init', '--name', 'second']);
    expect(stdout).toContain(`It is not allowed yet, as ${file} was there already.`);
  });

  it('allows neither hooks that were there, nor their settings, and says so', async () => {
    await cli.write('.claude/hooks/theirs.sh', 'touch pwned');
    await cli.projectSettings(
      { BeforeTool: group('sh .claude/hooks/theirs.sh', { name: 'theirs' }) },
      { disabledHooks: ['x'] },
    );
    const { allowed, obstacles, next } = await init();
    expect(allowed).toBe(true);
    expect(obstacles).toEqual([`Not allowed yet: 1 hook and the settings. ${NEXT_TRUST}`]);
    expect(next.join()).not.toContain('trust');
    const { items } = JSON.parse((await cli.run(['trust', '--check', '--json'])).stdout) as {
      items: { status: string }[];
    };
    expect(items.map(({ status }) => status).toSorted()).toEqual(['allowed', 'new', 'new']);
  });

  it('allows nothing anew that has changed since it was allowed', async () => {
    await init();
    await cli.write(SCRIPT, 'process.exit(0)');
    expect(await init('--name', 'second')).toMatchObject({ allowed: false });
    const { stdout } = await cli.run(['trust', '--check']);
    expect(stdout).toContain('BeforeTool [changed]');
    expect(await fireGuard()).toBe(2);
  });

  it('is not told from outside what it has written', async () => {
    await cli.extension('project', 'e', {
      hooks: {
        BeforeTool: group('node $LLXPRT_PROJECT_DIR/.llxprt/hooks/protect-env.mjs', {
          name: 'protect-env',
          matcher: '^(write_file|replace)$',
          timeout: 10_000,
          onFailure: 'deny',
        }),
      },
    });
    expect((await init()).obstacles).toEqual([`Not allowed yet: 1 hook. ${NEXT_TRUST}`]);
  });
});

const isOff = () => `enableHooks is false in ${join(cli.home, '.llxprt/settings.json')}`;
const state = async () => (await cli.run(['list'])).stdout.split('\n')[0];

describe("the user's own `enableHooks: false`", () => {
  it('has the last word over a project, before and after `disable`, and every command says so', async () => {
    await cli.userSettings({}, { enableHooks: false });
    const advice = `${isOff()}; write "enableHooks": true in that file`;
    expect((await cli.run(['init'])).stdout).toContain(advice);
    expect(await state()).toContain(isOff());
    expect((await cli.run(['trust', '--yes'])).stderr).toContain(advice);
    for (const command of ['disable', 'enable']) {
      const { stderr, exitCode } = await cli.run([command, 'protect-env']);
      expect(exitCode).toBe(0);
      if (command === 'enable') expect(stderr).toContain(advice);
      expect(await state()).toContain(isOff());
    }
    await cli.projectSettings({ BeforeTool: group('true') }, { maxParallelHooks: 2 });
    expect(await cli.run(['trust', '--open'])).toMatchObject({ exitCode: 0 });
    expect(await state()).toContain(isOff());
    const doctor = await cli.run(['doctor']);
    expect(doctor.stdout).toContain(advice);
    expect(doctor.exitCode).toBe(1);
  });

  it('does not take away what an allowed project switches off', async () => {
    await cli.userSettings({}, { enableHooks: true });
    await cli.projectSettings({ BeforeTool: group('true') }, { enableHooks: false });
    expect(await state()).toContain('Hooks are on');
    const { stderr } = await cli.run(['trust', '--open']);
    expect(stderr).toContain('write "enableHooks": true in your own settings');
    expect(await state()).toContain('enableHooks is false in');
  });
});

describe('what is not allowed', () => {
  it('is the last word of doctor, also where --trust ran it', async () => {
    await cli.write('.llxprt/hooks/theirs.sh', 'cat');
    await cli.projectSettings({
      BeforeTool: group('sh .llxprt/hooks/theirs.sh', { name: 'theirs' }),
    });
    const { stdout, exitCode } = await cli.run(['doctor', '--trust']);
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd()).toMatch(
      /\nNot allowed yet: 1 hook\. To see and allow, run: hookstack trust$/u,
    );
    await cli.run(['trust', '--open']);
    expect((await cli.run(['doctor'])).stdout).not.toContain('Not allowed');
  });

  it('is what migrate ends with, which allows nothing itself', async () => {
    const hooks = { PreToolUse: group('grep -q rm && exit 2; true', { name: 'no-rm' }) };
    await cli.write('.claude/settings.json', { hooks });
    const { stdout } = await cli.run(['migrate', '--from', 'claude']);
    expect(stdout).toContain(`Not allowed yet: 1 hook. ${NEXT_TRUST}`);
    expect(await check()).toBe(1);
    await cli.run(['trust', '--open']);
    const again = await cli.run(['migrate', '--from', 'claude']);
    expect(again.stdout).not.toContain('hookstack trust');
    expect(again.stdout).toContain('hookstack doctor');
  });

  it('goes on denying where a changed guard is not allowed again, as others are', async () => {
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2');
    await cli.projectSettings({
      BeforeTool: group('sh .llxprt/hooks/guard.sh', { name: 'guard', onFailure: 'deny' }),
    });
    await cli.run(['trust', '--yes']);
    await cli.projectSettings({
      BeforeTool: group('make', { name: 'guard', onFailure: 'deny' }),
      AfterTool: group('sh .llxprt/hooks/guard.sh'),
    });
    // The guard is open now.
    expect(await cli.run(['trust', '--yes'])).toMatchObject({ exitCode: 1 });
    expect(await fireGuard()).toBe(2);
    const store = await readFile(join(cli.home, '.llxprt/trusted-hooks.json'), 'utf8');
    expect(store.match(/"kind"/gu)).toHaveLength(2);
  });
});
