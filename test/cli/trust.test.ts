import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

beforeEach(async () => {
  await cli.write('.llxprt/hooks/guard.sh', 'touch ran');
  await cli.projectSettings({ BeforeTool: group('sh .llxprt/hooks/guard.sh', { name: 'guard' }) });
});

const fire = (env: NodeJS.ProcessEnv = {}) => cli.run(['fire', 'BeforeTool'], { env });
const hasRun = () => existsSync(join(cli.project, 'ran'));

const onTerminal = (args: string, ...answers: string[]) => cli.onTerminal(args, ...answers);

describe('trust', () => {
  it('says that there is nothing to allow', async () => {
    await cli.projectSettings({});
    await cli.userSettings({ BeforeTool: group('true') });
    expect(await cli.run(['trust'])).toEqual({
      exitCode: 0,
      stdout: `Nothing in ${cli.project} needs to be allowed.`,
      stderr: '',
    });
  });

  it('asks on a terminal, and lets run what is agreed to', async () => {
    const { exitCode, shown } = await onTerminal('trust', 'y\n');
    expect(shown).toContain('1 of 1: BeforeTool [new]');
    expect(shown).toContain('--- .llxprt/hooks/guard.sh\n  | touch ran\n');
    expect(shown).toContain('Allow it? (y)es, (n)o, (a)ll that are pinned, (q)uit:');
    expect(shown).toContain('Allowed: 1 hook.');
    expect(exitCode).toBe(0);
    expect(await fire()).toMatchObject({ exitCode: 0, stderr: '' });
    expect(hasRun()).toBe(true);
  });

  it('shows the script before files that a project put in front of it', async () => {
    for (let file = 0; file < 21; file++) await cli.write(`.llxprt/hooks/a/${file}.sh`, '');
    await cli.write('.llxprt/hooks/b/node_modules/c.js', '');
    const { stdout } = await cli.run(['trust', '--check']);
    expect(stdout).toMatch(/command: .*\n(?: {4}\w.*\n)* {4}\.llxprt\/hooks\/guard\.sh {2}sha256/u);
    expect(stdout).not.toContain('node_modules');
    expect(stdout).toContain('and 3 more files');
  });

  it('keeps names of files from being commands of a workflow', async () => {
    const name = '.llxprt/extensions/x\n::add-mask::y';
    await cli.write(`${name}/llxprt-extension.json`, '{');
    const { stderr } = await cli.run(['trust', '--check', '--cwd', name]);
    expect(stderr).toContain(String.raw`x\n::add-mask::y/llxprt-extension.json cannot be read`);
    expect(stderr).not.toMatch(/^::/mu);
  });

  it('says on one line where the project is', async () => {
    await cli.write('a\n::error::b/.llxprt/settings.json', {});
    await cli.write('a\n::error::b/c/file', '');
    const { stderr } = await cli.run(['trust', '--check', '--cwd', 'a\n::error::b/c']);
    expect(stderr).toContain(String.raw`/a\n::error::b, the nearest folder`);
  });

  it('counts the rows of a long line, which would else push what is above out of sight', async () => {
    await cli.write('.llxprt/hooks/guard.sh', `touch ran\n: ${'a'.repeat(30_000)}\n: last`);
    const { shown } = await onTerminal('trust', 's\n', 'n\n');
    expect(shown).toContain('  | touch ran\n');
    expect(shown).toContain(' more lines: (Enter) shows them, (s)kip: ');
    expect(shown).not.toContain(': last');
    const [long = '', more = ''] = /^ {2}\| : a+$\n(.*)/mu.exec(shown) ?? [];
    expect(long.split('\n')[0]?.length).toBeLessThanOrEqual(200);
    expect(more).toMatch(/^ {2}> a+$/u);
  });

  it('shows a long definition a page at a time', async () => {
    const command = `sh .llxprt/hooks/guard.sh # ${'a'.repeat(30_000)}`;
    await cli.projectSettings({ BeforeTool: group(command, { name: 'guard' }) });
    const { shown } = await onTerminal('trust', '\n', '\n', 'n\n');
    expect(shown.split('1 of 1:')[1]).toMatch(/ {2}> a+\n[^]*more lines: [^]*Allow it/u);
  });

  it('shows all of a long script, a page at a time', async () => {
    const lines = Array.from({ length: 250 }, (_, index) => `# line ${index + 1}`);
    await cli.write('.llxprt/hooks/guard.sh', lines.join('\n'));
    const { exitCode, shown } = await onTerminal('trust', '\n', '\n', 'y\n');
    expect(shown).toContain('162 more lines: (Enter) shows them, (s)kip: ');
    for (const line of lines) expect(shown).toContain(`  | ${line}\n`);
    expect(exitCode).toBe(0);
    await cli.run(['untrust']);
    const skipped = await onTerminal('trust', 's\n', 'y\n');
    expect(skipped.shown).not.toContain('# line 250');
    expect(skipped.exitCode).toBe(0);
  });

  it.each([
    ['no', 'n\n'],
    ['nothing', '\n'],
    ['something else', 'maybe\n'],
    ['the end of the input', '\u0004'],
  ])('takes %s for no', async (_, typed) => {
    const { exitCode } = await onTerminal('trust', typed);
    expect(exitCode).toBe(1);
    await fire();
    expect(hasRun()).toBe(false);
  });

  it('asks nothing without a terminal, and says what to do', async () => {
    const { exitCode, stderr } = await cli.run(['trust'], { input: 'y\n' });
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'error: not allowed: 1 hook; nobody can be asked here; look at the list, then run: hookstack trust --yes',
    );
    expect(await cli.run(['trust', '--check'])).toMatchObject({ exitCode: 1 });
  });

  it('asks nothing with --yes, and knows the next time', async () => {
    expect(await cli.run(['trust', '--yes'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await cli.run(['trust'])).toMatchObject({ exitCode: 0, stderr: '' });
    await fire();
    expect(hasRun()).toBe(true);
  });

  it('shows what would run, from where, and what has changed since', async () => {
    expect((await cli.run(['trust', '--yes'])).stdout).toMatch(
      `What ${cli.project} would run:

BeforeTool [new]
    from .llxprt/settings.json:1:54
    pinned: its definition and every file of ".llxprt/hooks/" are covered; what its script loads or starts from elsewhere is not
    command: "sh .llxprt/hooks/guard.sh"
    event: "BeforeTool"
    name: "guard"
    type: "command"
    .llxprt/hooks/guard.sh  sha256:`,
    );
    await cli.write('.llxprt/hooks/guard.sh', 'touch pwned');
    await cli.write('.llxprt/hooks/more.sh', 'touch pwned');
    await cli.projectSettings({
      BeforeTool: group('sh .llxprt/hooks/guard.sh more', { name: 'guard', matcher: 'write' }),
    });
    const { exitCode, stdout } = await cli.run(['trust']);
    expect(exitCode).toBe(1);
    expect(stdout.replaceAll(/:[\da-f]{12}/g, ':…')).toBe(`What ${cli.project} would run:

BeforeTool [changed]
    it has changed since it was allowed (its command, its matcher, .llxprt/hooks/guard.sh, 1 more)
    from .llxprt/settings.json:1:72
    pinned: its definition and every file of ".llxprt/hooks/" are covered; what its script loads or starts from elsewhere is not
    event: "BeforeTool"
    name: "guard"
    type: "command"
  - command: "sh .llxprt/hooks/guard.sh"
  + command: "sh .llxprt/hooks/guard.sh more"
  + matcher: "write"
  ~ .llxprt/hooks/guard.sh  sha256:… 644
  + .llxprt/hooks/more.sh  sha256:… 644

--- .llxprt/hooks/guard.sh as it was allowed
+++ .llxprt/hooks/guard.sh as it is now
@@
-touch ran
+touch pwned`);
  });

  it('asks about each, takes all that are pinned at once, and open ones one by one', async () => {
    const commands = [
      'sh .llxprt/hooks/guard.sh first',
      'npm test',
      'sh .llxprt/hooks/guard.sh',
      'bash -c "touch second"',
    ];
    await cli.projectSettings({ BeforeTool: commands.flatMap((command) => group(command)) });
    const { exitCode, shown } = await onTerminal('trust', 'a\n', 'n\n', 'y\n');
    expect(shown).toContain('1 of 4: BeforeTool [new]');
    expect(shown).toContain('2 of 4: BeforeTool [new]');
    expect(shown).not.toContain('3 of 4');
    expect(shown).toContain('4 of 4: BeforeTool [new]');
    expect(shown).toContain('Allowed: 3 hooks.');
    expect(exitCode).toBe(1);
    const { stdout } = await cli.run(['trust', '--check', '--json']);
    const { items } = JSON.parse(stdout) as { items: { status: string; class: string }[] };
    expect(items.map(({ status, class: covers }) => [status, covers])).toEqual([
      ['allowed', 'pinned'],
      ['new', 'open'],
      ['allowed', 'pinned'],
      ['allowed', 'open'],
    ]);
  });

  it('allows an open hook with --open, and not with --yes', async () => {
    await cli.projectSettings({ BeforeTool: group('bash -c "touch ran"') });
    const plain = await cli.run(['trust', '--yes']);
    expect(plain.exitCode).toBe(1);
    expect(plain.stdout).toContain(
      'open: only its definition is covered: what it runs may change unasked, because it gives bash code or an option (-c)',
    );
    expect(plain.stderr).toContain('if you accept that, run: hookstack trust --open');
    await fire();
    expect(hasRun()).toBe(false);
    expect(await cli.run(['trust', '--open'])).toMatchObject({ exitCode: 0, stderr: '' });
    await fire();
    expect(hasRun()).toBe(true);
  });

  it('shows what a terminal would hide', async () => {
    await cli.projectSettings({
      BeforeTool: group('touch pwned #\u001b[2K\r\u202eharmless\u009b1m'),
    });
    const { stdout } = await cli.run(['trust']);
    expect(stdout).toContain(String.raw`command: "touch pwned #\u001b[2K\r\u202eharmless\x9b1m"`);
  });

  it('skips only what has changed, and names what to run', async () => {
    await cli.projectSettings({
      BeforeTool: [...group('sh .llxprt/hooks/guard.sh'), ...group('sh .claude/hooks/second.sh')],
    });
    await cli.write('.claude/hooks/second.sh', 'touch second');
    await cli.run(['trust', '--yes']);
    await cli.write('.llxprt/hooks/guard.sh', 'touch ran; true');
    const { stderr } = await fire();
    expect(stderr).toContain(
      'The hook "sh .llxprt/hooks/guard.sh" is skipped; to see and allow it, run in the project: hookstack trust. It has changed since it was allowed (.llxprt/hooks/guard.sh)',
    );
    expect(hasRun()).toBe(false);
    expect(existsSync(join(cli.project, 'second'))).toBe(true);
  });

  it('lets a guard deny that has changed since it was allowed, and a new one do nothing', async () => {
    await cli.projectSettings({
      BeforeTool: group('sh .llxprt/hooks/guard.sh', { onFailure: 'deny' }),
    });
    expect(await fire()).toMatchObject({ exitCode: 0 });
    await cli.run(['trust', '--yes']);
    expect(await fire()).toMatchObject({ exitCode: 0, stderr: '' });
    await rm(join(cli.project, 'ran'));
    for (const [command, onFailure] of [
      ['sh .llxprt/hooks/guard.sh # changed', 'deny'],
      ['sh .llxprt/hooks/guard.sh', 'allow'],
    ] as const) {
      await cli.projectSettings({ BeforeTool: group(command, { onFailure }) });
      const { exitCode, stdout } = await fire();
      expect(stdout).toContain('must not be bypassed, and it was not started');
      expect(stdout).toContain('hookstack trust');
      expect(exitCode).toBe(2);
    }
    expect(hasRun()).toBe(false);
  });

  it('allows nothing that is refused', async () => {
    await chmod(join(cli.project, '.llxprt/hooks/guard.sh'), 0o666);
    const { exitCode, stdout, stderr } = await cli.run(['trust', '--yes']);
    expect(stdout).toContain('[refused: .llxprt/hooks/guard.sh: other users may write it');
    expect(stderr).toContain('refused: 1 hook; nobody can allow that');
    expect(exitCode).toBe(1);
    expect(await cli.run(['trust', '--lock'])).toMatchObject({ exitCode: 1 });
    await fire();
    expect(hasRun()).toBe(false);
  });

  it('writes everything as JSON', async () => {
    const { exitCode, stdout } = await cli.run(['trust', '--json']);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      project: cli.project,
      allowed: false,
      problems: [],
      items: [
        {
          kind: 'hook',
          status: 'new',
          reason: 'has not been allowed yet',
          class: 'pinned',
          covers: expect.stringContaining('every file of ".llxprt/hooks/"'),
          definition: {
            type: 'command',
            event: 'BeforeTool',
            command: 'sh .llxprt/hooks/guard.sh',
            name: 'guard',
          },
          files: { '.llxprt/hooks/guard.sh': expect.stringMatching(/^sha256:[\da-f]{64} 644$/) },
          digest: expect.stringMatching(/^sha256:[\da-f]{64}$/),
          file: join(cli.project, '.llxprt/settings.json'),
          line: 1,
          previous: null,
        },
      ],
    });
  });

  it('takes one of --yes, --check and --lock', async () => {
    expect(await cli.run(['trust', '--yes', '--check'])).toMatchObject({ exitCode: 2 });
    expect(await cli.run(['trust', '--open', '--check'])).toMatchObject({ exitCode: 2 });
  });
});

