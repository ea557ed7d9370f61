import { chmod, mkdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { loadExtensions } from '../../src/extensions/extensions.js';
import { loadSettings, type LoadedSettings } from '../../src/config/settings/settings.js';
import { formatProblem } from '../../src/util/fileProblem.js';
import { hook } from '../helpers/hooks.js';
import { makeTempDir } from '../process/helpers.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault, TIMED, type Host } from './helpers/host.js';
import { allowAll, openProject, SETTINGS, writeSettings } from './helpers/project.js';

const GUARD = hook('echo guarded >&2; exit 2', { name: 'guard', onFailure: 'deny' });

let compiled: CompiledPackage;
let removePackage: () => Promise<void>;
beforeAll(async () => {
  const { directory, remove } = await makeTempDir();
  removePackage = remove;
  compiled = await compilePackage(directory);
});
afterAll(() => removePackage());

function repeat(count: number, make: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => make(index)).join(',');
}

function load(host: Host): Promise<LoadedSettings> {
  const home = path.join(host.directory, 'home');
  const systemPath = path.join(host.directory, 'none');
  return loadSettings({ workingDir: host.directory, home, systemPath });
}

/** Writes the settings of the project, and a guard of the user. */
async function writeWithGuard(host: Host, text: string): Promise<string> {
  await writeSettings(host, [{ hooks: [GUARD] }], []);
  return host.write(SETTINGS, text);
}

describe("a project's settings that are too much", TIMED, () => {
  fault.for<[string, string, RegExp]>([
    ['1 MB and a byte', ' '.repeat(1024 * 1024 + 1), /larger than the 1,048,576 bytes/],
    [
      '1,001 hooks',
      `{"hooks":{"BeforeTool":[{"hooks":[${repeat(1001, (id) => `{"type":"command","command":"touch ${id}"}`)}]}]}}`,
      /holds 1,001 hooks, and a project may have 1,000/,
    ],
    [
      '1,001 groups',
      `{"hooks":{"BeforeTool":[${repeat(1001, () => '{"hooks":[]}')}]}}`,
      /1,001 hooks/,
    ],
    ['an array without an end', '['.repeat(1_000_000), /nested too deeply/],
  ])(
    "86 %s: refused by a sentence, and the user's guard denies",
    async ([, text, sentence], { host }) => {
      const file = await writeWithGuard(host, text);
      const { problems } = await load(host);
      expect(problems).toMatchObject([{ file, scope: 'project', severity: 'error' }]);
      expect(problems[0]?.message).toMatch(sentence);
      const { config } = await openProject(host);
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked', text: 'guarded' });
    },
  );

  fault.for<[string, string]>([
    ['unknown events', `{"hooks":{${repeat(80_000, (id) => `"e${id}":1`)}}}`],
    ['events that are nearly known', `{"hooks":{${repeat(60_000, (id) => `"Be${id}Tool":1`)}}}`],
    ['unknown keys', `{"hooks":{"BeforeTool":[{${repeat(60_000, (id) => `"mat${id}er":1`)}}]}}`],
    [
      'keys written twice',
      `{"hooks":{${repeat(100_000, () => '"BeforeTool":1')}}}`.slice(0, 1_000_000),
    ],
    ['comments', '//\n'.repeat(340_000)],
  ])(
    '86 a megabyte of %s: told in twenty lines, within two seconds',
    async ([, text], { host }) => {
      await writeWithGuard(host, text);
      const startedAt = performance.now();
      const { problems } = await load(host);
      host.measure('read', performance.now() - startedAt, 'ms');
      expect(performance.now() - startedAt).toBeLessThan(2000);
      expect(problems.length).toBeLessThanOrEqual(21);
      const { config } = await openProject(host);
      expect((await host.callToolOf(config)).verdict).toBe('blocked');
    },
  );

  fault('86 200 MB, 50 GB: refused without being read', async ({ host }) => {
    const file = await writeWithGuard(host, '');
    for (const size of [200_000_000, 50_000_000_000]) {
      await truncate(file, size);
      const startedAt = performance.now();
      const { problems } = await load(host);
      expect(performance.now() - startedAt).toBeLessThan(1000);
      expect(problems[0]?.message).toContain('larger than');
    }
  });

  fault("86 the user's own settings may be larger, and hold more hooks", async ({ host }) => {
    const hooks = Array.from({ length: 1100 }, (_, id) => hook(`echo ${'x'.repeat(1000)} ${id}`));
    await writeSettings(host, [{ matcher: 'none', hooks }, { hooks: [GUARD] }], []);
    const { problems, settings } = await load(host);
    expect(problems).toEqual([]);
    expect(settings.hooks.BeforeTool?.[0]?.hooks).toHaveLength(1100);
  });

  fault('86 a file with no size that goes on: no more than the limit is read', async ({ host }) => {
    const { problems } = await load(host);
    expect(problems).toEqual([]);
    const reading = await (
      await import('../../src/util/guardedFile.js')
    ).readGuardedFile('/proc/kallsyms', { groupMayWrite: false, maxBytes: 10_000 });
    expect(reading).toMatchObject({ status: 'refused' });
  });
});

