import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Config, type ConfigOptions, type WatchOptions } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/settings/settings.js';
import { SettingsWatch } from '../../src/config/settingsWatch.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { loadExtensions } from '../../src/extensions/extensions.js';
import { openConsent } from '../../src/trust/openConsent.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const result = { llmContent: 'ran', returnDisplay: 'ran' };

let logger: RecordingLogger;
let config: Config | undefined;
beforeEach(() => {
  logger = new RecordingLogger();
  mkdirSync(inProject('.llxprt'), { recursive: true });
  mkdirSync(inHome('.llxprt'), { recursive: true });
});
afterEach(() => config?.dispose());

function inProject(...names: string[]): string {
  return path.join(temp.path, 'project', ...names);
}

function inHome(...names: string[]): string {
  return path.join(temp.path, 'home', ...names);
}

function places() {
  return {
    workingDir: inProject(),
    home: inHome(),
    systemPath: path.join(temp.path, 'system.json'),
  };
}

const userFile = () => inHome('.llxprt', 'settings.json');
const projectFile = () => inProject('.llxprt', 'settings.json');

function write(file: string, value: unknown): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
}

/** Settings with a hook that denies with a reason, or with one that runs a command. */
function denying(reason: string, more: object = {}) {
  const answer = JSON.stringify({ decision: 'deny', reason });
  return withHook(hook(`echo '${answer}'`, { name: 'teller', ...more }));
}

function withHook(...hooks: unknown[]) {
  return { enableHooks: true, hooks: { BeforeTool: [{ hooks }] } };
}

async function start(options: ConfigOptions = {}, watch: WatchOptions = {}): Promise<Config> {
  const { settings } = await loadSettings(places());
  const { workingDir, ...where } = places();
  config = new Config({ ...settings, workingDir, debugLogger: logger, ...options });
  await config.watch({ ...where, ...watch });
  return config;
}

/** What the model reads of a tool call: `ran`, or why it was blocked. */
async function call(): Promise<string> {
  if (!config) throw new Error('There is no Config');
  const { llmContent } = await executeToolWithHooks(config, 'x', {}, async () => result);
  return typeof llmContent === 'string' ? llmContent : JSON.stringify(llmContent);
}

