import { mkdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Config } from '../../src/config/config.js';
import { HookConsent } from '../../src/trust/consent.js';
import {
  listModules,
  toProjectModule,
  useExtensionMiddleware,
  type UseExtensionMiddlewareOptions,
} from '../../src/extensions/extensionMiddleware.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useExtensionFolders } from './extensionFolder.js';

const folders = useExtensionFolders();
let logger: RecordingLogger;

beforeEach(async () => {
  logger = new RecordingLogger();
  await mkdir(folders.project);
});

/** Writes one extension with one middleware. */
async function write(
  module: string,
  source: string,
  entry: object = {},
  scope: 'project' | 'user' = 'user',
): Promise<void> {
  const middleware = [{ module: `./${module}`, stack: 'tool', ...entry }];
  await folders.write(scope, 'ext', {
    'llxprt-extension.json': { name: 'ext', middleware },
    [module]: source,
  });
}

async function load(options: UseExtensionMiddlewareOptions = {}, trustedFolder = true) {
  const { extensions } = await folders.load();
  const config = new Config({
    workingDir: folders.project,
    extensions,
    trustedFolder,
    debugLogger: logger,
  });
  await useExtensionMiddleware(config, extensions, options);
  return config;
}

async function callTool(config: Config, input: Record<string, unknown> = {}) {
  const { llmContent, error } = await executeToolWithHooks(
    config,
    'echo',
    input,
    async (given) => ({
      llmContent: JSON.stringify(given),
      returnDisplay: '',
    }),
  );
  return { text: llmContent, error: error?.type };
}

const STAGES = ['beforeTool', 'afterTool', 'execute'];

/** A middleware that adds `by` to the arguments. */
const adding = (by: string) => `{ call.input = { ...call.input, by: ${by} }; await next(); }`;

describe('a module', () => {
  it.each([
    [
      'ESM, a function',
      'a.mjs',
      `export default async function add(call, next) ${adding('"mw"')}`,
      'ext/add',
    ],
    [
      'ESM, an anonymous function',
      'a.mjs',
      `export default async (call, next) => ${adding('"mw"')}`,
      'ext/a',
    ],
    [
      'ESM, a factory',
      'a.mjs',
      `export default (options) => async function add(call, next) ${adding('options.by')}`,
      'ext/add',
    ],
    [
      'ESM, a factory of two parameters',
      'a.mjs',
      `export default function make(options, { logger }) { logger.log('made'); return async (call, next) => ${adding('options.by')} }`,
      'ext/a',
    ],
    [
      'ESM, a factory of a function that is not async',
      'a.mjs',
      `export default () => function add(call, next) { call.input = { by: 'mw' }; return next(); }`,
      'ext/add',
    ],
    [
      'CommonJS, a function',
      'a.cjs',
      `module.exports = async function add(call, next) ${adding('"mw"')}`,
      'ext/add',
    ],
    [
      'CommonJS, a factory',
      'a.cjs',
      `module.exports = (options) => async function add(call, next) ${adding('options.by')}`,
      'ext/add',
    ],
    [
      'CommonJS, compiled from ESM',
      'a.cjs',
      `Object.defineProperty(exports, '__esModule', { value: true }); exports.default = async function add(call, next) ${adding('"mw"')}`,
      'ext/add',
    ],
  ])('of this kind is used: %s', async (_kind, module, source, name) => {
    await write(module, source, { options: { by: 'mw' } });
    const config = await load();
    expect(config.stack('tool')).toEqual([name, ...STAGES]);
    expect(await callTool(config)).toEqual({ text: '{"by":"mw"}', error: undefined });
    expect(logger.warnings).toEqual([]);
  });

  it('stands where the manifest says, under the name that it says', async () => {
    await write('a.mjs', 'export default async (call, next) => next();', {
      before: 'execute',
      name: 'last',
    });
    expect((await load()).stack('tool')).toEqual([
      'beforeTool',
      'afterTool',
      'ext/last',
      'execute',
    ]);
  });

  it.each([
    ['that is no JavaScript', 'export default async (', /Unexpected end of input/],
    ['that throws', 'throw new Error("no token");', /no token/],
    ['whose factory throws', 'export default () => { throw new Error("no token"); }', /no token/],
    ['without a default export', 'export const guard = 1;', /default export is nothing/],
    ['that exports an object', 'export default { guard: 1 };', /default export is an object/],
    ['whose factory returns nothing', 'export default () => {};', /returned nothing/],
    [
      'that exports a middleware which is not async',
      'export default (call, next) => next();',
      /next is not a function/,
    ],
    [
      'whose factory is a promise that fails',
      'export default () => Promise.reject(new Error("later"));',
      /returned an object: return the middleware, or mark the function as async/,
    ],
    ['for a wrong stack', '', /./, { stack: 'tools' }],
  ] as [string, string, RegExp, object?][])(
    '%s is left out; as a policy, it blocks every call',
    async (_what, source, why, entry = {}) => {
      await write('a.mjs', source, entry);
      const lax = await load();
      expect(lax.stack('tool')).toEqual(STAGES);
      expect(await callTool(lax)).toEqual({ text: '{}', error: undefined });
      if (source) {
        expect(logger.warnings).toEqual([expect.stringMatching(why)]);
        expect(logger.warnings[0]).toMatch(
          /llxprt-extension\.json:1:\d+: middleware\[0\]: .*left out/s,
        );
      }

      await write('b.mjs', source, { ...entry, policy: true });
      const { text, error } = await callTool(await load());
      expect(error).toBe('blocked_by_hook');
      expect(text).toMatch(/^Blocked: the policy "ext\/b" cannot be asked: /);
      expect(text).toMatch(why);
    },
  );

  it('that never ends loading is given up', async () => {
    await write('a.mjs', 'await new Promise(() => {}); export default 1;', { policy: true });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const loading = load();
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    vi.advanceTimersByTime(10_000);
    vi.useRealTimers();
    const { text } = await callTool(await loading);
    expect(text).toContain('The module was not loaded within 10000 ms');
  });
});