describe('matchers of a project', TIMED, () => {
  fault(
    '86 a thousand that never end cost an event half a second, and none of the user is skipped',
    async ({ host }) => {
      const endless = Array.from({ length: 900 }, (_, id) => ({
        matcher: `^(\\w+)+${id}!$`,
        hooks: [hook(`true ${id}`)],
      }));
      const toolName = 'w'.repeat(60);
      const own = { matcher: `^${toolName}$`, hooks: [hook('echo own >&2; exit 2')] };
      await writeSettings(host, [own], [...endless, { ...own, hooks: [hook('true')] }]);
      await allowAll(host);
      const { config } = await openProject(host);
      await config.getHookSystem()?.initialize();
      const { verdict, text, answerMs } = await host.callToolOf(config, { toolName });
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'own' });
      expect(answerMs).toBeLessThan(1500);
      expect(host.warnings.filter((each) => each.includes('took longer than 250 ms'))).toHaveLength(
        1,
      );
    },
  );

  fault('86 those that nobody has allowed are not even tried', async ({ host }) => {
    const endless = { matcher: '^(\\w+)+!$', hooks: [hook('true')] };
    await writeSettings(host, [], [endless]);
    const { config } = await openProject(host);
    await host.callToolOf(config, { toolName: 'w'.repeat(60) });
    expect(host.warnings).toEqual([expect.stringContaining('1 hook of this project skipped')]);
  });
});

async function writeExtensions(folder: string, count: number): Promise<void> {
  for (let id = 0; id < count; id++) {
    const extension = path.join(folder, '.llxprt/extensions', `x${id}`);
    await mkdir(extension, { recursive: true });
    await writeFile(path.join(extension, 'llxprt-extension.json'), `{"name":"x${id}"}`);
  }
}

