import type { AggregatedHookResult } from '../../src/protocol/hookOutput.js';
import { describe, expect, vi } from 'vitest';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { runAgent } from '../../src/agent/agent.js';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { GeminiChat } from '../../src/core/geminiChat.js';
import { DebugLogger } from '../../src/util/debugLogger.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { ask } from '../confirmation-bus/helpers.js';
import { readToEnd } from '../core/helpers/chats.js';
import { callTools, reply } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { blocking, hook } from '../helpers/hooks.js';
import { failingObserver, rejectingObserver } from '../helpers/observer.js';
import { ThrowingLogger } from '../helpers/throwingLogger.js';
import { fault, type Host } from './helpers/host.js';

const { BeforeTool, BeforeModel } = HookEventName;
const sandbox = useSandbox();

const execute = async () => ({ llmContent: 'ran', returnDisplay: '' });

/** A logger that overrides all but `extend`, so that its parts are made by the package. */
class ThrowingParts extends ThrowingLogger {
  override extend(part: string): DebugLogger {
    return DebugLogger.prototype.extend.call(this, part);
  }
}

/** Each makes the hook system warn, and a deny stand or a guard hold all the same. */
const CAUSES: readonly [string, HookDefinitions[HookEventName], RegExp][] = [
  ['a deny beside a hook that fails', [{ hooks: [hook('exit 1'), blocking('no')] }], /no/],
  [
    'a guard that fails',
    [{ hooks: [hook('exit 1', { name: 'guard', onFailure: 'deny' })] }],
    /"guard" must not be bypassed/,
  ],
  [
    'a deny beside an answer with an unknown field',
    [{ hooks: [hook(`echo '{"decison": 1}'`), blocking('no')] }],
    /no/,
  ],
  [
    'a deny beside a matcher that is not an expression',
    [{ matcher: '(', hooks: [hook('true')] }, { hooks: [blocking('no')] }],
    /no/,
  ],
  [
    'a deny beside a hook that is switched off',
    [{ hooks: [hook('exit 1', { maxConsecutiveFailures: 1 }), blocking('no')] }],
    /no/,
  ],
];

const LOGGERS = [
  ['throws', ThrowingLogger],
  ['makes parts that throw', ThrowingParts],
] as const;

