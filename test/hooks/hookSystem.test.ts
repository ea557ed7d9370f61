import { describe, expect, it } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import {
  HookRegistryNotInitializedError,
  HookSystemNotInitializedError as fromErrors,
} from '../../src/hooks/errors.js';
import { HookSystemNotInitializedError, type HookSystem } from '../../src/hooks/hookSystem.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import { HookEventName, type HookDefinitions } from '../../src/hooks/types.js';
import { hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

/** A config that counts how often its hooks are read, and may fail the first times. */
class CountingConfig extends Config {
  reads = 0;
  hooks: HookDefinitions;
  failures: number;

  constructor(hooks: HookDefinitions, { failures = 0, ...options }: CountingOptions = {}) {
    super({ enableHooks: true, debugLogger: new RecordingLogger(), ...options });
    this.hooks = hooks;
    this.failures = failures;
  }

  override getHooks(): HookDefinitions {
    this.reads += 1;
    if (this.reads <= this.failures) throw new Error('settings are gone');
    return this.hooks;
  }
}

type CountingOptions = ConfigOptions & { failures?: number };

function systemOf(config: Config): HookSystem {
  const system = config.getHookSystem();
  if (!system) throw new Error('hooks are off');
  return system;
}

const oneHook: HookDefinitions = { BeforeTool: [{ hooks: [hook('true', { name: 'one' })] }] };

describe('initialize', () => {
  it('initialize called once', async () => {
    const config = new CountingConfig(oneHook);
    const system = systemOf(config);
    await system.initialize();
    await system.initialize();
    for (let count = 0; count < 3; count += 1) {
      await system.getEventHandler().fireBeforeToolEvent('x', {});
    }
    expect(config.reads).toBe(1);
  });

  it('is shared by calls at the same time', async () => {
    const config = new CountingConfig(oneHook);
    const system = systemOf(config);
    await Promise.all([system.initialize(), system.initialize(), system.initialize()]);
    expect(config.reads).toBe(1);
    expect(system.isInitialized()).toBe(true);
  });

  it('may be tried again after it failed', async () => {
    const config = new CountingConfig(oneHook, { failures: 1 });
    const system = systemOf(config);
    const tries = await Promise.allSettled([system.initialize(), system.initialize()]);
    expect(tries.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(system.getStatus()).toEqual({ initialized: false, totalHooks: 0 });
    await system.initialize();
    expect(config.reads).toBe(2);
    expect(system.getStatus()).toEqual({ initialized: true, totalHooks: 1 });
  });

  it('leaves out entries of a wrong shape, and says where they are', async () => {
    const raw = JSON.parse(
      '{"BeforeTool":[{"hooks":[{"type":"command"},{"type":"script","command":"x"},{"type":"command","command":"y"}]}],"Before":[]}',
    ) as HookDefinitions;
    const logger = new RecordingLogger();
    const config = new CountingConfig(raw, { debugLogger: logger });
    await systemOf(config).initialize();
    expect(systemOf(config).getAllHooks()).toHaveLength(1);
    expect(logger.warnings).toEqual([
      expect.stringMatching(/^hooks\.BeforeTool\[0\]\.hooks\[0\]/),
      expect.stringMatching(/^hooks\.BeforeTool\[0\]\.hooks\[1\]/),
      expect.stringMatching(/^hooks\.Before: unknown event/),
    ]);
  });
});

describe('before initialization', () => {
  it.each([
    ['getRegistry', (system: HookSystem) => system.getRegistry()],
    ['getEventHandler', (system: HookSystem) => system.getEventHandler()],
    ['getAllHooks', (system: HookSystem) => system.getAllHooks()],
    ['setHookEnabled', (system: HookSystem) => system.setHookEnabled('one', false)],
  ])('%s throws', (_, access) => {
    const system = systemOf(new CountingConfig(oneHook));
    expect(() => access(system)).toThrow(HookSystemNotInitializedError);
    expect(() => access(system)).toThrow(/initialize\(\)/);
  });

  it('throws an error with a name, the same from both modules', () => {
    expect(HookSystemNotInitializedError).toBe(fromErrors);
    expect(new HookSystemNotInitializedError().name).toBe('HookSystemNotInitializedError');
  });

  it('a registry throws as well', () => {
    const registry = new HookRegistry(new Config(), new RecordingLogger());
    expect(() => registry.getHooksForEvent(HookEventName.BeforeTool)).toThrow(
      HookRegistryNotInitializedError,
    );
  });

  it('getStatus says so', () => {
    const system = systemOf(new CountingConfig(oneHook));
    expect(system.getStatus()).toEqual({ initialized: false, totalHooks: 0 });
  });
});

describe('the parts of a hook system', () => {
  it('are the same at every call', async () => {
    const system = systemOf(new CountingConfig(oneHook));
    await system.initialize();
    expect(system.getRegistry()).toBe(system.getRegistry());
    expect(system.getEventHandler()).toBe(system.getEventHandler());
  });

  it('count hooks of all events and sources, also those that are switched off', async () => {
    const config = new CountingConfig(
      { ...oneHook, AfterModel: [{ hooks: [hook('a'), hook('b', { name: 'off' })] }] },
      {
        disabledHooks: ['off'],
        extensions: [
          { name: 'on', isActive: true, hooks: oneHook },
          { name: 'off', isActive: false, hooks: oneHook },
        ],
      },
    );
    await systemOf(config).initialize();
    expect(systemOf(config).getStatus()).toEqual({ initialized: true, totalHooks: 4 });
  });
});

describe('reload', () => {
  it('reads the hooks again', async () => {
    const config = new CountingConfig({});
    const system = systemOf(config);
    await system.initialize();
    const fire = () => system.getEventHandler().fireBeforeToolEvent('x', {});
    expect((await fire()).results).toEqual([]);

    config.hooks = { BeforeTool: [{ hooks: [saying({ decision: 'deny', reason: 'new' })] }] };
    expect((await fire()).results).toEqual([]);
    await system.reload();
    expect((await fire()).finalOutput?.getEffectiveReason()).toBe('new');
    expect(config.reads).toBe(2);
  });

  it('keeps what was read before when it fails', async () => {
    const config = new CountingConfig(oneHook);
    const system = systemOf(config);
    await system.initialize();
    config.failures = Infinity;
    await expect(system.reload()).rejects.toThrow('settings are gone');
    expect(system.getStatus()).toEqual({ initialized: true, totalHooks: 1 });
  });

  it('leaves an event in flight with the plan that it started with', async () => {
    const config = new CountingConfig({
      BeforeTool: [
        {
          sequential: true,
          hooks: [saying({ systemMessage: 'one' }), saying({ systemMessage: 'two' })],
        },
      ],
    });
    const system = systemOf(config);
    await system.initialize();
    const firing = system.getEventHandler().fireBeforeToolEvent('x', {});
    config.hooks = {};
    await system.reload();
    expect((await firing).finalOutput?.systemMessage).toBe('one\ntwo');
    expect((await system.getEventHandler().fireBeforeToolEvent('x', {})).results).toEqual([]);
  });
});

describe('setHookEnabled', () => {
  const hooks: HookDefinitions = {
    BeforeTool: [{ hooks: [hook('exit 2', { name: 'guard' })] }],
    AfterTool: [{ hooks: [hook('true', { name: 'guard' }), hook('echo plain')] }],
  };

  async function start(options: ConfigOptions = {}) {
    const system = systemOf(new CountingConfig(hooks, options));
    await system.initialize();
    const isBlocked = async () => {
      const fired = await system.getEventHandler().fireBeforeToolEvent('x', {});
      return fired.finalOutput?.isBlockingDecision() ?? false;
    };
    return { system, isBlocked };
  }

  it('switches every hook of a name off and on again, and counts them', async () => {
    const { system, isBlocked } = await start();
    expect(await isBlocked()).toBe(true);
    expect(system.setHookEnabled('guard', false)).toBe(2);
    expect(await isBlocked()).toBe(false);
    expect(system.setHookEnabled('guard', true)).toBe(2);
    expect(await isBlocked()).toBe(true);
  });

  it('knows a hook without a name by its command', async () => {
    const { system } = await start();
    expect(system.setHookEnabled('echo plain', false)).toBe(1);
    expect(system.setHookEnabled('no such hook', false)).toBe(0);
  });

  it('switches on what the settings switched off, until the next reload', async () => {
    const { system, isBlocked } = await start({ disabledHooks: ['guard'] });
    expect(await isBlocked()).toBe(false);
    system.setHookEnabled('guard', true);
    expect(await isBlocked()).toBe(true);
    await system.reload();
    expect(await isBlocked()).toBe(false);
  });

  it('does not switch on what comes from a folder that the user has not trusted', async () => {
    const { system, isBlocked } = await start({ trustedFolder: false });
    expect(system.getAllHooks().map(({ skipped }) => skipped)).toEqual([
      'untrusted',
      'untrusted',
      'untrusted',
    ]);
    expect(system.setHookEnabled('guard', true)).toBe(0);
    expect(await isBlocked()).toBe(false);
  });
});