describe('extensions', () => {
  const POLICY = {
    'llxprt-extension.json': JSON.stringify({
      name: 'policy',
      middleware: [{ module: './policy.mjs', stack: 'tool', policy: true }],
    }),
    'policy.mjs': 'export default async (ctx) => ctx.block("by the policy");',
  };

  async function writePolicy(host: Host): Promise<string> {
    for (const [file, text] of Object.entries(POLICY)) {
      await host.write(`home/.llxprt/extensions/policy/${file}`, text);
    }
    return path.join(host.directory, 'home');
  }

  async function callTool(host: Host, limit: number, ...descriptors: string[]) {
    const home = await writePolicy(host);
    const args = [fixture('extensions.mjs'), compiled.index, host.directory, home, ...descriptors];
    const { stdout } = await execa('bash', [
      '-c',
      `ulimit -n ${limit} && exec "$@"`,
      'bash',
      'node',
      ...args,
    ]);
    return JSON.parse(stdout) as {
      text: string;
      project: number;
      user: number;
      problems: { scope: string; severity: string; message: string }[];
    };
  }

  fault(
    '72 3,000 of the user, and 128 descriptors: all are read, and the policy blocks',
    async ({ host }) => {
      await writeExtensions(path.join(host.directory, 'home'), 3000);
      expect(await callTool(host, 128)).toMatchObject({
        text: 'by the policy',
        user: 3001,
        problems: [],
      });
    },
  );

  fault(
    "72 3,000 of the project: refused by a sentence, and the user's policy blocks",
    async ({ host }) => {
      await writeExtensions(host.directory, 3000);
      const { text, project, user, problems } = await callTool(host, 128);
      expect({ text, project, user }).toEqual({ text: 'by the policy', project: 0, user: 1 });
      expect(problems).toEqual([
        {
          scope: 'project',
          severity: 'error',
          message: expect.stringContaining('may have 1,000 extensions'),
        },
      ]);
    },
  );

  fault.for(['0', '1'])(
    "72 %s descriptors left: what cannot be read of the user's blocks, and is an error",
    async (left, { host }) => {
      const { text, problems } = await callTool(host, 128, left);
      expect(text).toMatch(/^by the policy$|cannot be asked: .*EMFILE/);
      if (text !== 'by the policy')
        expect(problems).toContainEqual(
          expect.objectContaining({ scope: 'user', severity: 'error' }),
        );
    },
  );

  fault(
    "86 of a project hold no more than 1,000 hooks, and 1 MB together; the user's are read",
    async ({ host }) => {
      const home = await writePolicy(host);
      const hooks = {
        BeforeTool: [{ hooks: Array.from({ length: 600 }, (_, id) => hook(`true ${id}`)) }],
      };
      const fat = { padding: 'x'.repeat(1_000_000) };
      for (const [id, more] of [
        { hooks },
        { hooks },
        { hooks },
        fat,
        fat,
        fat,
        fat,
        fat,
      ].entries()) {
        await host.write(`.llxprt/extensions/x${id}/llxprt-extension.json`, {
          name: `x${id}`,
          ...more,
        });
      }
      const { extensions, problems } = await loadExtensions({ workingDir: host.directory, home });
      expect(extensions.map(({ name }) => name)).toEqual(['x0', 'policy']);
      expect(problems).toHaveLength(1);
      expect(problems[0]?.message).toContain('1,000 hooks and middleware together, and 1 MB');
    },
  );

  fault('86 of a project that are large and broken are not all parsed', async ({ host }) => {
    const home = await writePolicy(host);
    for (let id = 0; id < 50; id++) {
      await host.write(
        `.llxprt/extensions/x${id}/llxprt-extension.json`,
        '{"a":1},'.repeat(120_000),
      );
    }
    const startedAt = performance.now();
    const { extensions, problems } = await loadExtensions({ workingDir: host.directory, home });
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(extensions.map(({ name }) => name)).toEqual(['policy']);
    expect(problems.length).toBeLessThan(5);
  });

  fault('86 a module of any size is not read to be looked at', async ({ host }) => {
    const home = await writePolicy(host);
    await truncate(path.join(home, '.llxprt/extensions/policy/policy.mjs'), 50_000_000_000);
    const startedAt = performance.now();
    const { problems } = await loadExtensions({ workingDir: host.directory, home });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(problems).toEqual([]);
  });
});

async function hookstack(host: Host, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { exitCode, stdout, stderr } = await execa('node', [compiled.cli, ...args], {
    cwd: host.directory,
    reject: false,
    env: { HOME: path.join(host.directory, 'home'), ...env },
  });
  return { exitCode, stdout, stderr };
}

