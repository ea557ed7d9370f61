import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Config, type ConfigOptions, type WatchOptions } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/settings/settings.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { loadExtensions } from '../../src/extensions/extensions.js';
import { openConsent } from '../../src/trust/openConsent.js';
import { blocking, hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
let logger: RecordingLogger;
let config: Config | undefined;
beforeEach(() => (logger = new RecordingLogger()));
afterEach(async () => {
  vi.unstubAllEnvs();
  await config?.dispose();
});

const placeOf = (name: string) => path.join(temp.path, name);
const files = {
  user: () => placeOf('home/.llxprt/settings.json'),
  system: () => placeOf('system.json'),
  project: () => placeOf('project/.llxprt/settings.json'),
  extension: () => placeOf('home/.llxprt/extensions/e/llxprt-extension.json'),
};

function write(file: string, value: unknown): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
}

const folder = () => path.dirname(files.extension());
const projectExtension = () => placeOf('project/.llxprt/extensions/p/llxprt-extension.json');
const opened = () => openConsent({ workingDir: placeOf('project'), home: placeOf('home') });
/** Settings of which a guard blocks with a reason. */
function guarding(reason: string, more: object = {}, ofGroup: object = {}) {
  const guard = { ...blocking(reason), name: 'guard', onFailure: 'deny', ...more };
  return { enableHooks: true, hooks: { BeforeTool: [{ hooks: [guard], ...ofGroup }] } };
}

/** Settings of hooks before a tool. */
function holding(...hooks: object[]) {
  return { enableHooks: true, hooks: { BeforeTool: [{ hooks }] } };
}

/** Settings of which nothing blocks. */
const idle = { enableHooks: true, hooks: {} };

const where = () => ({ home: placeOf('home'), systemPath: placeOf('system.json') });

async function load(options: ConfigOptions = {}): Promise<Config> {
  const workingDir = placeOf('project');
  mkdirSync(workingDir, { recursive: true });
  const { settings } = await loadSettings({ workingDir, ...where() });
  return (config = new Config({ ...settings, workingDir, debugLogger: logger, ...options }));
}

async function start(options: ConfigOptions = {}, watch: WatchOptions = {}): Promise<void> {
  await (await load(options)).watch({ ...where(), ...watch });
}

async function call(): Promise<unknown> {
  if (!config) throw new Error('There is no Config');
  const ran = { llmContent: 'ran', returnDisplay: '' };
  return (await executeToolWithHooks(config, 'x', {}, async () => ran)).llmContent;
}

/** As the command line does. */
const toOptions: WatchOptions['toOptions'] = (settings, extensions) => ({
  ...settings,
  extensions,
});

/** As a server does. */
const refusing: WatchOptions['toOptions'] = (settings, extensions) => {
  if (Object.keys(settings.hooks).length === 0) throw new Error('not without hooks');
  return { ...settings, extensions };
};