async function reasonOfNoisy(env: NodeJS.ProcessEnv = {}) {
  const { stdout, stderr } = await cli.run(['list', '--json'], { env });
  const { hooks } = JSON.parse(stdout) as { hooks: { hook: string; reason: unknown }[] };
  return { reason: hooks.find(({ hook }) => hook === 'noisy')?.reason, stderr };
}

const disabledHere = () =>
  `disabled by name in ${join(cli.project, '.llxprt/settings.json')}; to switch it on: hookstack enable noisy`;

describe('trust in the settings', () => {
  const guards = {
    BeforeTool: group('sh .llxprt/hooks/guard.sh', { name: 'guard' }),
    AfterTool: group('sh .llxprt/hooks/guard.sh', { name: 'noisy' }),
  };

  beforeEach(() => cli.projectSettings(guards, { disabledHooks: ['noisy'] }));

  it('is asked with the hooks, and makes them count as written', async () => {
    const before = await reasonOfNoisy();
    expect(before.reason).toContain('untrusted');
    expect(before.stderr).toContain(
      'disabledHooks: ignored, as what this file sets has not been allowed yet; to see and allow it, run in the project: hookstack trust',
    );
    expect(await cli.run(['trust', '--check'])).toMatchObject({
      exitCode: 1,
      stderr: 'error: not allowed: 2 hooks and the settings; see with: hookstack trust',
    });
    const { exitCode, stdout, stderr } = await cli.run(['trust', '--yes']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain(`Settings [new]
    from .llxprt/settings.json:1:2
    pinned: all keys besides hooks are covered, each with its value
    disabledHooks: ["noisy"]
    enableHooks: true
`);
    expect(stdout).toContain('Allowed: 2 hooks and the settings.');
    expect(await reasonOfNoisy()).toEqual({ reason: disabledHere(), stderr: '' });
    expect(await cli.run(['trust', '--check'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await cli.run(['untrust'])).stdout).toBe(
      'No longer allowed: 2 hooks and the settings.',
    );
    expect((await reasonOfNoisy()).reason).toContain('untrusted');
  });

  it('ends when one of them changes, for them alone, and says which', async () => {
    await cli.run(['trust', '--yes']);
    await cli.projectSettings(guards, { disabledHooks: ['noisy', 'more'] });
    const { reason, stderr } = await reasonOfNoisy();
    expect(reason).toBeNull();
    expect(stderr).toContain('has changed since it was allowed (its disabledHooks)');
    const { stdout } = await cli.run(['trust', '--check']);
    expect(stdout).toContain('Settings [changed]');
    expect(stdout).toContain('  - disabledHooks: ["noisy"]\n  + disabledHooks: ["noisy","more"]');
    expect(stdout).not.toContain('BeforeTool');
    await fire();
    expect(hasRun()).toBe(true);
  });

  it('is in a lock', async () => {
    const { stdout: digest } = await cli.run(['trust', '--lock']);
    const env = { HOOKSTACK_TRUST_LOCK: digest };
    expect(await reasonOfNoisy(env)).toEqual({ reason: disabledHere(), stderr: '' });
    expect((await reasonOfNoisy()).reason).toContain('untrusted');
  });

  it('has no say over hooks of others, which is told', async () => {
    await cli.userSettings({ AfterTool: group('true', { name: 'mine' }) });
    await cli.projectSettings(guards, { disabledHooks: ['mine'] });
    await cli.run(['trust', '--yes']);
    const { stdout, stderr } = await cli.run(['list']);
    expect(stdout).not.toContain('disabled by name');
    expect(stderr).toContain('"mine" in disabledHooks of this project has no effect');
  });

  it('can be refused on a terminal, where the hooks are allowed', async () => {
    const { exitCode, shown } = await onTerminal('trust', 'n\n', 'y\n', 'y\n');
    expect(shown).toContain('1 of 3: Settings [new]');
    expect(exitCode).toBe(1);
    expect((await reasonOfNoisy()).reason).toBeNull();
    await fire();
    expect(hasRun()).toBe(true);
  });

  it('is not needed for what only tightens', async () => {
    await cli.projectSettings(guards, { afterModelDisplay: 'hold' });
    expect((await reasonOfNoisy()).stderr).not.toContain('ignored');
  });
});

describe('trust --check', () => {
  it('tells by its exit code, and lists what is not allowed', async () => {
    const before = await cli.run(['trust', '--check']);
    expect(before).toMatchObject({
      exitCode: 1,
      stderr: 'error: not allowed: 1 hook; see with: hookstack trust',
    });
    expect(before.stdout).toContain('sh .llxprt/hooks/guard.sh');
    await cli.run(['trust', '--yes']);
    expect(await cli.run(['trust', '--check'])).toEqual({
      exitCode: 0,
      stdout: 'All is allowed.',
      stderr: '',
    });
  });

  it.each(['--check', '--yes', '--lock'])(
    'is not satisfied by what cannot be read: %s',
    async (flag) => {
      await cli.write('.llxprt/settings.json', '{ "hooks": ');
      const { exitCode, stderr } = await cli.run(['trust', flag]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain('settings.json cannot be read, and may hold more');
    },
  );

  it('is not satisfied by the environment of one run', async () => {
    const env = { HOOKSTACK_TRUST_WORKSPACE: 'true' };
    expect(await cli.run(['trust', '--check'], { env })).toMatchObject({ exitCode: 1 });
  });
});

describe('trust --lock', () => {
  it('writes what another machine allows by its digest, and prints that', async () => {
    const { exitCode, stdout: digest } = await cli.run(['trust', '--lock']);
    expect(exitCode).toBe(0);
    expect(digest).toMatch(/^sha256:[\da-f]{64}$/);
    expect((await cli.run(['trust', '--lock'])).stdout).toBe(digest);
    await fire();
    expect(hasRun()).toBe(false);
    const env = { HOOKSTACK_TRUST_LOCK: digest };
    expect(await cli.run(['trust', '--check'], { env })).toMatchObject({ exitCode: 0 });
    expect(await fire(env)).toMatchObject({ stderr: '' });
    expect(hasRun()).toBe(true);
  });
});

describe('trust --lock of an open hook', () => {
  it('leaves it out, and says so, unless --open puts it in', async () => {
    await cli.projectSettings({ BeforeTool: group('bash -c "touch ran"') });
    const without = await cli.run(['trust', '--lock']);
    expect(without.stderr).toContain('left out, as open: 1 hook; add --open to put in');
    const lock = { HOOKSTACK_TRUST_LOCK: without.stdout };
    expect(await cli.run(['trust', '--check'], { env: lock })).toMatchObject({ exitCode: 1 });
    const { stdout: digest } = await cli.run(['trust', '--lock', '--open']);
    const env = { HOOKSTACK_TRUST_LOCK: digest };
    expect(await cli.run(['trust', '--check'], { env })).toMatchObject({ exitCode: 0 });
    await fire(env);
    expect(hasRun()).toBe(true);
  });
});

describe('trust --lock of open guards', () => {
  it('writes no lock without them, and names them and what to do', async () => {
    await cli.projectSettings({
      BeforeTool: group('jq -e .tool_input', { name: 'filter', onFailure: 'deny' }),
      AfterTool: group('npm test', { name: 'tests' }),
    });
    const { exitCode, stdout, stderr } = await cli.run(['trust', '--lock']);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('No lock is written: these guards are open');
    expect(stderr).toContain('hookstack trust --lock --open');
    expect(stderr).toContain('"filter"');
    expect(stderr).not.toContain('tests');
    expect(existsSync(join(cli.project, '.llxprt/hooks.lock'))).toBe(false);
    const { stdout: digest } = await cli.run(['trust', '--lock', '--open']);
    const env = { HOOKSTACK_TRUST_LOCK: digest };
    expect(await cli.run(['trust', '--check'], { env })).toMatchObject({ exitCode: 0 });
  });
});

it('trust shows 20 files of a kind, the script first, and counts the others', async () => {
  await cli.run(['trust', '--yes']);
  for (let file = 0; file < 50; file++) await cli.write(`.llxprt/hooks/a/${file}.js`, '');
  const { stdout } = await cli.run(['trust', '--check']);
  expect(stdout.match(/^ {2}\+ \.llxprt/gmu)).toHaveLength(20);
  expect(stdout).toContain('  + and 30 more files');
});

describe('untrust', () => {
  it('takes back what was allowed', async () => {
    expect((await cli.run(['untrust'])).stdout).toBe('Nothing was allowed here.');
    expect(JSON.parse((await cli.run(['untrust', '--json'])).stdout)).toEqual({
      project: cli.project,
      removed: 0,
    });
    await cli.run(['trust', '--yes']);
    expect(await cli.run(['untrust'])).toEqual({
      exitCode: 0,
      stdout: 'No longer allowed: 1 hook.',
      stderr: '',
    });
    await fire();
    expect(hasRun()).toBe(false);
  });
});

it('--trust and HOOKSTACK_TRUST_WORKSPACE allow all for one run', async () => {
  await cli.run(['fire', 'BeforeTool', '--trust']);
  expect(hasRun()).toBe(true);
  await rm(join(cli.project, 'ran'));
  await fire({ HOOKSTACK_TRUST_WORKSPACE: 'true' });
  expect(hasRun()).toBe(true);
  expect(await cli.run(['trust', '--check'])).toMatchObject({ exitCode: 1 });
});
