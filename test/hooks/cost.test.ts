import { setImmediate } from 'node:timers/promises';
import type { GenerateContentParameters } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { Config, executeToolWithHooks, HookEventName } from '../../src/index.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { countResources } from '../helpers/countResources.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

const execute = async () => ({ llmContent: 'done', returnDisplay: '' });

async function openConfig(options: ConstructorParameters<typeof Config>[0]): Promise<Config> {
  const config = new Config({ enableHooks: true, ...options });
  await config.getHookSystem()?.initialize();
  return config;
}

const untouchable = new Proxy({} as GenerateContentParameters, {
  get: (_request, key) => {
    throw new Error(`The request was read: ${String(key)}`);
  },
});

describe('an event that no hook is interested in', () => {
  it.each([
    ['none is configured', {}],
    ['none matches', { BeforeTool: [{ matcher: '^read_file$', hooks: [hook('true')] }] }],
  ])('makes no promise, no timer and no process, when %s', async (_when, hooks) => {
    const config = await openConfig({ hooks });
    const payload = { toolName: 'write_file', toolInput: {} };
    void fireHook(config, HookEventName.BeforeTool, payload);
    const counts = ['PROMISE', 'Timeout', 'Immediate', 'PROCESSWRAP'].map(countResources);
    const fired = fireHook(config, HookEventName.BeforeTool, payload);
    expect(counts.map((count) => count())).toEqual([0, 0, 0, 0]);
    expect(fired).toBeUndefined();
  });

  it.each<[string, HookDefinitions]>([
    ['none is configured for it', { AfterTool: [{ hooks: [hook('true')] }] }],
    ['none matches', { BeforeTool: [{ matcher: '^read_file$', hooks: [hook('true')] }] }],
  ])('starts nothing, from initialization on, when %s', async (_when, hooks) => {
    const workingDir = temp.path;
    const started = countResources('PROCESSWRAP');
    const options = { hooks, workingDir, hooksRunner: { warmShells: 16 } };
    const config = await openConfig({ ...options, debugLogger: new RecordingLogger() });
    config.getHookSystem()?.setHookEnabled('no such hook', true);
    await fireHook(config, HookEventName.BeforeTool, { toolName: 'write_file', toolInput: {} });
    // What is made ready is, once nobody waits.
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect(started()).toBe(0);
  });

  it('leaves the request of the model unread', async () => {
    const config = await openConfig({ hooks: { BeforeTool: [{ hooks: [hook('true')] }] } });
    const payload = { llmRequest: untouchable };
    expect(fireHook(config, HookEventName.BeforeModel, payload)).toBeUndefined();
    expect(fireHook(config, HookEventName.BeforeToolSelection, payload)).toBeUndefined();
  });

  it('compiles nothing again for a tool that it has seen', async () => {
    const matcher = `^(?:read|list)_${'x'.repeat(5)}$`;
    const config = await openConfig({
      hooks: { BeforeTool: [{ matcher, hooks: [hook('true')] }] },
    });
    const payload = { toolName: 'write_file', toolInput: {} };
    void fireHook(config, HookEventName.BeforeTool, payload);
    const counts = countResources('ContextifyScript');
    void fireHook(config, HookEventName.BeforeTool, payload);
    expect(counts()).toBe(0);
  });
});

describe('an event with five hooks', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const hooks = { BeforeTool: [{ hooks: names.map((name) => hook(`cat > ${name}`)) }] };

  it('writes its input as JSON once', async () => {
    const workingDir = temp.path;
    const config = await openConfig({ hooks, workingDir });
    let written = 0;
    const content = {
      toJSON: () => {
        written += 1;
        return 'text';
      },
    };
    const payload = { toolName: 'write_file', toolInput: { content } };
    await fireHook(config, HookEventName.BeforeTool, payload);
    expect(written).toBe(1);
  });

  it('starts one process each', async () => {
    const workingDir = temp.path;
    const config = await openConfig({ hooks, workingDir, hooksRunner: { spawner: false } });
    const started = countResources('PROCESSWRAP');
    await executeToolWithHooks(config, 'write_file', {}, execute);
    expect(started()).toBe(5);
  });
});

describe('middleware', () => {
  it('is looked after by one timer, however much of it there is', async () => {
    const config = await openConfig({});
    for (let index = 0; index < 10; index++) config.use('tool', (_call, next) => next());
    const timers = countResources('Timeout');
    for (let call = 0; call < 10; call++) {
      await executeToolWithHooks(config, 'add', {}, execute);
    }
    expect(timers()).toBeLessThanOrEqual(1);
  });
});