describe.each(LOGGERS)('a logger that %s', (_, Logger) => {
  const logger = () => new Logger('broken');
  const open = (
    host: Host,
    { hooks = {}, ...options }: ConfigOptions & { hooks?: HookDefinitions },
  ) => host.createChangingConfig(hooks, { ...options, debugLogger: logger() });

  fault.for(CAUSES)('takes nothing from a tool call: %s', async ([, groups, why], { host }) => {
    const config = open(host, { hooks: { BeforeTool: groups } });
    const answer = await host.callToolOf(config);
    expect(answer).toMatchObject({ verdict: 'blocked', text: expect.stringMatching(why) });
  });

  fault.for(CAUSES)('takes nothing from fireHook: %s', async ([, groups, why], { host }) => {
    const config = open(host, { hooks: { BeforeTool: groups } });
    const payload = { toolName: 'x', toolInput: {} };
    const options = { onHooks: failingObserver };
    const fired = await fireHook(config, BeforeTool, payload, options);
    expect(fired?.aggregated.finalOutput?.getEffectiveReason()).toMatch(why);
  });

  fault.for(CAUSES)(
    'takes nothing from the event handler: %s',
    async ([, groups, why], { host }) => {
      const system = open(host, { hooks: { BeforeTool: groups } }).getHookSystem();
      await system?.initialize();
      const fired = await system?.getEventHandler().fireBeforeToolEvent('x', {});
      expect(fired?.finalOutput?.getEffectiveReason()).toMatch(why);
    },
  );

  fault.for(CAUSES)('takes nothing from the bus: %s', async ([, groups, why], { host }) => {
    const messageBus = new InProcessMessageBus(logger());
    open(host, { hooks: { BeforeTool: groups }, messageBus });
    const { output } = await ask(messageBus);
    expect(output?.finalOutput?.reason).toMatch(why);
    expect(await ask(messageBus, { eventName: 'BeforeLunch' })).toMatchObject({ success: false });
  });

  fault.for(CAUSES)('takes nothing from the scheduler: %s', async ([, groups, why], { host }) => {
    const tool = { name: 'x', declaration: { name: 'x' }, execute };
    const scheduler = new CoreToolScheduler({
      config: open(host, { hooks: { BeforeTool: groups } }),
      tools: [tool],
      onStatus: failingObserver,
      onHooks: failingObserver,
    });
    const [call] = await scheduler.schedule([{ name: 'x' }]);
    expect(call).toMatchObject({ status: 'idle' });
    expect(call?.result.llmContent).toMatch(why);
  });

  fault('takes nothing from a chat', async ({ host }) => {
    const { models } = await sandbox.startModel(reply('answer'));
    const hooks = { BeforeModel: [{ hooks: [hook('exit 1'), blocking('no')] }] };
    const chat = new GeminiChat({ config: open(host, { hooks }), models, model: 'm' });
    const { turn } = await readToEnd(chat.sendMessageStream('hi', { onHooks: failingObserver }));
    expect(turn.verdict).toMatchObject({ kind: 'block', event: BeforeModel, reason: 'no' });
  });

  fault('takes nothing from an agent', async ({ host }) => {
    const { models } = await sandbox.startModel(callTools({ name: 'x' }), reply('Done.'));
    const config = open(host, {
      hooks: {
        BeforeTool: [{ hooks: [hook('exit 1'), blocking('no')] }],
        SessionStart: [{ hooks: [hook('echo why >&2; exit 2')] }],
      },
    });
    const tools = [{ name: 'x', declaration: { name: 'x' }, execute }];
    const onEvent = failingObserver;
    const result = await runAgent({ config, models, model: 'm', prompt: 'Go', tools, onEvent });
    expect(result).toMatchObject({ response: 'Done.', toolCalls: [{ status: 'idle' }] });
  });

  fault('takes nothing from an event whose hooks cannot be read', async ({ host }) => {
    class Unreadable extends Config {
      override getHooks(): HookDefinitions {
        if (!this.#isBroken) return { BeforeTool: [{ hooks: [guard] }] };
        this.#isBroken = false;
        throw new Error('settings are gone');
      }

      #isBroken = true;
    }
    const guard = hook('true', { name: 'guard', onFailure: 'deny' });
    const config = new Unreadable({
      ...host.defaults,
      trustedFolder: true,
      debugLogger: logger(),
    });
    const answer = await host.callToolOf(config);
    expect(answer).toMatchObject({ verdict: 'blocked', text: expect.stringContaining('"guard"') });
  });
});

/** A logger that fails later, in all that it does. */
class RejectingLogger extends DebugLogger {
  override warn: () => void = rejectingObserver;
  override debug: () => void = rejectingObserver;
  override extend(): DebugLogger {
    return Promise.reject(new Error('no part')) as never;
  }
}

fault('a logger and observers that reject do not end the host', async ({ host }) => {
  const unhandled = vi.fn<(reason: unknown) => void>();
  process.on('unhandledRejection', unhandled);
  try {
    const { models } = await sandbox.startModel(callTools({ name: 'x' }), reply('Done.'));
    const debugLogger = new RejectingLogger('broken');
    const hooks = { BeforeTool: [{ hooks: [hook('exit 1'), blocking('no')] }] };
    const config = host.createConfig({ hooks, debugLogger });
    const tools = [{ name: 'x', declaration: { name: 'x' }, execute }];
    const onEvent = rejectingObserver;
    const result = await runAgent({ config, models, model: 'm', prompt: 'Go', tools, onEvent });
    expect(result).toMatchObject({ response: 'Done.', toolCalls: [{ status: 'idle' }] });
    const options = { onHooks: rejectingObserver };
    await fireHook(config, BeforeTool, { toolName: 'x', toolInput: {} }, options);
    const scheduler = new CoreToolScheduler({ config, tools, onStatus: rejectingObserver });
    await scheduler.schedule([{ name: 'x' }]);
    // Node tells of such a rejection before the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  } finally {
    process.off('unhandledRejection', unhandled);
  }
});

fault('a config that cannot even give its logger blocks by its guards', async ({ host }) => {
  class Broken extends Config {
    override getDebugLogger(): never {
      throw new Error('no logger');
    }
  }
  const guard = hook('true', { name: 'guard', onFailure: 'deny' });
  const config = new Broken({
    ...host.defaults,
    hooks: { BeforeTool: [{ hooks: [guard] }] },
    trustedFolder: true,
  });
  const fired = await fireHook(config, BeforeTool, { toolName: 'x', toolInput: {} });
  const { finalOutput }: Partial<AggregatedHookResult> = fired?.aggregated ?? {};
  expect(finalOutput?.isBlockingDecision()).toBe(true);
});
