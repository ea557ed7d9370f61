import { describe, expect, it } from 'vitest';
import {
  ConfigSource,
  HookEventName,
  HookRegistry,
  type ConfigOptions,
  type HookDefinitions,
} from '../../src/index.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

// What the registries of Gemini CLI and LLxprt are tested for. Where ours differs, see differences.test.ts.

const { BeforeTool, AfterTool, Notification } = HookEventName;

/** Also of a host that hands over more than `Config` takes. */
async function register(hooks: unknown, options: ConfigOptions = {}) {
  const logger = new RecordingLogger();
  const config = new ChangingConfig({ enableHooks: true, ...options });
  config.hooks = hooks as HookDefinitions;
  const registry = new HookRegistry(config, logger);
  await registry.initialize();
  const running = (event = BeforeTool) =>
    registry.getHooksForEvent(event).map(({ config: { name, command } }) => name ?? command);
  return { registry, running, logger };
}

const one = (command: string, name?: string) => [
  { hooks: [hook(command, { ...(name && { name }) })] },
];

describe('registration', () => {
  it('of nothing is no error', async () => {
    const { registry, logger } = await register({});
    expect(registry.getAllHooks()).toEqual([]);
    expect(logger.warnings).toEqual([]);
  });

  it('keeps event, matcher, command and source', async () => {
    const checkStyle = { ...hook('./check_style.sh', { timeout: 60_000 }) };
    const { registry } = await register({
      BeforeTool: [{ matcher: 'EditTool', hooks: [checkStyle] }],
      AfterTool: one('./after-tool.sh'),
    });
    const [first, second, ...others] = registry.getAllHooks();
    expect(first).toMatchObject({
      eventName: BeforeTool,
      config: { type: 'command', command: './check_style.sh', timeout: 60_000 },
      matcher: 'EditTool',
      source: ConfigSource.Project,
    });
    expect(second).toMatchObject({ eventName: AfterTool, config: { command: './after-tool.sh' } });
    expect(others).toEqual([]);
  });

  it('gives the hooks of one event only', async () => {
    const { running } = await register({
      BeforeTool: [{ matcher: 'EditTool', hooks: [hook('./edit.sh')] }, ...one('./all.sh')],
      AfterTool: one('./after.sh'),
    });
    expect(running(BeforeTool)).toEqual(['./edit.sh', './all.sh']);
    expect(running(AfterTool)).toEqual(['./after.sh']);
    expect(running(Notification)).toEqual([]);
  });
});

describe('bad entries', () => {
  const good = hook('./good.sh');
  it.each<[what: string, hooks: unknown, warnings: string[], kept?: string[]]>([
    ['a list of groups that is text', { BeforeTool: 'x' }, ['hooks.BeforeTool: expected an array']],
    [
      'a list of groups that is an object',
      { AfterTool: { hooks: [] } },
      ['hooks.AfterTool: expected an array'],
    ],
    ['a group that is null', { BeforeTool: [null] }, ['hooks.BeforeTool[0]: expected a group']],
    [
      'a group without hooks',
      { BeforeTool: [{ matcher: 'EditTool' }] },
      ['hooks.BeforeTool[0].hooks: '],
    ],
    [
      'a group whose hooks are text',
      { BeforeTool: [{ matcher: 'EditTool', hooks: 'x' }] },
      ['hooks.BeforeTool[0].hooks: '],
    ],
    [
      'hooks that are no objects',
      { BeforeTool: [{ hooks: ['x', 42, null] }] },
      [0, 1, 2].map((index) => `hooks.BeforeTool[0].hooks[${index}]: expected a hook`),
    ],
    [
      'an unknown type, and a command that is missing',
      { BeforeTool: [{ hooks: [{ type: 'invalid', command: 'x' }, { type: 'command' }] }] },
      ['hooks.BeforeTool[0].hooks[0].type: ', 'hooks.BeforeTool[0].hooks[1].command: '],
    ],
    [
      'good ones among bad ones',
      { BeforeTool: [{ hooks: [good, 'x', { type: 'invalid', command: 'y' }] }] },
      ['hooks.BeforeTool[0].hooks[1]: ', 'hooks.BeforeTool[0].hooks[2].type: '],
      ['./good.sh'],
    ],
    [
      'an event that does not exist',
      { InvalidEvent: [], BeforeTool: [{ hooks: [good] }] },
      ['hooks.InvalidEvent: unknown event'],
      ['./good.sh'],
    ],
    [
      'keys of other places, each with a word about it (LLxprt)',
      { disabled: [], enabled: true, notifications: true, BeforeTool: [{ hooks: [good] }] },
      ['hooks.disabled: ', 'hooks.enabled: ', 'hooks.notifications: '],
      ['./good.sh'],
    ],
  ])(
    '%s are left out with a warning that says where',
    async (_what, hooks, expected, kept = []) => {
      const { running, registry, logger } = await register(hooks);
      expect(running()).toEqual(kept);
      expect(registry.getAllHooks()).toHaveLength(kept.length);
      expect(logger.warnings).toHaveLength(expected.length);
      for (const [index, start] of expected.entries()) {
        expect(logger.warnings[index]?.slice(0, start.length)).toBe(start);
      }
    },
  );
});