describe.each([
  ['as a host has passed them', {}],
  ['as the settings say', { toOptions }],
] satisfies [string, WatchOptions][])('between the first reading and watch, %s', (_, watch) => {
  it.each<['user' | 'system', string, () => void]>([
    ['user', 'breaks', () => write(files.user(), '{')],
    ['system', 'breaks', () => write(files.system(), '{')],
    ['user', 'goes', () => rmSync(files.user())],
    ['user', 'mistypes its guard', () => write(files.user(), guarding('x', { onFailure: 'dney' }))],
  ])(
    'the file of the %s that %s leaves its guards in force, and is told',
    async (of, _how, does) => {
      write(files[of](), guarding('one'));
      const loaded = await load();
      does();
      await loaded.watch({ ...where(), ...watch });
      expect(await call()).toBe('one');
      const told = [expect.stringMatching(/what it said before stays in force$/u)];
      expect(logger.warnings).toEqual(expect.arrayContaining(told));
      const { length } = logger.warnings;
      expect(await call()).toBe('one');
      expect(logger.warnings).toHaveLength(length);
      write(files[of](), guarding('two'));
      expect(await call()).toBe('two');
      write(files[of](), idle);
      expect(await call()).toBe('ran');
    },
  );

  it('an extension that breaks leaves its guards in force', async () => {
    write(files.user(), { enableHooks: true });
    write(files.extension(), { name: 'e', ...guarding('one') });
    const { extensions } = await loadExtensions({ workingDir: placeOf('project'), ...where() });
    const loaded = await load({ extensions });
    write(files.extension(), '{');
    await loaded.watch({ ...where(), loadExtensions, ...watch });
    expect(await call()).toBe('one');
    expect(logger.warnings).toEqual([expect.stringContaining('stays in force')]);
  });

  it('switches of a file that breaks stay, for the guards of others', async () => {
    write(files.system(), { hooks: guarding('one').hooks });
    write(files.user(), { enableHooks: true });
    const loaded = await load();
    write(files.user(), '{');
    await loaded.watch({ ...where(), ...watch });
    expect(await call()).toBe('one');
    expect(logger.warnings).toHaveLength(1);
    write(files.user(), { enableHooks: true });
    expect(await call()).toBe('one');
  });
});

it('what a host says itself stays, also after a file was broken', async () => {
  const { hooks } = guarding('one');
  write(files.user(), { hooks });
  const loaded = await load({ enableHooks: true, maxParallelHooks: 3 });
  write(files.user(), '{');
  await loaded.watch(where());
  expect(await call()).toBe('one');
  write(files.user(), { hooks: guarding('two').hooks });
  expect(await call()).toBe('two');
  write(files.user(), { hooks: guarding('three').hooks, maxHookText: 7 });
  expect(await call()).toBe('three');
  expect(loaded.getMaxParallelHooks()).toBe(3);
});

it('keeps what counts where settings were refused in between', async () => {
  write(files.user(), guarding('one'));
  await start({}, { toOptions: refusing });
  write(files.user(), idle);
  expect(await call()).toBe('one');
  write(files.user(), guarding('two', { command: 7 }));
  expect(await call()).toBe('one');
  expect(logger.warnings.at(-1)).toMatch(/stays in force$/u);
});

it('leaves alone guards of files that are not watched', async () => {
  write(files.user(), guarding('one'));
  const loaded = await load();
  await loaded.watch({ ...where(), home: placeOf('elsewhere') });
  expect(await call()).toBe('one');
});

it('says nothing of a file of the project that was broken from the start', async () => {
  write(files.user(), guarding('one'));
  write(files.project(), '{');
  await start({}, { toOptions });
  expect(await call()).toBe('one');
  expect(logger.warnings).toEqual([]);
});

describe('a file that goes', () => {
  it.each(['user', 'system'] as const)('leaves the guards of the %s in force', async (of) => {
    write(files[of](), guarding('one'));
    await start();
    expect(await call()).toBe('one');
    rmSync(files[of]());
    expect(await call()).toBe('one');
    expect(await call()).toBe('one');
    expect(logger.warnings).toEqual([
      expect.stringMatching(/settings\.json|system\.json/u) && expect.stringContaining('is gone'),
    ]);
    expect(logger.warnings[0]).toMatch(/"guard".* anew.*stays in force$/u);
    write(files[of](), guarding('two'));
    expect(await call()).toBe('two');
    expect(logger.warnings).toHaveLength(1);
  });

  it('goes with its folder', async () => {
    write(files.user(), guarding('one'));
    await start();
    rmSync(placeOf('home'), { recursive: true });
    expect(await call()).toBe('one');
    write(placeOf('home'), 'no folder');
    expect(await call()).toBe('one');
  });

  it('is not missed while an editor puts another one in its place', async () => {
    write(files.user(), guarding('one'));
    await start();
    await call();
    write(`${files.user()}.new`, guarding('two'));
    renameSync(files.user(), `${files.user()}~`);
    // Timers of one process end in their order: this one is over before the watch looks again.
    setTimeout(() => renameSync(`${files.user()}.new`, files.user()), 30);
    expect(await call()).toBe('two');
    expect(logger.warnings).toEqual([]);
  });
});

