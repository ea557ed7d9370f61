import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandHookConfig, HookDefinition } from '../../src/protocol/types.js';
import { Cli, group } from './helpers.js';

const cli = new Cli();

interface Explained {
  enableHooks: boolean;
  sequential: boolean;
  hooks: { hook: string; runs: boolean; order: number | null; reason: string | null }[];
  problems: object[];
  environment: string[];
  withheld: string[];
}

async function explainJson(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { exitCode, stdout, stderr } = await cli.run(['explain', ...args, '--json'], { env });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return JSON.parse(stdout) as Explained;
}

function ofClaude(matcher: string): HookDefinition {
  const hooks = [{ type: 'command', command: `echo ${matcher}` }] as const;
  return { dialect: 'claude', matcher, hooks };
}

async function reasonOfFirst(): Promise<unknown> {
  return (await explainJson(['BeforeTool'])).hooks[0]?.reason;
}

describe('explain', () => {
  it('says in which order the hooks of an event run, and starts none of them', async () => {
    const file = await cli.userSettings({
      BeforeTool: [
        ...group('touch "$HOME/ran"', { name: 'first', matcher: '^write_', env: { STYLE: 'x' } }),
        ...group('node $LLXPRT_PROJECT_DIR/second.mjs', { onFailure: 'deny', timeout: 5000 }),
      ],
    });
    const { hooks, ...explained } = await explainJson(['BeforeTool', '--tool', 'write_file']);
    expect(explained).toMatchObject({
      event: 'BeforeTool',
      tool: 'write_file',
      enableHooks: true,
      enableHooksFile: file,
      sequential: false,
      withheld: [],
    });
    expect(hooks).toEqual([
      {
        event: 'BeforeTool',
        hook: 'first',
        order: 1,
        runs: true,
        reason: null,
        blocks: false,
        command: 'touch "$HOME/ran"',
        args: null,
        resolvedCommand: 'touch "$HOME/ran"',
        source: 'user',
        file,
        extension: null,
        matcher: '^write_',
        when: [],
        match: null,
        verdict: null,
        dialect: null,
        moment: null,
        timeoutMs: 60_000,
        async: null,
        persistent: null,
        class: null,
        onFailure: 'allow',
        prestart: false,
        environment: ['STYLE'],
      },
      expect.objectContaining({
        order: 2,
        resolvedCommand: 'node "${LLXPRT_PROJECT_DIR}"/second.mjs',
        timeoutMs: 5000,
        class: null,
        onFailure: 'deny',
      }),
    ]);
    await expect(access(join(cli.home, 'ran'))).rejects.toThrow('ENOENT');
  });

  it('says which server a remote hook asks, and no variables of a process', async () => {
    const url = 'https://policy.example/v1/events';
    const remote = { type: 'remote', name: 'policy', url } as unknown as CommandHookConfig;
    await cli.userSettings({ BeforeTool: [{ hooks: [remote] }] });
    const { stdout } = await cli.run(['explain', 'BeforeTool']);
    expect(stdout).toContain(`command: ${url}\n`);
    const { hooks } = await explainJson(['BeforeTool']);
    expect(hooks).toMatchObject([{ hook: 'policy', resolvedCommand: url, environment: [] }]);
  });

  it('says of a persistent hook when its process is started, and where it is not kept', async () => {
    await cli.userSettings({
      BeforeTool: [
        ...group('a.sh', { persistent: true }),
        ...group('b.sh', { persistent: { processes: 2, maxMemory: 64 }, prestart: true }),
        ...group('c.sh', { prestart: true }),
      ],
    });
    const { stdout } = await cli.run(['explain', 'BeforeTool']);
    const [first = '', second = '', third] = stdout
      .split('\n')
      .filter((line) => line.trimStart().startsWith('persistent:'));
    expect(first).toMatch(/started at its first event and stays .* beyond 512 MB$/u);
    expect(second).toMatch(
      /started when the hooks are read and stays .*up to 2 of them side by side.* beyond 64 MB$/u,
    );
    expect(third).toBeUndefined();
    expect(
      stdout.match(/not kept by hookstack hook, fire and test, .*; elsewhere it fails unless/gu),
    ).toHaveLength(2);
    const { hooks } = await explainJson(['BeforeTool']);
    expect(hooks).toMatchObject([
      { persistent: { processes: 1, maxMemory: 512 }, prestart: false },
      { persistent: { processes: 2, maxMemory: 64 }, prestart: true },
      { async: null, persistent: null, prestart: true },
    ]);
  });

  it('says why each of the others does not run', async () => {
    await cli.projectSettings({ BeforeTool: group('theirs') });
    const user = await cli.userSettings(
      {
        BeforeTool: [
          ...group('a', { name: 'off' }),
          ...group('b', { name: 'reads', matcher: '^read_' }),
          ...group('c', { name: 'kept' }),
          ...group('c', { name: 'again' }),
          ...group('', { name: 'plug', type: 'plugin' }),
        ],
      },
      { disabledHooks: ['off'] },
    );
    const { hooks } = await explainJson(['BeforeTool', '--tool', 'write_file']);
    expect(hooks.map(({ hook, order, reason }) => [hook, order, reason])).toEqual([
      ['kept', 1, null],
      [
        'theirs',
        null,
        'untrusted: it has not been allowed yet; to see and allow it: hookstack trust',
      ],
      ['off', null, `disabled by name in ${user}; to switch it on: hookstack enable off`],
      ['reads', null, 'its matcher "^read_" does not match write_file'],
      ['again', null, 'runs once, as "kept": it is the same command'],
      ['plug', null, 'type plugin cannot be run'],
    ]);
  });

  it('tells what was never allowed from what has changed since, with the file', async () => {
    await cli.write('.llxprt/hooks/guard.sh', 'exit 0');
    await cli.projectSettings({ BeforeTool: group('sh .llxprt/hooks/guard.sh') });
    expect(await reasonOfFirst()).toBe(
      'untrusted: it has not been allowed yet; to see and allow it: hookstack trust',
    );
    await cli.run(['trust', '--yes']);
    expect(await reasonOfFirst()).toBeNull();
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2');
    expect(await reasonOfFirst()).toBe(
      'untrusted: it has changed since it was allowed (.llxprt/hooks/guard.sh); to see and allow it: hookstack trust',
    );
  });

  it('says that a guard that has changed blocks, though it does not run', async () => {
    await cli.write('.llxprt/hooks/guard.sh', 'exit 0');
    const guard = group('sh .llxprt/hooks/guard.sh', { name: 'guard', onFailure: 'deny' });
    await cli.projectSettings({
      BeforeTool: guard.map((each) => ({ ...each, matcher: 'write_file' })),
    });
    await cli.run(['trust', '--yes']);
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2');
    const denial = 'It is blocked, as a guard is not allowed as it is now: guard.';
    const { stdout } = await cli.run(['explain', 'BeforeTool', '--tool', 'write_file']);
    expect(stdout).toContain(`BeforeTool of write_file: no hooks run.\n${denial}`);
    const other = await cli.run(['explain', 'BeforeTool', '--tool', 'read_file']);
    expect(other.stdout).not.toContain('It is blocked');
  });

  it.each<[{ whenNobody?: string; timeout?: number }, string]>([
    [{ whenNobody: 'deny' }, 'whenNobody deny; timeout 300 s'],
    [{ whenNobody: 'allow' }, 'whenNobody allow (guards too); timeout 300 s'],
    [{ timeout: 90_000 }, 'whenNobody allow (guards: deny); timeout 90 s'],
  ])('says what becomes of questions where settings say it: %j', async (approvals, says) => {
    const hooks = { BeforeTool: group('true'), AfterTool: group('true') };
    const file = await cli.userSettings(hooks, { approvals });
    const { stdout } = await cli.run(['explain', 'BeforeTool']);
    expect(stdout).toContain(`\n\napprovals: ${says} (${file})\n`);
    expect(await explainJson(['BeforeTool'])).toMatchObject({
      approvals: { whenNobody: approvals.whenNobody ?? null, file },
    });
    expect((await cli.run(['explain', 'AfterTool'])).stdout).not.toContain('approvals');
  });

  it('is silent about questions where no settings say anything', async () => {
    await cli.userSettings({ BeforeTool: group('true') });
    expect((await cli.run(['explain', 'BeforeTool'])).stdout).not.toContain('approvals');
    expect(await explainJson(['BeforeTool'])).toMatchObject({ approvals: null });
  });

  it.each(['explain', 'doctor', 'fire', 'list'])(
    'tells of hooks of another agent where there are no others: %s',
    async (command) => {
      await cli.write('.claude/settings.json', { hooks: { PreToolUse: group('true') } });
      const event = ['explain', 'fire'].includes(command) ? ['BeforeTool'] : [];
      const note =
        'note: nothing runs the hooks that .claude/settings.json has for Claude Code; to take them over: hookstack migrate --from claude';
      expect((await cli.run([command, ...event])).stderr.split(note)).toHaveLength(2);
      await cli.userSettings({ AfterTool: group('true') });
      expect((await cli.run([command, ...event])).stderr).not.toContain('migrate');
    },
  );

  it('says whose tool a matcher names', async () => {
    await cli.userSettings({
      BeforeTool: group('true', { name: 'x', matcher: 'Write|Edit' }),
    });
    const { stdout } = await cli.run(['explain', 'BeforeTool', '--tool', 'write_file']);
    expect(stdout).toContain(
      'x: its matcher "Write|Edit" does not match write_file; Write is a tool of Claude Code: set "dialect": "claude"\n',
    );
  });

  it('says what runs without a shell, with the project in its place', async () => {
    const args = ['$CLAUDE_PROJECT_DIR/a b.sh', '$HOME'];
    await cli.userSettings({ BeforeTool: group('bash', { args }) });
    const { hooks } = await explainJson(['BeforeTool']);
    expect(hooks).toMatchObject([
      { command: 'bash', args, resolvedCommand: `bash '${cli.project}/a b.sh' '$HOME'` },
    ]);
  });

  it('says of a session what fire runs, and what never comes', async () => {
    await cli.userSettings({ SessionStart: ['startup', 'resume', 'compact'].map(ofClaude) });
    const { hooks } = await explainJson(['SessionStart']);
    expect(hooks.map(({ hook, runs }) => [hook, runs])).toEqual([
      ['echo startup', true],
      ['echo resume', false],
      ['echo compact', false],
    ]);
    const fired = await cli.run(['fire', 'SessionStart', '--json']);
    expect(JSON.parse(fired.stdout)).toMatchObject({ results: [{ hook: 'echo startup' }] });
    const { stdout } = await cli.run(['explain', 'SessionStart']);
    expect(stdout).toContain('SessionStart of startup: 1 hook runs.');
    expect(stdout).toContain('"resume" does not match startup');
    expect(stdout).toContain('"compact"; compact never comes here, but startup, resume, clear');
  });

  it('says that hooks are off, and in which file', async () => {
    const file = await cli.userSettings({ BeforeTool: group('mine') }, { enableHooks: false });
    const { stdout } = await cli.run(['explain', 'BeforeTool']);
    expect(stdout).toContain(
      `BeforeTool: 1 hook would run.\nHooks are off, so that nothing runs in fact: enableHooks is false in ${file}.`,
    );
    await cli.write(file, { hooks: { BeforeTool: group('mine') } });
    const silent = await cli.run(['explain', 'BeforeTool']);
    expect(silent.stdout).toContain('no settings file that counts says "enableHooks": true');
  });

  it('counts hooks as matching where no tool is named, and says so', async () => {
    await cli.userSettings({ BeforeTool: group('mine', { matcher: '^read_', sequential: true }) });
    const { hooks, sequential } = await explainJson(['BeforeTool']);
    expect(hooks).toMatchObject([{ runs: true }]);
    expect(sequential).toBe(true);
    const { stdout } = await cli.run(['explain', 'BeforeTool']);
    expect(stdout).toContain('matcher: "^read_", not tested: name a tool with --tool');
  });

  it('names the variables that hooks get and those they do not, and no value', async () => {
    const hookEnvironment = { redact: ['@secrets'] };
    await cli.userSettings({ BeforeAgent: group('mine') }, { hookEnvironment });
    const env = { SHOP_TOKEN: 'hush-hush', SHOP_NAME: 'hats' };
    const { environment, withheld } = await explainJson(['BeforeAgent'], env);
    expect(environment).toEqual(expect.arrayContaining(['LLXPRT_PROJECT_DIR', 'SHOP_NAME']));
    expect(withheld).toEqual(['SHOP_TOKEN']);
    const { stdout } = await cli.run(['explain', 'BeforeAgent'], { env });
    expect(stdout).toContain('Variables that are withheld (1):\n  SHOP_TOKEN');
    expect(stdout).not.toMatch(/hush-hush|hats/u);
  });

  it('tells which entries of the settings were left out, and why', async () => {
    const file = await cli.userSettings({ BeforTool: group('mine') });
    const { hooks, problems } = await explainJson(['BeforeTool']);
    expect(hooks).toEqual([]);
    expect(problems).toMatchObject([
      {
        file,
        line: 1,
        path: 'hooks.BeforTool',
        message: `unknown event, ignored; did you mean 'BeforeTool'?`,
      },
    ]);
  });

  it('says what an event of another agent is called here', async () => {
    const { exitCode, stderr } = await cli.run(['explain', 'PreToolUse']);
    expect(stderr).toBe(`error: "PreToolUse" is not an event here; use 'BeforeTool'`);
    expect(exitCode).toBe(2);
  });

  it('refuses an event that there is not, with the nearest one', async () => {
    expect(await cli.run(['explain', 'BeforTool'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `error: There is no event "BeforTool"; did you mean 'BeforeTool'?`,
    });
  });
});