describe('switching off', () => {
  it.each<[by: string, id: string, name?: string]>([
    ['the command of a hook without a name', './test.sh'],
    ['its name', 'friendly', 'friendly'],
  ])('works by %s, and on again', async (_by, id, name) => {
    const { registry, running } = await register({ BeforeTool: one('./test.sh', name) });
    expect(running()).toEqual([id]);
    expect(registry.setHookEnabled(id, false)).toBe(1);
    expect(running()).toEqual([]);
    expect(registry.setHookEnabled(id, true)).toBe(1);
    expect(running()).toEqual([id]);
  });

  it('does not work by the command of a hook with a name', async () => {
    const { registry, running } = await register({ BeforeTool: one('./test.sh', 'friendly') });
    expect(registry.setHookEnabled('./test.sh', false)).toBe(0);
    expect(running()).toEqual(['friendly']);
  });

  it.each([
    ['its name', 'unwanted', ['./good.sh']],
    ['its command', './good.sh', ['unwanted']],
    ['nothing', undefined, ['./good.sh', 'unwanted']],
  ])('works in the settings by %s', async (_by, disabled, kept) => {
    const hooks = { BeforeTool: [...one('./good.sh'), ...one('./bad.sh', 'unwanted')] };
    const disabledHooks = disabled === undefined ? [] : [disabled];
    const { registry, running } = await register(hooks, { disabledHooks });
    expect(running()).toEqual(kept);
    expect(registry.getAllHooks()).toHaveLength(2);
  });
});

describe('extensions', () => {
  const extensionHooks = { BeforeTool: one('./ext.sh', 'theirs'), AfterTool: one('./after.sh') };

  it('are known of their hooks, and of no other', async () => {
    const extensions = [{ name: 'my-extension', isActive: true, hooks: extensionHooks }];
    const { registry } = await register({ BeforeTool: one('./own.sh') }, { extensions });
    const owners = registry.getAllHooks().map(({ extension }) => extension?.name);
    expect(owners).toEqual([undefined, 'my-extension', 'my-extension']);
  });

  it('have no hooks while they are switched off, and the others stay (Gemini CLI)', async () => {
    const extension = { name: 'my-extension', isActive: false, hooks: extensionHooks };
    const own = { BeforeTool: one('./own.sh') };
    const { registry, running } = await register(own, { extensions: [extension] });
    expect([running(BeforeTool), running(AfterTool)]).toEqual([['./own.sh'], []]);
    extension.isActive = true;
    await registry.reload();
    expect([running(BeforeTool), running(AfterTool)]).toEqual([
      ['./own.sh', 'theirs'],
      ['./after.sh'],
    ]);
  });
});
