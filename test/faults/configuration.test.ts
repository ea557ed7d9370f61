import { chmod, chown } from 'node:fs/promises';
import { describe, expect, vi } from 'vitest';
import { formatProblem } from '../../src/util/fileProblem.js';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { chain, hook } from '../helpers/hooks.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { fault, TIMED, type Host } from './helpers/host.js';

const SETTINGS = '.llxprt/settings.json';

/** A hook that writes its name down. */
function noting(name: string): CommandHookConfig {
  return hook(`echo ${name} >> ran`);
}

/** Reads the settings of a host's directory, calls a tool with them, and says which hooks ran. */
async function callWithSettings(host: Host, toolName?: string) {
  const { settings, problems } = await host.loadSettings();
  const config = host.createConfig({ ...settings, enableHooks: true, trustedFolder: true });
  const { verdict } = await host.callToolOf(config, { toolName });
  return { verdict, ran: host.lines('ran').toSorted(), problems };
}

describe('a settings file', () => {
  fault('32 matcher: 5: that group is skipped, its neighbours run', async ({ host }) => {
    await host.write(SETTINGS, {
      hooks: {
        BeforeTool: [
          { hooks: [noting('before')] },
          { matcher: 5, hooks: [noting('mismatched')] },
          { matcher: 'write', hooks: [noting('after')] },
        ],
      },
    });
    const { ran, problems } = await callWithSettings(host);
    expect(ran).toEqual(['after', 'before']);
    expect(problems).toMatchObject([{ path: 'hooks.BeforeTool[1].matcher', severity: 'warning' }]);
    expect(host.warnings).toEqual([]);
  });

  fault.for([
    ['unknown event', { Before: [{ hooks: [noting('bad')] }] }, 'hooks.Before'],
    ['null event', { AfterTool: null }, 'hooks.AfterTool'],
    ['null group', { BeforeTool: [null, { hooks: [noting('good')] }] }, 'hooks.BeforeTool[0]'],
    [
      'hooks not an array',
      { BeforeTool: [{ hooks: noting('bad') }, { hooks: [noting('good')] }] },
      'hooks.BeforeTool[0].hooks',
    ],
    [
      'command: 5',
      { BeforeTool: [{ hooks: [{ type: 'command', command: 5 }, noting('good')] }] },
      'hooks.BeforeTool[0].hooks[0].command',
    ],
    [
      'null hook',
      { BeforeTool: [{ hooks: [null, noting('good')] }] },
      'hooks.BeforeTool[0].hooks[0]',
    ],
  ] as const)(
    '33 %s: that entry skipped, warned with its path in the file',
    async ([, hooks, at], { host }) => {
      const good = { BeforeTool: [{ hooks: [noting('good')] }] };
      const file = await host.write(
        SETTINGS,
        `{\n"hooks": ${JSON.stringify({ ...good, ...hooks })}\n}`,
      );
      const { ran, problems } = await callWithSettings(host);
      expect(ran).toEqual(['good']);
      expect(problems).toMatchObject([{ file, line: 2, path: at, severity: 'warning' }]);
      expect(host.warnings).toEqual([]);
    },
  );

  fault('34 invalid regular expression: literal, warned', async ({ host }) => {
    const groups = [{ matcher: 'write_(', hooks: [hook('exit 2', { name: 'guard' })] }];
    await host.write(SETTINGS, { hooks: { BeforeTool: groups } });
    expect(await callWithSettings(host, 'write_file')).toMatchObject({
      verdict: 'allowed',
      problems: [
        {
          path: 'hooks.BeforeTool[0].matcher',
          message: expect.stringMatching(/'write_\(' is not .*literal text/),
        },
      ],
    });
    expect(await callWithSettings(host, 'write_(')).toMatchObject({ verdict: 'blocked' });
    expect(host.warnings).toEqual([]);
  });

  fault('34 invalid regular expression: a guard is asked about every tool', async ({ host }) => {
    const guard = hook('exit 2', { name: 'guard', onFailure: 'deny' });
    await host.write(SETTINGS, { hooks: { BeforeTool: [{ matcher: '(', hooks: [guard] }] } });
    expect(await callWithSettings(host, 'write_file')).toMatchObject({ verdict: 'blocked' });
  });

  fault('36 duplicate commands: one run', async ({ host }) => {
    const hooks = {
      BeforeTool: [{ hooks: [noting('it'), noting('it')] }, { hooks: [noting('it')] }],
    };
    await host.write(SETTINGS, { hooks });
    await host.write(`home/${SETTINGS}`, { hooks });
    expect(await callWithSettings(host)).toMatchObject({ ran: ['it'], problems: [] });
  });

  fault('38 comments, trailing commas and BOM are read', async ({ host }) => {
    const { command } = noting('it');
    await host.write(
      SETTINGS,
      `\uFEFF// Of the project.
      { "hooks": { /* one */ "BeforeTool": [{ "hooks": [
        { "type": "command", "command": "${command}", },
      ], }], }, }`,
    );
    expect(await callWithSettings(host)).toMatchObject({ ran: ['it'], problems: [] });
  });

  fault('38 broken JSON: an error with its place, no hook of that file runs', async ({ host }) => {
    const good = JSON.stringify({ BeforeTool: [{ hooks: [noting('bad')] }] });
    const file = await host.write(SETTINGS, `{\n  "hooks": ${good},\n  "enableHooks" true\n}`);
    await host.write(`home/${SETTINGS}`, { hooks: { BeforeTool: [{ hooks: [noting('good')] }] } });
    const { ran, problems } = await callWithSettings(host);
    expect(ran).toEqual(['good']);
    expect(problems).toMatchObject([{ file, line: 3, column: 17, severity: 'error' }]);
    expect(problems.map(formatProblem)).toEqual([
      expect.stringContaining(`${file}:3:17: not valid JSON`),
    ]);
  });

  const isRoot = process.getuid?.() === 0;

  fault('39 a file that another user can write is refused', async ({ host }) => {
    const hooks = { BeforeTool: [{ hooks: [noting('bad')] }] };
    const file = await host.write(SETTINGS, { hooks });
    await chmod(file, 0o666);
    const { ran, problems } = await callWithSettings(host);
    expect(ran).toEqual([]);
    expect(problems).toMatchObject([{ file, severity: 'error' }]);
    expect(problems[0]?.message).toMatch(/other users may write it .*chmod o-w/);
  });

  fault.runIf(isRoot)('39 a file that belongs to another user is refused', async ({ host }) => {
    const hooks = { BeforeTool: [{ hooks: [noting('bad')] }] };
    const file = await host.write(SETTINGS, { hooks });
    await chown(file, 65_534, 65_534);
    const { ran, problems } = await callWithSettings(host);
    expect(ran).toEqual([]);
    expect(problems).toMatchObject([{ file, severity: 'error' }]);
    expect(problems[0]?.message).toContain('belongs to user 65534');
  });
});

