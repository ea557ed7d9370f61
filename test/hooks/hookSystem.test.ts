import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import {
  HookRegistryNotInitializedError,
  HookSystemNotInitializedError as fromErrors,
} from '../../src/hooks/errors.js';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import { HookSystemNotInitializedError, type HookSystem } from '../../src/hooks/hookSystem.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import type { StackName } from '../../src/protocol/stages.js';
import type { HookMiddleware, Registration } from '../../src/stack.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { ask } from '../confirmation-bus/helpers.js';
import { hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

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

  it('reads the hooks once, however many events come, by whatever way and at once', async () => {
    const bus = new InProcessMessageBus(new RecordingLogger());
    const config = new CountingConfig(oneHook, { messageBus: bus });
    const request = () =>
      ask(bus, { eventName: HookEventName.BeforeAgent, input: { prompt: 'p' } });
    const fire = () => fireHook(config, HookEventName.BeforeTool, { toolName: 'x', toolInput: {} });
    await Promise.all([request(), request(), fire(), fire()]);
    for (let count = 0; count < 3; count += 1) {
      await fire();
      await request();
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

  it('loses no hook of the first event where the host cannot name the session', async () => {
    class Nameless extends CountingConfig {
      override getSessionId(): never {
        throw new Error('no session');
      }
    }
    const hooks = { BeforeTool: [{ hooks: [hook('exit 2', { prestart: true })] }] };
    const config = new Nameless(hooks, { workingDir: temp.path });
    const fired = await fireHook(config, HookEventName.BeforeTool, {
      toolName: 'x',
      toolInput: {},
    });
    expect(fired?.aggregated.finalOutput?.isBlockingDecision()).toBe(true);
    await config.dispose();
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

/** The warnings about hooks that are read. */
const warningsOf = async (raw: unknown) => {
  const debugLogger = new RecordingLogger();
  await systemOf(new CountingConfig(raw as HookDefinitions, { debugLogger })).initialize();
  return debugLogger.warnings;
};

describe('a group that carries an origin', () => {
  const origin = { scope: 'user', file: '/home/ada/.llxprt/settings.json' };

  it('is warned of where an entry is bad, as every other', async () => {
    const hooks = [{ type: 'command' }, { ...hook('x'), timeout: 'soon' }, { ...hook('y'), on: 1 }];
    expect(await warningsOf({ BeforeTool: [{ origin, hooks }] })).toEqual([
      expect.stringMatching(/^hooks\.BeforeTool\[0\]\.hooks\[0\]\.command/),
      expect.stringMatching(/^hooks\.BeforeTool\[0\]\.hooks\[1\]\.timeout/),
      expect.stringMatching(/^hooks\.BeforeTool\[0\]\.hooks\[2\]\.on/),
    ]);
  });

  it('is told once of what was read from a file', async () => {
    const raw = {
      BeforeTool: [{ hooks: [{ type: 'command' }, { ...hook('x'), timeout: 5, on: 1 }] }],
      SessionStart: [{ hooks: [hook('x', { onFailure: 'deny' })] }],
    };
    const file = join(temp.path, 'settings.json');
    await writeFile(file, JSON.stringify({ hooks: raw }), { mode: 0o644 });
    const { settings, problems } = await loadSettingsFile(file);
    expect(problems.map(({ path }) => path)).toEqual([
      'hooks.BeforeTool[0].hooks[0].command',
      'hooks.BeforeTool[0].hooks[1].timeout',
      'hooks.BeforeTool[0].hooks[1].on',
      'hooks.SessionStart[0].hooks[0].onFailure',
    ]);
    expect(await warningsOf(settings.hooks)).toEqual([]);
  });
});

const guard = (name: string) => hook('exit 2', { name, onFailure: 'deny' });

describe('trustedFolder: false', () => {
  it('tells once, by their names, which guards of the project do not run', async () => {
    const debugLogger = new RecordingLogger();
    const config = new CountingConfig(
      {
        BeforeTool: [
          { hooks: [guard('mine'), guard('off'), hook('true', { name: 'no guard' })] },
          { origin: { scope: 'user' }, hooks: [guard('of the user')] },
        ],
        BeforeAgent: [{ hooks: [guard('other'), guard('mine')] }],
        AfterTool: [{ origin: { scope: 'project' }, hooks: [hook('x')] }],
      },
      { trustedFolder: false, disabledHooks: ['off'], debugLogger },
    );
    const system = systemOf(config);
    await system.initialize();
    await system.reload();
    expect(debugLogger.warnings).toEqual([
      expect.stringMatching(/do not run, as trustedFolder is false: "mine", "other";/),
    ]);
  });

  it('tells nothing where no guard is dropped', async () => {
    const debugLogger = new RecordingLogger();
    await systemOf(new CountingConfig(oneHook, { trustedFolder: false, debugLogger })).initialize();
    expect(debugLogger.warnings).toEqual([]);
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
    const { BeforeTool } = HookEventName;
    expect(() => registry.getHooksForEvent(BeforeTool)).toThrow(HookRegistryNotInitializedError);
    expect(() => registry.hasHooksFor(BeforeTool)).toThrow(HookRegistryNotInitializedError);
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

  it('compose their stack once, however many events come, by whatever way', async () => {
    let composed = 0;
    const registration: Registration<'hook'> = {
      after: 'translator',
      name: 'counting',
      get middleware(): HookMiddleware {
        composed += 1;
        return (_ctx, next) => next();
      },
    };
    class WithMiddleware extends CountingConfig {
      override registrations<S extends StackName>(stackName: S): readonly Registration<S>[] {
        return stackName === 'hook' ? ([registration] as never) : super.registrations(stackName);
      }
    }
    const bus = new InProcessMessageBus(new RecordingLogger());
    const config = new WithMiddleware(oneHook, { messageBus: bus });
    const fire = async () => {
      await fireHook(config, HookEventName.BeforeTool, { toolName: 'x', toolInput: {} });
      await systemOf(config).getEventHandler().fireBeforeToolEvent('x', {});
      await ask(bus);
    };
    await fire();
    const first = composed;
    expect(first).toBeGreaterThan(0);
    await fire();
    await systemOf(config).reload();
    await fire();
    expect(composed).toBe(first);
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

/** Hooks of which one needs consent. */
const ofProject = (name: string): HookDefinitions => ({
  BeforeTool: [
    { origin: { scope: 'project' }, hooks: [hook('true')] },
    { origin: { scope: 'user' }, hooks: [hook('true', { name })] },
  ],
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

  it('of two at the same time, the later one counts, however long the earlier takes', async () => {
    const gate = new EventEmitter();
    const held = once(gate, 'open');
    class SlowOnce extends CountingConfig {
      override async getConsent() {
        const isFirst = this.reads === 2;
        const consent = await super.getConsent();
        if (isFirst) await held;
        return consent;
      }
    }
    const config = new SlowOnce(ofProject('first'));
    const system = systemOf(config);
    await system.initialize();
    config.hooks = ofProject('older');
    const older = system.reload();
    await vi.waitFor(() => expect(config.reads).toBe(2));
    config.hooks = ofProject('newer');
    const newer = system.reload();
    await setImmediate();
    gate.emit('open');
    await Promise.all([older, newer]);
    expect(system.getAllHooks().map(({ config: { name } }) => name)).toContain('newer');
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