const hasRun = (scope: 'project' | 'user') =>
  readFile(path.join(folders.folder(scope, 'ext'), 'ran')).then(
    () => true,
    () => false,
  );

describe('a module that is refused', () => {
  const LEAVES_MARK = `import { writeFileSync } from 'node:fs';
writeFileSync(new URL('./ran', import.meta.url), '');
export default async (call, next) => next();`;

  it.each([{}, { policy: true }, { policy: true, before: 'nowhere' }])(
    'of a project that is not trusted is not imported, and blocks nothing: %j',
    async (entry) => {
      await write('a.mjs', LEAVES_MARK, entry, 'project');
      const config = await load({}, false);
      expect(config.stack('tool')).toEqual(STAGES);
      expect(await callTool(config)).toEqual({ text: '{}', error: undefined });
      expect(await hasRun('project')).toBe(false);
      expect(logger.warnings).toEqual([
        expect.stringContaining('middleware[0]: not used: the project is not trusted'),
      ]);
    },
  );

  it('of the user runs all the same', async () => {
    await write('a.mjs', LEAVES_MARK);
    await load({}, false);
    expect(await hasRun('user')).toBe(true);
  });

  it.each([
    ['says no', async () => 'changed since you allowed it'],
    ['fails', () => Promise.reject(new Error('changed since you allowed it'))],
  ])('stays out where whoever is asked %s', async (_what, refuse) => {
    await write('a.mjs', LEAVES_MARK);
    const problems: string[] = [];
    await load({ refuse, onProblem: ({ message }) => problems.push(message) });
    expect(await hasRun('user')).toBe(false);
    expect(problems).toEqual([expect.stringContaining('changed since you allowed it')]);
  });
});

/** Allows the module as it stands, unless it has been allowed before. */
async function loadAllowed({ allowing }: { allowing: boolean }) {
  const { extensions } = await folders.load();
  const consent = await HookConsent.read({ workingDir: folders.project, home: folders.home });
  if (allowing) {
    const modules = listModules(extensions).map(toProjectModule);
    await consent.allow(await consent.reviewModules(modules));
  }
  const config = new Config({
    workingDir: folders.project,
    extensions,
    consent,
    debugLogger: logger,
  });
  await useExtensionMiddleware(config, extensions);
  return callTool(config);
}

const at = (file: string) => path.join(folders.folder('project', 'ext'), file);

/** A manifest with one policy. */
const manifest = (module: string) => ({
  'llxprt-extension.json': {
    name: 'ext',
    middleware: [{ module, stack: 'tool', policy: true }],
  },
});

describe('a module that has changed since the user allowed it', () => {
  const GIVES_WAY = 'export default async (call, next) => next();';

  beforeEach(async () => {
    await mkdir(folders.home);
  });

  it.each([
    ['its module', 'changed', {}],
    ['its policy', GIVES_WAY, { policy: false }],
    ['its stack', GIVES_WAY, { stack: 'model' }],
    ['its place', GIVES_WAY, { after: 'nowhere' }],
  ])('blocks what it had the last word on, when it was a policy: %s', async (_, source, entry) => {
    await write('a.mjs', GIVES_WAY, { policy: true }, 'project');
    expect(await loadAllowed({ allowing: true })).toEqual({ text: '{}', error: undefined });
    await write('a.mjs', source, { policy: true, ...entry }, 'project');
    const { text, error } = await loadAllowed({ allowing: false });
    expect(error).toBe('blocked_by_hook');
    expect(text).toContain('the policy "ext/a" cannot be asked: it has changed since');
    expect(logger.warnings).toEqual([
      expect.stringContaining('every call of the tool stack is blocked; to see and allow it'),
    ]);
  });

  it('blocks too when its file has gone, or has another name', async () => {
    await write('a.mjs', GIVES_WAY, { policy: true }, 'project');
    await loadAllowed({ allowing: true });
    await rename(at('a.mjs'), at('b.mjs'));
    expect((await loadAllowed({ allowing: false })).error).toBe('blocked_by_hook');
    await folders.write('project', 'ext', manifest('./b.mjs'));
    expect((await loadAllowed({ allowing: false })).error).toBe('blocked_by_hook');
  });

  it('is left out, when it was none', async () => {
    await write('a.mjs', GIVES_WAY, {}, 'project');
    await loadAllowed({ allowing: true });
    await write('a.mjs', GIVES_WAY, { policy: true }, 'project');
    expect(await loadAllowed({ allowing: false })).toEqual({ text: '{}', error: undefined });
    expect(logger.warnings).toEqual([expect.stringContaining('not used: it has changed')]);
  });
});

it('an extension that is not active adds nothing', async () => {
  await write('a.mjs', 'export default async (call, next) => next();');
  const { extensions } = await folders.load();
  const config = new Config();
  await useExtensionMiddleware(
    config,
    extensions.map((extension) => ({ ...extension, isActive: false })),
  );
  expect(config.stack('tool')).toEqual(STAGES);
});
