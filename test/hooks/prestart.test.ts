import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Config, executeToolWithHooks, type ConfigOptions } from '../../src/index.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { countResources } from '../helpers/countResources.js';
import { spawnerStatus } from '../helpers/lookAtSpawner.js';
import { beforeToolInput, hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';
import { isRunning } from '../process/helpers.js';

const temp = useTempDir();
const WAIT = { timeout: 10_000 };
const configs: Config[] = [];
let logger: RecordingLogger;

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const config of configs.splice(0)) await config.getHookSystem()?.dispose();
});

function create(options: ConfigOptions): Config {
  logger = new RecordingLogger();
  const workingDir = temp.path;
  const config = new Config({ enableHooks: true, workingDir, debugLogger: logger, ...options });
  configs.push(config);
  return config;
}

async function open(options: ConfigOptions): Promise<Config> {
  const config = create(options);
  await config.getHookSystem()?.initialize();
  return config;
}

async function callTool(config: Config): Promise<unknown> {
  const { llmContent } = await executeToolWithHooks(config, 'write_file', {}, async () => ({
    llmContent: 'ran',
    returnDisplay: '',
  }));
  return llmContent;
}

/** Tells in `pids` that it runs, and in `served` that it was asked. */
const WAITING = 'echo $$ >>pids; read -r -d "" _; echo $$ >>served';
const prestarted = (command = WAITING) => hook(command, { name: 'ahead', prestart: true });

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(path.join(temp.path, file), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean);
}

/** The processes that wait, once there are so many. */
async function waitingPids(count: number): Promise<number[]> {
  return vi.waitFor(async () => {
    const running = (await linesOf('pids')).map(Number).filter((pid) => isRunning(pid));
    expect(running).toHaveLength(count);
    return running;
  }, WAIT);
}

describe('a hook that is started ahead', () => {
  it('is one process for a command, also at two events, and the one that is asked', async () => {
    const groups = [{ hooks: [prestarted()] }];
    const config = await open({ hooks: { BeforeTool: groups, AfterTool: groups } });
    const [pid] = await waitingPids(1);
    expect(await callTool(config)).toBe('ran');
    expect((await linesOf('served'))[0]).toBe(String(pid));
  });

  it('is started by the first event, where nobody has read the hooks before', async () => {
    const config = create({ hooks: { AfterModel: [{ hooks: [prestarted()] }] } });
    await callTool(config);
    await waitingPids(1);
  });

  it('is started anew when the environment changes, and the one before ends', async () => {
    const config = await open({ hooks: { BeforeTool: [{ hooks: [prestarted()] }] } });
    await waitingPids(1);
    vi.stubEnv('TRACEPARENT', '1');
    await callTool(config);
    vi.stubEnv('TRACEPARENT', '2');
    await callTool(config);
    await waitingPids(1);
  });

  it.each<[string, (config: Config) => unknown]>([
    ['is switched off', (config) => config.getHookSystem()?.setHookEnabled('ahead', false)],
    ['loses its system', (config) => config.getHookSystem()?.dispose()],
  ])('ends when it %s', async (_when, end) => {
    const config = await open({ hooks: { BeforeTool: [{ hooks: [prestarted()] }] } });
    await waitingPids(1);
    await end(config);
    await waitingPids(0);
  });

  it('is not restarted for ever when it does not wait, with one warning', async () => {
    const config = await open({
      hooks: { BeforeTool: [{ hooks: [prestarted('echo $$ >>pids')] }] },
    });
    await vi.waitFor(async () => {
      await callTool(config);
      expect(logger.warnings.filter((each) => each.includes('not started ahead any more'))).toEqual(
        [expect.stringContaining('"ahead"')],
      );
    }, WAIT);
    const before = (await linesOf('pids')).length;
    await callTool(config);
    expect((await linesOf('pids')).length).toBe(before + 1);
  });

  it('still denies as a guard when it died before it was asked', async () => {
    const guard = hook('read -r -d "" _; echo no >&2; exit 2', {
      prestart: true,
      onFailure: 'deny',
    });
    const config = await open({ hooks: { BeforeTool: [{ hooks: [guard] }] } });
    await callTool(config);
    expect(await callTool(config)).toBe('no');
  });

  it('is not started in a hook of a hook of a hook', async () => {
    vi.stubEnv('HOOKSTACK_DEPTH', '3');
    const config = await open({ hooks: { BeforeTool: [{ hooks: [prestarted(), hook('true')] }] } });
    await callTool(config);
    expect(await linesOf('pids')).toEqual([]);
    expect(spawnerStatus()).toBeUndefined();
  });
});

describe('the process that starts hooks', () => {
  it.each<[string, ConfigOptions]>([
    ['hooks are off', { enableHooks: false, hooks: { BeforeTool: [{ hooks: [hook('true')] }] } }],
    [
      'no hook is a command',
      { hooks: { BeforeTool: [{ hooks: [{ type: 'plugin', command: '' }] }] } },
    ],
  ])('is not started when %s', async (_when, options) => {
    const config = await open({ ...options, hooksRunner: { spawner: true } });
    const started = countResources('PROCESSWRAP');
    await callTool(config);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(started()).toBe(0);
  });

  it('costs no answer where a hook of the plan has no command', async () => {
    const runner = new HookRunner(new RecordingLogger(), { spawner: true });
    const noCommand = { type: 'plugin', name: 'x' } as CommandHookConfig;
    const hooks = [hook('echo no >&2; exit 2'), noCommand];
    const input = beforeToolInput(temp.path);
    const results = await runner.executeHooksParallel(hooks, HookEventName.BeforeTool, input);
    expect(results[0]?.output).toMatchObject({ decision: 'deny', reason: 'no' });
    runner.stopPreparing(temp.path);
  });
});