describe('a guard that would be left out', () => {
  const mistyped: [string, unknown][] = [
    ['wrong type', guarding('two', { command: 7 })],
    ['unknown key', guarding('two', { onFailure: undefined, onFaliure: 'deny' })],
    ['wrong value', guarding('two', { onFailure: 'dney' })],
    ['wrong condition', guarding('two', {}, { when: 7 })],
    [
      'unknown event',
      { enableHooks: true, hooks: { BeforeTol: guarding('two').hooks.BeforeTool } },
    ],
    ['hooks that are a list', { enableHooks: true, hooks: [] }],
    ['another key', { ...guarding('two'), enableHooks: 'true' }],
    ['mistyped "hooks"', { enableHooks: true, hoooks: guarding('two').hooks }],
    ['mistyped "enableHooks"', { hooks: guarding('two').hooks, enableHook: true }],
    ['second "hooks"', `{ "enableHooks": true, "hooks": { "BeforeTool": [] }, "hooks": {} }`],
  ];

  it.each(mistyped)('stays as it was: %s', async (_, settings) => {
    write(files.user(), guarding('one'));
    await start({}, { toOptions });
    expect(await call()).toBe('one');
    write(files.user(), settings);
    expect(await call()).toBe('one');
    expect(logger.warnings.at(-1)).toMatch(/stays in force$/u);
    const { length } = logger.warnings;
    expect(await call()).toBe('one');
    expect(logger.warnings).toHaveLength(length);
    write(files.user(), guarding('three'));
    expect(await call()).toBe('three');
  });

  it('is told with its place, also where one of two of the same name remains', async () => {
    const [guard] = guarding('one').hooks.BeforeTool[0]?.hooks ?? [];
    write(files.user(), holding({ ...guard }, { ...guard }));
    await start();
    await call();
    write(files.user(), holding({ ...guard, ...blocking('two') }, { ...guard, command: 7 }));
    expect(await call()).toContain('one');
    expect(logger.warnings).toEqual([
      expect.stringMatching(/settings\.json:1:\d+: hooks\.BeforeTool\[0\]\.hooks\[1\]\.command: /u),
      expect.stringMatching(/"guard".*stays in force$/u),
    ]);
  });

  it('stays in an extension', async () => {
    write(files.user(), { enableHooks: true });
    write(files.extension(), { name: 'e', ...guarding('one') });
    await start({}, { loadExtensions });
    expect(await call()).toBe('one');
    write(files.extension(), { name: 'e', ...guarding('two', { command: 7 }) });
    expect(await call()).toBe('one');
    expect(logger.warnings.at(-1)).toMatch(/"guard".*stays in force$/u);
    write(files.extension(), { name: 'e', ...guarding('two') });
    expect(await call()).toBe('two');
    rmSync(files.extension());
    expect(await call()).toBe('two');
    expect(logger.warnings.at(-1)).toMatch(/is gone.*"guard".*stays in force$/u);
    write(files.extension(), '{');
    expect(await call()).toBe('two');
    rmSync(path.dirname(files.extension()), { recursive: true });
    expect(await call()).toBe('two');
    write(files.extension(), { name: 'e' });
    expect(await call()).toBe('ran');
  });

  it.each<[string, RegExp, () => void]>([
    ['folder is gone', /is gone, and with it/u, () => rmSync(folder(), { recursive: true })],
    [
      'neighbours are gone, too',
      /is gone, and with it/u,
      () => rmSync(path.dirname(folder()), { recursive: true }),
    ],
    [
      'folder of all is a file',
      /is gone, and with it/u,
      () => {
        rmSync(path.dirname(folder()), { recursive: true });
        write(path.dirname(folder()), '');
      },
    ],
    [
      'name is taken',
      /is gone, and with it/u,
      () => {
        write(files.extension(), { name: 'a', ...guarding('two') });
        write(placeOf('home/.llxprt/extensions/a/llxprt-extension.json'), { name: 'a' });
      },
    ],
  ])('stays in an extension of which the %s', async (_, told, changes) => {
    write(files.user(), { enableHooks: true });
    write(files.extension(), { name: 'e', ...guarding('one') });
    await start({}, { loadExtensions, toOptions });
    expect(await call()).toBe('one');
    changes();
    expect(await call()).toBe('one');
    const telling = logger.warnings.filter((each) => told.test(each));
    expect(telling).toEqual([expect.stringMatching(/anew to do without.*stays in force$/u)]);
    expect(await call()).toBe('one');
    expect(logger.warnings.filter((each) => told.test(each))).toEqual(telling);
  });

  it('moves with its extension', async () => {
    write(files.user(), { enableHooks: true });
    write(files.extension(), { name: 'e', ...guarding('one') });
    await start({}, { loadExtensions });
    expect(await call()).toBe('one');
    renameSync(folder(), `${folder()}2`);
    expect(await call()).toBe('one');
    expect(logger.warnings).toEqual([]);
  });

  it('is not missed while its extension is installed anew', async () => {
    write(files.user(), { enableHooks: true });
    write(files.extension(), { name: 'e', ...guarding('one') });
    await start({}, { loadExtensions });
    await call();
    renameSync(folder(), path.join(path.dirname(folder()), '.old'));
    setTimeout(() => write(files.extension(), { name: 'e', ...guarding('two') }), 30);
    expect(await call()).toBe('two');
    expect(logger.warnings).toEqual([]);
  });

  it('goes where it is taken out of a file in which nothing is wrong', async () => {
    const [group] = guarding('one').hooks.BeforeTool;
    const misspelt = { type: 'command', command: 'true', timeout: 'soon' };
    write(files.user(), holding(misspelt, ...(group?.hooks ?? [])));
    await start();
    expect(logger.warnings).toEqual([]);
    write(files.user(), holding(misspelt));
    expect(await call()).toBe('one');
    write(files.user(), holding());
    expect(await call()).toBe('ran');
  });

  it('goes where it is taken out beside keys of other programs', async () => {
    write(files.user(), { theme: 'dark', ...guarding('one') });
    await start();
    expect(await call()).toBe('one');
    write(files.user(), { theme: 'dark', ...idle });
    expect(await call()).toBe('ran');
    write(files.user(), guarding('two'));
    expect(await call()).toBe('two');
    write(files.user(), {});
    expect(await call()).toBe('ran');
  });

  it('does not keep what is no guard', async () => {
    write(files.user(), guarding('one', { onFailure: 'allow' }));
    await start();
    write(files.user(), guarding('two', { onFailure: 'allow', command: 7 }));
    expect(await call()).toBe('ran');
  });
});