describe('a matcher that takes too long', TIMED, () => {
  const name = `${'a'.repeat(40)}!`;

  fault('35 ^(a+)+$ against 40 characters: 50 ms', async ({ host }) => {
    const config = host.createConfig({
      hooks: { BeforeTool: [{ matcher: '^(a+)+$', hooks: [hook('exit 2', { name: 'slow' })] }] },
    });
    await host.callToolOf(config, { toolName: 'read_file' });
    const before = process.cpuUsage();
    const { verdict, answerMs } = await host.callToolOf(config, { toolName: name });
    const { user, system } = process.cpuUsage(before);
    host.measure('matched', answerMs, 'ms');
    expect(verdict).toBe('allowed');
    // Without the limit it would take hours.
    expect(answerMs).toBeLessThan(2_000);
    // Where the processor was taken away in between, the limit is used up twice.
    expect((user + system) / 1_000).toBeLessThan(150);
    expect(host.warnings).toEqual([expect.stringMatching(/"slow" took longer than 50 ms/)]);
    // Tried once a name.
    await host.callToolOf(config, { toolName: name });
    expect(host.warnings).toHaveLength(1);
  });

  fault('35 on a guard: the guard is asked', async ({ host }) => {
    const guard = hook('exit 2', { onFailure: 'deny' });
    const config = host.createConfig({
      hooks: { BeforeTool: [{ matcher: '^(a+)+$', hooks: [guard] }] },
    });
    expect(await host.callToolOf(config, { toolName: name })).toMatchObject({ verdict: 'blocked' });
  });
});

describe('very many hooks', TIMED, () => {
  fault(
    '37 10,000 hooks: initialized in < 1 s, a bounded number run at a time',
    async ({ host }) => {
      const hooks = Array.from({ length: 10_000 }, (_, index) => hook(`sleep 300; : ${index}`));
      const config = host.createConfig({ hooks: { BeforeTool: [{ hooks }] } });
      const startedAt = performance.now();
      await config.getHookSystem()?.initialize();
      const initializedMs = performance.now() - startedAt;
      host.measure('initialized', initializedMs, 'ms');
      expect(config.getHookSystem()?.getStatus().totalHooks).toBe(10_000);
      expect(initializedMs).toBeLessThan(5_000);

      const user = new AbortController();
      const calling = host.callToolOf(config, { signal: user.signal });
      const atATime = 2 * config.getMaxParallelHooks();
      // Each is a shell with its sleeper; whatever is started is started at once.
      await vi.waitFor(() => expect(host.leftovers()).toHaveLength(atATime), { timeout: 5_000 });
      host.measure('at a time', atATime / 2, 'hooks');
      user.abort();
      const { hooks: results } = await calling;
      expect(results).toHaveLength(10_000);
      expect(results.filter(({ success }) => success)).toEqual([]);
    },
  );
});

describe('while an event is in flight', () => {
  fault('40 changed and reloaded: that event keeps its plan', async ({ host }) => {
    const first = hook(': > started; until [ -e go ]; do sleep 0.01; done');
    const config = new ChangingConfig(host.defaults);
    config.hooks = { BeforeTool: [chain(first, hook('echo old >&2; exit 2'))] };
    const calling = host.callToolOf(config);
    await host.waitForFile('started');

    config.hooks = { BeforeTool: [{ hooks: [hook('echo new >&2; exit 2')] }] };
    await config.getHookSystem()?.reload();
    const meanwhile = await host.callToolOf(config);
    host.touch('go');
    expect(await calling).toMatchObject({ verdict: 'blocked', text: 'old' });
    expect(meanwhile).toMatchObject({ verdict: 'blocked', text: 'new' });
  });

  fault('40 switched off: that event keeps its plan', async ({ host }) => {
    const first = hook(': > started; until [ -e go ]; do sleep 0.01; done');
    const guard = hook('exit 2', { name: 'guard' });
    const config = host.createConfig({ hooks: { BeforeTool: [chain(first, guard)] } });
    const calling = host.callToolOf(config);
    await host.waitForFile('started');
    config.getHookSystem()?.setHookEnabled('guard', false);
    host.touch('go');
    expect(await calling).toMatchObject({ verdict: 'blocked' });
    expect(await host.callToolOf(config)).toMatchObject({ verdict: 'allowed' });
  });
});
