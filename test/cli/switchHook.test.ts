import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

const userFile = () => join(cli.home, '.llxprt/settings.json');

async function disabledIn(file: string): Promise<unknown> {
  const { disabledHooks } = JSON.parse(await readFile(file, 'utf8')) as { disabledHooks?: unknown };
  return disabledHooks;
}

async function stateOf(hook: string): Promise<unknown> {
  const { stdout } = await cli.run(['list', '--json', '--trust']);
  const { hooks } = JSON.parse(stdout) as { hooks: { hook: string; reason: unknown }[] };
  return hooks.find((each) => each.hook === hook)?.reason;
}

describe('disable and enable', () => {
  it('switch a hook of the user off and on, in the settings of the user', async () => {
    await cli.userSettings({ BeforeTool: group('mine', { name: 'guard' }) });
    expect(await cli.run(['disable', 'guard'])).toEqual({
      exitCode: 0,
      stdout: `"guard" of the user is disabled in ${userFile()}`,
      stderr: '',
    });
    expect(await stateOf('guard')).toBe(
      `disabled by name in ${userFile()}; to switch it on: hookstack enable guard`,
    );
    const again = await cli.run(['disable', 'guard']);
    expect(again.stdout).toContain('is disabled already');
    expect(await disabledIn(userFile())).toEqual(['user:guard']);

    expect(await cli.run(['enable', 'guard'])).toMatchObject({ exitCode: 0 });
    expect(await stateOf('guard')).toBeNull();
    expect(await disabledIn(userFile())).toBeUndefined();
    const { stdout, exitCode } = await cli.run(['enable', 'guard']);
    expect({ stdout, exitCode }).toEqual({ stdout: '"guard" is not disabled', exitCode: 0 });
  });

  it('switch a hook of the project in the settings of the project, unless told otherwise', async () => {
    const project = await cli.projectSettings({ BeforeTool: group('theirs') });
    expect(await cli.run(['disable', 'theirs'])).toMatchObject({
      exitCode: 0,
      stdout: `"theirs" of the project is disabled in ${project}`,
    });
    expect(await disabledIn(project)).toEqual(['theirs']);
    await cli.run(['disable', 'theirs', '--user', '--json']);
    expect(await disabledIn(userFile())).toEqual(['project:theirs']);

    const half = await cli.run(['enable', 'theirs', '--project']);
    expect(half.exitCode).toBe(1);
    expect(half.stderr).toContain(`"theirs" is still disabled in ${userFile()}`);
    const { stdout } = await cli.run(['enable', 'theirs', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      hook: 'theirs',
      enabled: true,
      changed: [userFile()],
      disabledIn: [],
    });
  });

  it('have an effect on an allowed hook at once, and leave all allowed as it was', async () => {
    await cli.projectSettings(
      { BeforeTool: group('exit 2', { name: 'guard' }) },
      { maxStopHookRetries: 3 },
    );
    await cli.run(['trust', '--open']);
    const fire = async () => (await cli.run(['fire', 'BeforeTool'])).exitCode;
    expect(await fire()).toBe(2);
    expect(await cli.run(['disable', 'guard'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await fire()).toBe(0);
    expect(await cli.run(['trust', '--check'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await cli.run(['enable', 'guard'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await fire()).toBe(2);
    expect(await cli.run(['trust', '--check'])).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('say what to run where other keys of the file have not been allowed, and allow none of them', async () => {
    const project = await cli.projectSettings(
      { BeforeTool: group('theirs') },
      { maxParallelHooks: 1 },
    );
    const { exitCode, stdout, stderr } = await cli.run(['disable', 'theirs']);
    expect(stdout).toBe(`"theirs" of the project is named in disabledHooks in ${project}`);
    expect(stderr).toContain(
      'error: "theirs" is not disabled yet, as what this file sets has not been allowed yet; to see and allow it, run in the project: hookstack trust',
    );
    expect(exitCode).toBe(1);
    const json = await cli.run(['disable', 'theirs', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ enabled: true, disabledIn: [project] });
    expect(await cli.run(['trust', '--check'])).toMatchObject({ exitCode: 1 });
    await cli.run(['trust', '--open']);
    expect((await cli.run(['list'])).stdout).toContain('theirs [not run: disabled by name in ');
  });

  it('keep comments, and the other names', async () => {
    await cli.write(
      userFile(),
      `{
  "hooks": { "BeforeTool": [{ "hooks": [{ "type": "command", "command": "mine" }] }] },
  "disabledHooks": [
    "other", // noisy
    "another"
  ]
}
`,
    );
    await cli.run(['disable', 'mine']);
    const text = await readFile(userFile(), 'utf8');
    expect(text).toContain('"other", // noisy\n    "another",\n    "user:mine"\n  ]');
    await cli.run(['enable', 'mine']);
    expect(await readFile(userFile(), 'utf8')).toContain('"other", // noisy\n    "another"\n  ]');
  });

  it('suggest the nearest name for one that there is not', async () => {
    await cli.userSettings({ BeforeTool: group('mine', { name: 'guard' }) });
    for (const command of ['enable', 'disable']) {
      expect(await cli.run([command, 'gard'])).toEqual({
        exitCode: 2,
        stdout: '',
        stderr: `error: There is no hook "gard"; did you mean 'guard'?`,
      });
    }
  });

  it('can take out the name of a hook that is gone', async () => {
    await cli.userSettings({}, { disabledHooks: ['gone'] });
    expect(await cli.run(['enable', 'gone'])).toMatchObject({ exitCode: 0 });
    expect(await disabledIn(userFile())).toBeUndefined();
  });

  it('leave a file alone that others could have written', async () => {
    const hooks = JSON.stringify({ hooks: { BeforeTool: group('mine') } });
    await cli.extension('project', 'tools', {}, { 'hooks/hooks.json': hooks });
    const project = await cli.projectSettings({});
    await chmod(project, 0o666);
    const { exitCode, stderr } = await cli.run(['disable', 'mine', '--project']);
    expect(stderr).toContain('is not changed: other users may write it');
    expect(exitCode).toBe(1);
    expect(await disabledIn(project)).toBeUndefined();
  });

  it('change nothing where the list is written twice, of which only the last one counts', async () => {
    const text = `{
  "hooks": { "BeforeTool": [{ "hooks": [{ "type": "command", "command": "mine" }] }] },
  "disabledHooks": [],
  "disabledHooks": ["other"]
}
`;
    await cli.write(userFile(), text);
    for (const args of [
      ['disable', 'mine'],
      ['enable', 'other'],
    ]) {
      const { exitCode, stderr } = await cli.run(args);
      expect(stderr).toContain(`${userFile()}:3:3: not changed: "disabledHooks" is written again`);
      expect(exitCode).toBe(1);
    }
    expect(await readFile(userFile(), 'utf8')).toBe(text);
  });

  it('switch all hooks off and on', async () => {
    await cli.userSettings({ BeforeTool: group('mine'), AfterTool: group('more', { name: 'b' }) });
    const project = await cli.projectSettings({ BeforeTool: group('theirs') });
    const off = await cli.run(['disable', '--all', '--json']);
    expect(off.exitCode).toBe(0);
    const { hooks } = JSON.parse(off.stdout) as { hooks: { hook: string }[] };
    expect(hooks.map(({ hook }) => hook).toSorted()).toEqual(['b', 'mine', 'theirs']);
    expect((await disabledIn(userFile())) as string[]).toEqual(
      expect.arrayContaining(['user:mine', 'user:b']),
    );
    expect(await disabledIn(project)).toEqual(['theirs']);

    const on = await cli.run(['enable', '--all']);
    expect(on.exitCode).toBe(0);
    expect(on.stdout.split('\n')).toHaveLength(3);
    expect(on.stdout).toContain(`"theirs" is not disabled any more in ${project}`);
    expect(await disabledIn(userFile())).toBeUndefined();
    expect(await disabledIn(project)).toBeUndefined();
    expect(await cli.run(['enable', '--all'])).toMatchObject({ stdout: 'No hook is disabled' });
  });

  it('take either a name or --all', async () => {
    for (const args of [['disable'], ['enable'], ['disable', 'x', '--all']]) {
      const { exitCode, stderr } = await cli.run(args);
      expect(stderr).toBe('error: Name one hook, or take all of them with --all');
      expect(exitCode).toBe(2);
    }
  });

  it('take either --project or --user', async () => {
    const { exitCode, stderr } = await cli.run(['disable', 'x', '--project', '--user']);
    expect(stderr).toContain("option '--project' cannot be used with option '--user'");
    expect(exitCode).toBe(2);
  });
});

async function isDenied(): Promise<boolean> {
  return (await cli.run(['fire', 'BeforeTool', '--trust'])).exitCode === 2;
}

async function reasons(): Promise<Record<string, string | null>> {
  const { stdout } = await cli.run(['list', '--json', '--trust']);
  const { hooks } = JSON.parse(stdout) as {
    hooks: { source: string; extension: string | null; reason: string | null }[];
  };
  return Object.fromEntries(hooks.map((hook) => [hook.extension ?? hook.source, hook.reason]));
}

describe('a hook of the project that is called as a guard of the user', () => {
  const guard = { BeforeTool: group('cat > /dev/null; exit 2', { name: 'guard' }) };
  const theirs = { BeforeTool: group('true', { name: 'guard' }) };

  it('is not switched off together with it: who cannot be asked has to say whose is meant', async () => {
    const user = await cli.userSettings(guard);
    const project = await cli.projectSettings(theirs);
    for (const args of [
      ['disable', 'guard'],
      ['disable', 'guard', '--json'],
    ]) {
      const { exitCode, stderr } = await cli.run(args);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(
        `"guard" is the name of hooks of several: of the user (${user}), and of the project (${project}); say whose is meant with --scope user or --scope project`,
      );
    }
    expect(await disabledIn(user)).toBeUndefined();
    expect(await isDenied()).toBe(true);
  });

  it('is switched off by its scope, and the guard stays on', async () => {
    const user = await cli.userSettings(guard);
    const project = await cli.projectSettings(theirs);
    for (const [more, file, entry] of [
      [[], project, 'guard'],
      [['--user'], user, 'project:guard'],
    ] as const) {
      const off = await cli.run(['disable', 'guard', '--scope', 'project', ...more]);
      expect(off.stdout).toBe(`"guard" of the project is disabled in ${file}`);
      expect(await disabledIn(file)).toEqual([entry]);
      expect(await reasons()).toEqual({
        user: null,
        project: expect.stringContaining('disabled by name in') as string,
      });
      expect(await isDenied()).toBe(true);
      expect(await cli.run(['enable', 'guard', '--scope', 'user'])).toMatchObject({
        stdout: '"guard" is not disabled',
      });
      expect(await cli.run(['enable', 'guard', '--scope', 'project'])).toMatchObject({
        exitCode: 0,
      });
      expect(await disabledIn(file)).toBeUndefined();
    }
  });

  it('is left alone where the guard is meant, by the user', async () => {
    const user = await cli.userSettings(guard);
    await cli.projectSettings(theirs);
    const off = await cli.run(['disable', 'guard', '--scope', 'user']);
    expect(off.stdout).toBe(`"guard" of the user is disabled in ${user}`);
    expect(await disabledIn(user)).toEqual(['user:guard']);
    expect(await reasons()).toMatchObject({ project: null });
    expect(await isDenied()).toBe(false);
    const wrong = await cli.run(['disable', 'guard', '--scope', 'user', '--project']);
    expect(wrong).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('leave --project out') as string,
    });
    const none = await cli.run(['disable', 'guard', '--scope', 'system']);
    expect(none).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('"guard" is no hook of the system') as string,
    });
  });

  it('is asked about on a terminal', async () => {
    await cli.userSettings(guard);
    await cli.projectSettings(theirs);
    const { exitCode, shown } = await cli.onTerminal('disable guard', 'both\n', 'project\n');
    expect(shown).toContain('Whose "guard"? user, project, or (q)uit: ');
    expect(shown).toContain('"guard" of the project is disabled in');
    expect(exitCode).toBe(0);
    expect(await isDenied()).toBe(true);
    const quit = await cli.onTerminal('disable guard', 'q\n');
    expect(quit).toMatchObject({
      exitCode: 2,
      shown: expect.stringContaining('Nothing is changed') as string,
    });
  });

  it('takes a name without a scope for itself, which is told; alone, it counts for all as ever', async () => {
    await cli.userSettings(guard, { disabledHooks: ['guard'] });
    expect(await isDenied()).toBe(false);
    await cli.projectSettings(theirs);
    const { exitCode, stderr } = await cli.run(['fire', 'BeforeTool']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      '"guard" in disabledHooks switches off the hook of this project alone',
    );
    expect(await cli.run(['enable', 'guard'])).toMatchObject({ exitCode: 0 });
    expect(await disabledIn(userFile())).toBeUndefined();
  });

  it.each(['guard', 'user:guard', 'extension:guard', 'system:guard', 'project:guard'])(
    'cannot switch it off with what the project says, allowed or not: %s',
    async (name) => {
      await cli.userSettings(guard);
      await cli.projectSettings(theirs, { disabledHooks: [name] });
      expect(await isDenied()).toBe(true);
      await cli.projectSettings({}, { disabledHooks: [name] });
      expect(await cli.run(['trust', '--yes'])).toMatchObject({ exitCode: 0 });
      expect((await cli.run(['fire', 'BeforeTool'])).exitCode).toBe(2);
    },
  );

  it('may belong to an extension', async () => {
    const hooks = JSON.stringify({ hooks: theirs });
    await cli.extension('user', 'tools', {}, { 'hooks/hooks.json': hooks });
    await cli.extension('project', 'more', {}, { 'hooks/hooks.json': hooks });
    const { stderr } = await cli.run(['disable', 'guard']);
    expect(stderr).toContain('--scope extension or --scope project');
    await cli.run(['disable', 'guard', '--scope', 'extension']);
    expect(await disabledIn(userFile())).toEqual(['extension:guard']);
    expect(await reasons()).toMatchObject({
      tools: expect.stringContaining('disabled by name') as string,
      more: 'hooks are off',
    });
  });
});