/** As `hookstack trust` does. */
async function allowAll(): Promise<void> {
  const entries = config?.getHookSystem()?.getAllHooks() ?? [];
  const reviews = entries.flatMap(({ review }) => review ?? []);
  await (await opened()).allow(reviews, { open: true });
}

describe('a project that changes its files', () => {
  it.each<[string, (file: string) => unknown]>([
    ['a folder', (file) => mkdirSync(file)],
    ['a pipe', (file) => promisify(execFile)('mkfifo', [file])],
    ['a link to nothing', (file) => symlinkSync('nowhere', file)],
    ['a link to itself', (file) => symlinkSync(file, file)],
    ['a link to /dev/zero', (file) => symlinkSync('/dev/zero', file)],
    ['5 MiB', (file) => write(file, `{ "a": "${'x'.repeat(5 * 1024 * 1024)}" }`)],
    ['other keys', (file) => write(file, { enableHooks: false, disabledHooks: ['guard'] })],
    ['keys of the user', (file) => write(file, { promptModel: { model: 'x' }, maxHookText: 1 })],
    ['a hook', (file) => write(file, guarding('project', { command: 'touch started' }))],
  ])('weakens and starts nothing: %s', async (_, puts) => {
    write(files.user(), guarding('one'));
    write(files.project(), idle);
    await start({}, { toOptions });
    expect(await call()).toBe('one');
    rmSync(files.project());
    await puts(files.project());
    expect(await call()).toBe('one');
    write(files.user(), guarding('two'));
    expect(await call()).toBe('two');
    rmSync(files.user());
    expect(await call()).toBe('two');
  });

  it.each<[string, unknown]>([
    ['another key', {}],
    ['off', { enableHooks: false }],
    ['no file', undefined],
  ])('does not take back that hooks are on: %s', async (_, said) => {
    write(files.user(), { hooks: guarding('one').hooks });
    write(files.project(), { enableHooks: true });
    await start({}, { toOptions });
    expect(await call()).toBe('one');
    if (said) write(files.project(), said);
    else rmSync(files.project());
    expect(await call()).toBe('one');
    expect(await call()).toBe('one');
    const told = logger.warnings.filter((each) => each.includes('"enableHooks" any more'));
    expect(told).toHaveLength(1);
    write(files.user(), { ...guarding('one'), enableHooks: false });
    expect(await call()).toBe('ran');
  });

  it.each<[string, () => string, unknown]>([
    ['no hooks', files.project, { enableHooks: true }],
    ['no file', files.project, undefined],
    ['another guard', files.project, guarding('two')],
    ['an extension without hooks', projectExtension, { name: 'p' }],
    ['no extension', projectExtension, undefined],
  ])('does not take back a guard that was allowed: %s', async (_, file, said) => {
    write(files.user(), { enableHooks: true });
    write(file(), { name: 'p', ...guarding('one') });
    await start({ consent: await opened() }, { toOptions, loadExtensions });
    expect(await call()).toBe('ran');
    await allowAll();
    expect(await call()).toBe('one');
    if (said) write(file(), said);
    else rmSync(file());
    expect(await call()).not.toBe('ran');
    write(files.project(), {});
    expect(await call()).toBe('one');
    expect(logger.warnings.filter((each) => each.includes('is gone, and stays'))).toHaveLength(1);
    await (await opened()).forget();
    expect(await call()).toBe('ran');
  });

  it('takes back a guard in whose place another is allowed', async () => {
    write(files.user(), { enableHooks: true });
    write(files.project(), guarding('one'));
    await start({ consent: await opened() }, { toOptions, loadExtensions });
    await call();
    await allowAll();
    expect(await call()).toBe('one');
    write(files.project(), holding({ ...blocking('two'), name: 'other' }));
    await call();
    const reviews = config
      ?.getHookSystem()
      ?.getAllHooks()
      .flatMap(({ review }) => review ?? []);
    await (await opened()).allow(reviews?.slice(0, 1) ?? [], { open: true });
    expect(await call()).toBe('two');
  });

  it('changes nothing of what is trusted as it was at the start', async () => {
    write(files.user(), guarding('one'));
    write(files.project(), { enableHooks: true, maxParallelHooks: 7 });
    const options = { toOptions, loadExtensions, trustProject: true };
    await start({ trustedFolder: true }, options);
    const started = placeOf('started');
    const evil = { AfterTool: [{ hooks: [hook(`touch ${started}`)] }] };
    write(files.project(), { enableHooks: false, disabledHooks: ['guard'], hooks: evil });
    write(projectExtension(), { name: 'p', hooks: evil });
    expect(await call()).toBe('one');
    write(files.user(), { ...idle });
    expect(await call()).toBe('ran');
    expect(existsSync(started)).toBe(false);
    expect(config?.getMaxParallelHooks()).toBe(7);
  });

  it('keeps nothing that is not allowed any more', async () => {
    const off = { enableHooks: false };
    write(files.user(), guarding('one'));
    write(files.project(), off);
    const allow = async () => {
      const consent = await openConsent({ workingDir: placeOf('project'), home: placeOf('home') });
      await consent.allowSettings(await consent.reviewSettings(off));
    };
    await start({}, { toOptions });
    await allow();
    expect(await call()).toBe('ran');
    write(files.project(), '{');
    expect(await call()).toBe('ran');
    rmSync(placeOf('home/.llxprt/trusted-hooks.json'));
    expect(await call()).toBe('one');
  });
});