describe('a project of which a guard was allowed, and whose settings cannot be read', () => {
  const hooks = { BeforeTool: [{ hooks: [GUARD] }] };

  const WAYS: readonly (readonly [string, (file: string) => Promise<void>])[] = [
    ['broken', (file) => writeFile(file, '{"hooks":')],
    ['writable by others', (file) => chmod(file, 0o666)],
    ['too large', (file) => truncate(file, 2_000_000)],
  ];

  fault.for(WAYS)(
    '84 %s: commands that run hooks end with an error',
    async ([, spoil], { host }) => {
      await writeSettings(host, [], []);
      const file = await host.write(SETTINGS, { hooks });
      await hookstack(host, ['trust', '--open']);
      await spoil(file);
      for (const [args, code] of [
        [['fire', 'BeforeTool'], 1],
        [['run', 'Hello', '--responses', 'none'], 2],
        [['doctor'], 2],
        [['fire', 'BeforeTool', '--trust'], 1],
      ] as const) {
        const { exitCode, stderr } = await hookstack(host, args);
        expect({ args, exitCode }).toEqual({ args, exitCode: code });
        expect(stderr).toContain(`error: ${file}:1:`);
      }
      expect(await hookstack(host, ['list'])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('warning:'),
      });
    },
  );

  fault.for(WAYS)(
    '84 %s: the library says that nothing of the file counts',
    async ([, spoil], { host }) => {
      await spoil(await host.write(SETTINGS, { hooks }));
      const home = path.join(host.directory, 'home');
      const { problems } = await loadSettings({
        workingDir: host.directory,
        home,
        trustProject: true,
      });
      expect(problems.filter(({ severity }) => severity === 'error')).toHaveLength(1);
      expect(problems.map(formatProblem).join('\n')).toContain(SETTINGS);
    },
  );

  fault.for(WAYS)(
    '84 %s in a clone that nobody allowed anything of: goes on',
    async ([, spoil], { host }) => {
      await writeSettings(host, [{ hooks: [GUARD] }], []);
      await spoil(await host.write(SETTINGS, { hooks }));
      expect(await hookstack(host, ['fire', 'BeforeTool'])).toMatchObject({ exitCode: 2 });
    },
  );
});

describe('a hook of a project that is refused', () => {
  fault.for([['list'], ['explain', 'BeforeTool'], ['doctor'], ['trust', '--check']])(
    '71 %s names it, and says why, within two seconds',
    TIMED,
    async (args, { host }) => {
      const hostile = hook(`true ${'-'.repeat(70_000)}`, { name: 'hostile' });
      await writeSettings(host, [{ hooks: [GUARD] }], [{ hooks: [hostile] }]);
      const startedAt = performance.now();
      const { stdout } = await hookstack(host, args);
      expect(performance.now() - startedAt).toBeLessThan(2000);
      expect(stdout).toContain('hostile');
      expect(stdout).toContain('refused: its command is longer than 64 KB');
    },
  );
});

describe('validate', () => {
  fault.for([
    ['an expression that is nested 3,000 deep', `${'(?:'.repeat(3000)}a${')'.repeat(3000)}+`],
    ['one that is not closed', '(?:'.repeat(5000)],
    ['one that is lost in itself', `${'((a+)+'.repeat(200)}${')'.repeat(200)}`],
    ['one of a megabyte', '(a|b)*'.repeat(20_000)],
  ] as const)('96 %s: reported, and so is the next one', async ([, matcher], { host }) => {
    const groups = [
      { matcher, hooks: [hook('true')] },
      { matcher: '^(a+)+$', hooks: [hook('pwd')] },
    ];
    await host.write('settings.json', { enableHooks: true, hooks: { BeforeTool: groups } });
    const args = [compiled.cli, 'validate', 'settings.json', '--json'];
    const startedAt = performance.now();
    const { stdout } = await execa('node', args, { cwd: host.directory, reject: false });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    const { findings } = JSON.parse(stdout) as { findings: { rule: string; path: string }[] };
    const rules = (index: number) =>
      findings.filter(({ path: at }) => at.includes(`[${index}].matcher`)).map(({ rule }) => rule);
    expect(rules(0)).toContainEqual(
      expect.stringMatching(/^matcher-(undecided|invalid|catastrophic)$/),
    );
    expect(rules(1)).toContain('matcher-catastrophic');
  });
});
