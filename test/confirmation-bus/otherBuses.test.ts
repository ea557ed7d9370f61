import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import type {
  MessageBus,
  MessageBusMessage,
  MessageBusType,
  MessageHandler,
  Unsubscribe,
} from '../../src/confirmation-bus/types.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { blocking, hook, saying } from '../helpers/hooks.js';
import { useTempDir } from '../helpers/tempDir.js';
import { ask, createRequest, directCalls, HOOK_EXECUTION_REQUEST, startHost } from './helpers.js';

const temp = useTempDir();

/** A bus to another process: messages travel as JSON, later, and everything is asynchronous. */
class Broker implements MessageBus {
  readonly #bus = new InProcessMessageBus();

  async publish(message: MessageBusMessage): Promise<void> {
    const carried = JSON.stringify(message);
    await setImmediate();
    this.#bus.publish(JSON.parse(carried) as MessageBusMessage);
  }

  async subscribe<T extends MessageBusType>(
    type: T,
    handler: MessageHandler<T>,
  ): Promise<Unsubscribe> {
    await setImmediate();
    const end = this.#bus.subscribe(type, handler);
    return async () => {
      await setImmediate();
      await end();
    };
  }

  listenerCount(type: MessageBusType): number {
    return this.#bus.listenerCount(type);
  }
}

describe('a bus that carries JSON between processes', () => {
  it('loses neither verdict nor errors', async () => {
    const bus = new Broker();
    const { system } = startHost({
      hooks: {
        BeforeTool: [{ hooks: [blocking('no'), hook('sleep 60', { timeout: 50 })] }],
      },
      workingDir: temp.path,
      messageBus: bus,
    });
    const response = await ask(bus, { correlationId: 'mine' });
    expect(response).toMatchObject({
      correlationId: 'mine',
      success: false,
      output: {
        finalOutput: { decision: 'deny', reason: 'no' },
        errors: [{ message: expect.stringContaining('timed out') }],
        results: [{ exitCode: 2 }, { error: { message: expect.stringContaining('timed out') } }],
      },
    });
    await system.dispose();
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(0);
  });

  it('may be disposed of before it has subscribed', async () => {
    const bus = new Broker();
    const { system } = startHost({ messageBus: bus });
    await system.dispose();
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(0);
  });
});

function broken(): never {
  throw new Error('bus is gone');
}

describe('a bus that fails', () => {
  const hooks: HookDefinitions = { BeforeTool: [{ hooks: [saying({ reason: 'ran' })] }] };
  it.each<[string, MessageBus]>([
    ['throws', { publish: broken, subscribe: broken }],
    ['rejects', { publish: async () => broken(), subscribe: async () => broken() }],
  ])('and %s at the subscription leaves the direct way as it is', async (_, messageBus) => {
    const { logger, system } = startHost({ hooks, messageBus, workingDir: temp.path });
    await vi.waitFor(() => expect(logger.warnings).toHaveLength(1));
    await system.initialize();
    const { finalOutput } = await directCalls.BeforeTool(system.getEventHandler());
    expect(finalOutput?.reason).toBe('ran');
    await system.dispose();
    expect(logger.warnings).toHaveLength(1);
  });

  it.each([
    ['throws', broken],
    ['rejects', async () => broken()],
  ])('and %s at the response is reported', async (_, publish) => {
    const bus = new InProcessMessageBus();
    const subscribe: MessageBus['subscribe'] = (type, handler) => bus.subscribe(type, handler);
    const { logger } = startHost({ messageBus: { publish, subscribe } });
    bus.publish(createRequest({ correlationId: 'mine' }));
    await vi.waitFor(() => expect(logger.warnings).toEqual([expect.stringContaining('mine')]));
  });

  it('at the end of the subscription is reported', async () => {
    const messageBus: MessageBus = { publish: () => undefined, subscribe: () => broken };
    const { logger, system } = startHost({ messageBus });
    await system.dispose();
    expect(logger.warnings).toHaveLength(1);
  });
});