describe('config.watch', () => {
  it('has a changed file count at the next event, as often as it changes', async () => {
    write(userFile(), denying('one'));
    await start();
    expect(await call()).toContain('one');
    for (const reason of ['two', 'six', 'ten']) {
      write(userFile(), denying(reason));
      expect(await call()).toContain(reason);
    }
    expect(logger.warnings).toEqual([]);
  });

  it('is off by default, and ends with what it returns', async () => {
    write(userFile(), denying('one'));
    const { settings } = await loadSettings(places());
    config = new Config({ ...settings, workingDir: inProject(), debugLogger: logger });
    expect(await call()).toContain('one');
    write(userFile(), denying('two'));
    expect(await call()).toContain('one');
    const { workingDir: _, ...where } = places();
    const stop = await config.watch(where);
    expect(await call()).toContain('two');
    stop();
    write(userFile(), denying('three'));
    expect(await call()).toContain('two');
  });

  it('ends with dispose', async () => {
    write(userFile(), denying('one'));
    const watched = await start();
    await watched.dispose();
    write(userFile(), denying('two'));
    expect(await call()).toContain('one');
  });

  it('takes hooks of a file that comes and goes, also where its folder was missing', async () => {
    rmSync(inHome('.llxprt'), { recursive: true });
    await start({ enableHooks: true });
    expect(await call()).toBe('ran');
    write(userFile(), denying('new'));
    expect(await call()).toContain('new');
    rmSync(userFile());
    expect(await call()).toBe('ran');
  });

  it('follows files of user and system that change at once, and one that is replaced', async () => {
    write(userFile(), denying('user 1'));
    const system = path.join(temp.path, 'system.json');
    write(system, denying('system 1'));
    await start();
    expect(await call()).toBe('user 1\nsystem 1');
    write(`${userFile()}~`, denying('user 2'));
    renameSync(`${userFile()}~`, userFile());
    write(system, denying('system 2'));
    expect(await call()).toBe('user 2\nsystem 2');
  });

  it('leaves the old in force where a file is broken, and says so once for each change', async () => {
    write(userFile(), denying('one'));
    await start();
    write(userFile(), '{\n  "hooks": {\n');
    expect(await call()).toContain('one');
    expect(await call()).toContain('one');
    expect(logger.warnings).toEqual([
      expect.stringMatching(/settings\.json:3:1: .*; what it said before stays in force$/),
    ]);
    write(userFile(), denying('two'));
    expect(await call()).toContain('two');
    expect(logger.warnings).toHaveLength(1);
    write(userFile(), '{');
    expect(await call()).toContain('two');
    expect(logger.warnings).toHaveLength(2);
  });

  it('reads a file again at the next event that was half written', async () => {
    write(userFile(), denying('one'));
    await start();
    const text = JSON.stringify(denying('two'));
    write(userFile(), text.slice(0, 40));
    expect(await call()).toContain('one');
    write(userFile(), text);
    expect(await call()).toContain('two');
  });

  it('lets a broken file of the project stop no change of the user', async () => {
    write(userFile(), denying('one'));
    await start();
    write(projectFile(), '{');
    write(userFile(), denying('two'));
    expect(await call()).toContain('two');
  });

  it.skipIf(process.getuid?.() === 0)('keeps what it cannot read any more', async () => {
    write(userFile(), denying('one'));
    await start();
    await promisify(execFile)('chmod', ['000', userFile()]);
    expect(await call()).toContain('one');
    expect(logger.warnings).toEqual([expect.stringContaining('stays in force')]);
  });

  it('keeps what somebody else could have written', async () => {
    write(userFile(), denying('one'));
    await start();
    write(userFile(), denying('two'));
    await promisify(execFile)('chmod', ['666', userFile()]);
    expect(await call()).toContain('one');
    expect(logger.warnings).toEqual([expect.stringContaining('stays in force')]);
  });

  it('lets an event end with the hooks that it began with', async () => {
    const gate = path.join(temp.path, 'gate');
    const begun = path.join(temp.path, 'begun');
    const answer = JSON.stringify({ decision: 'deny', reason: 'old' });
    const waits = `touch ${begun}; while [ ! -e ${gate} ]; do sleep 0.02; done; echo '${answer}'`;
    write(userFile(), withHook(hook(waits)));
    await start();
    const running = call();
    await vi.waitFor(() => expect(existsSync(begun)).toBe(true), { timeout: 10_000 });
    write(userFile(), denying('new'));
    expect(await call()).toContain('new');
    write(gate, '');
    expect(await running).toContain('old');
  });

  it('has events that come while the files are read wait for what they say', async () => {
    write(userFile(), denying('one'));
    await start();
    expect(await call()).toContain('one');
    write(userFile(), denying('two'));
    const said = await Promise.all([call(), call(), call()]);
    expect(said.every((each) => each.includes('two'))).toBe(true);
  });

  it('switches hooks on and off, all of them and by name', async () => {
    write(userFile(), { ...denying('one'), enableHooks: false });
    await start();
    expect(await call()).toBe('ran');
    write(userFile(), denying('one'));
    expect(await call()).toContain('one');
    write(userFile(), { ...denying('one'), disabledHooks: ['teller'] });
    expect(await call()).toBe('ran');
    write(userFile(), { ...denying('one'), enableHooks: false });
    expect(await call()).toBe('ran');
    write(userFile(), denying('two'));
    expect(await call()).toContain('two');
  });

  it('leaves alone what the host has said itself', async () => {
    write(userFile(), { hooks: denying('one').hooks });
    const given = { BeforeTool: [{ hooks: [hook(`echo '{"systemMessage":"given"}'`)] }] };
    const { settings } = await loadSettings(places());
    await start({
      enableHooks: true,
      hooks: { BeforeTool: [...(settings.hooks.BeforeTool ?? []), ...given.BeforeTool] },
    });
    write(userFile(), { enableHooks: false, hooks: {} });
    expect(await call()).toContain('given');
  });

  it('counts for requests on the bus', async () => {
    const messageBus = new InProcessMessageBus();
    write(userFile(), denying('one'));
    const watched = await start({ messageBus });
    write(userFile(), denying('two'));
    const handler = watched.getHookSystem();
    await handler?.initialize();
    const fired = await handler?.getEventHandler().fireBeforeToolEvent('x', {});
    expect(fired?.finalOutput?.reason).toBe('two');
  });

  it('masks and passes variables as the file says now', async () => {
    const shows = hook('printf \'{"decision":"deny","reason":"%s"}\' "${SHOWN-hidden}"');
    write(userFile(), withHook(shows));
    vi.stubEnv('SHOWN', 'shown');
    await start();
    expect(await call()).toContain('shown');
    write(userFile(), {
      ...withHook(shows),
      hookEnvironment: { inherit: 'none', allow: ['PATH'] },
    });
    expect(await call()).toContain('hidden');
    vi.unstubAllEnvs();
  });

  it('ends the process of a persistent hook that is gone', async () => {
    const pid = path.join(temp.path, 'pid');
    const program = `
      require('fs').writeFileSync(${JSON.stringify(pid)}, String(process.pid));
      process.stdout.write('{"hookstack":1}\\n');
      require('readline').createInterface({ input: process.stdin })
        .on('line', (line) => console.log(JSON.stringify({ id: JSON.parse(line).id, output: {} })));`;
    write(path.join(temp.path, 'kept.cjs'), program);
    const kept = hook(`${process.execPath} ${path.join(temp.path, 'kept.cjs')}`);
    write(userFile(), withHook({ ...kept, persistent: true }));
    await start();
    await call();
    const { readFileSync } = await import('node:fs');
    const process1 = Number(readFileSync(pid, 'utf8'));
    expect(isAlive(process1)).toBe(true);
    write(userFile(), denying('other'));
    expect(await call()).toContain('other');
    await vi.waitFor(() => expect(isAlive(process1)).toBe(false), { timeout: 10_000 });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('consent', () => {
  it('is asked for a hook of the project that is new or changed', async () => {
    const script = inProject('guard.sh');
    write(script, `echo '{"decision":"deny","reason":"project"}'`);
    const guard = hook('bash guard.sh', { name: 'guard', onFailure: 'deny' });
    const consent = await openConsent({ workingDir: inProject(), home: inHome() });
    write(userFile(), { enableHooks: true });
    const watched = await start({ consent });
    expect(await call()).toBe('ran');
    write(projectFile(), withHook(guard));
    expect(await call()).toBe('ran');
    expect(logger.warnings).toEqual([expect.stringContaining('skipped until you allow it')]);

    await allowAll(watched);
    expect(await call()).toContain('project');

    write(projectFile(), withHook({ ...guard, command: 'true' }));
    expect(await call()).toContain('must not be bypassed');
  });
});

/** As `hookstack trust` does in another process. */
async function allowAll(watched: Config): Promise<void> {
  const other = await openConsent({ workingDir: inProject(), home: inHome() });
  const entries = watched.getHookSystem()?.getAllHooks() ?? [];
  const reviews = entries.flatMap(({ review }) => review ?? []);
  await other.allow(reviews, { open: true });
}

async function openWatch(): Promise<SettingsWatch> {
  const { workingDir, ...where } = places();
  const watch = new SettingsWatch({ workingDir, logger }, { ...where, loadExtensions }, -1000);
  await watch.read({});
  return watch;
}

describe('extensions', () => {
  const withExtensions = { loadExtensions };

  it('come, change, are broken, and go', async () => {
    const manifest = inHome('.llxprt/extensions/e/llxprt-extension.json');
    await start({ enableHooks: true, extensions: [] }, withExtensions);
    expect(await call()).toBe('ran');
    mkdirSync(path.dirname(manifest), { recursive: true });
    expect(await call()).toBe('ran');
    write(manifest, { name: 'e', hooks: denying('one').hooks });
    expect(await call()).toContain('one');
    write(manifest, { name: 'e', hooks: denying('two').hooks });
    expect(await call()).toContain('two');
    write(manifest, '{');
    expect(await call()).toContain('two');
    expect(logger.warnings.at(-1)).toContain('what it said before stays in force');
    rmSync(path.dirname(manifest), { recursive: true });
    expect(await call()).toBe('ran');
  });
});

describe('what is looked at', () => {
  it('is read again only where it has changed, once times of files tell', async () => {
    write(userFile(), denying('one'));
    const watch = await openWatch();
    expect(watch.hasChanged()).toBe(false);
    write(userFile(), denying('two'));
    expect(watch.hasChanged()).toBe(true);
    await watch.read({});
    expect(watch.hasChanged()).toBe(false);
  });

  it('is not believed while files are so young that a change may not be seen', async () => {
    write(userFile(), denying('one'));
    const { workingDir, ...where } = places();
    const watch = new SettingsWatch({ workingDir, logger }, where);
    await watch.read({});
    expect(watch.hasChanged()).toBe(true);
  });

  it.each<[string, () => void]>([
    [
      'a link that leads elsewhere',
      () => {
        rmSync(userFile());
        symlinkSync(path.join(temp.path, 'b.json'), userFile());
      },
    ],
    ['what a link leads to', () => write(path.join(temp.path, 'a.json'), denying('changed'))],
    ['a new extension', () => write(inHome('.llxprt/extensions/x/hooks/hooks.json'), {})],
    ['a project that gets a file', () => write(projectFile(), {})],
    ['a consent', () => write(inHome('.llxprt/trusted-hooks.json'), {})],
    ['a lock', () => write(inProject('.llxprt/hooks.lock'), {})],
  ])('notices %s', async (_, change) => {
    write(path.join(temp.path, 'a.json'), denying('a'));
    write(path.join(temp.path, 'b.json'), denying('b'));
    symlinkSync(path.join(temp.path, 'a.json'), userFile());
    const watch = await openWatch();
    expect(watch.hasChanged()).toBe(false);
    change();
    expect(watch.hasChanged()).toBe(true);
  });
});