it('follows a thousand changes in a second, and two watchers', async () => {
  write(files.user(), guarding('0'));
  await start();
  await config?.watch(where());
  const said: unknown[] = [];
  for (let each = 1; each <= 1000; each += 1) {
    write(files.user(), each % 10 === 0 ? guarding(String(each)) : '{');
    if (each % 100 === 0) said.push(await call());
  }
  expect(said).toEqual(Array.from({ length: 10 }, (_, index) => String((index + 1) * 100)));
});

describe('limits and models of hooks', () => {
  const judge = { type: 'prompt', prompt: 'Is this safe?' };
  const judging = (more: object) => ({
    enableHooks: true,
    hooks: { BeforeTool: [{ hooks: [judge] }] },
    ...more,
  });
  const options = { askModel: async () => ({ text: '{"decision":"deny","reason":"judged"}' }) };

  it.each([
    ['as a host has passed them', {}],
    ['as the settings say', { toOptions }],
  ])('follow their budget, %s', async (_, watch) => {
    write(files.user(), judging({ promptBudget: { tokens: 100 } }));
    await start(options, watch);
    expect(await call()).toBe('ran');
    write(files.user(), judging({ promptBudget: { tokens: 100_000 } }));
    expect(await call()).toContain('judged');
    write(files.user(), judging({ promptBudget: { tokens: 1 } }));
    expect(await call()).toContain('judged');
    expect(logger.warnings).toHaveLength(1);
  });

  it('follow the model, which has judged nothing yet', async () => {
    vi.stubEnv('NO_KEY', undefined);
    write(files.user(), judging({}));
    await start(options, { toOptions: (now) => ({ promptModel: undefined, ...now }) });
    expect(await call()).toContain('judged');
    write(files.user(), judging({ promptModel: { model: 'other', apiKeyEnv: 'NO_KEY' } }));
    expect(await call()).toBe('ran');
    expect(logger.warnings.join()).toContain('NO_KEY');
    write(files.user(), judging({}));
    expect(await call()).toContain('judged');
  });

  it('follow the number of async hooks', async () => {
    const waits = `echo >> ${placeOf('begun')}; while [ ! -e ${placeOf('gate')} ]; do sleep 0.02; done`;
    const waiting = (more: object) => ({
      enableHooks: true,
      hooks: { AfterTool: [{ hooks: [hook(waits, { async: true })] }] },
      ...more,
    });
    const begun = () => readFileSync(placeOf('begun'), 'utf8').length;
    write(files.user(), waiting({ maxAsyncHooks: 1 }));
    await start();
    await call();
    await call();
    await vi.waitFor(() => expect(begun()).toBe(1));
    write(files.user(), waiting({ maxAsyncHooks: 3 }));
    await call();
    await vi.waitFor(() => expect(begun()).toBe(3), { timeout: 10_000 });
    write(placeOf('gate'), '');
    await config?.getHookSystem()?.untilAsyncEnded();
  });

  it('count also where the files have changed before watch', async () => {
    const shows = hook('printf %s "${SHOWN-hidden}" >&2; exit 2');
    const showing = { enableHooks: true, hooks: { BeforeTool: [{ hooks: [shows] }] } };
    vi.stubEnv('SHOWN', 'shown');
    write(files.user(), showing);
    const loaded = await load();
    expect(await call()).toBe('shown');
    write(files.user(), { ...showing, hookEnvironment: { inherit: 'none', allow: ['PATH'] } });
    await loaded.watch({ ...where(), toOptions });
    expect(await call()).toBe('hidden');
  });
});
