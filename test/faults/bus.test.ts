import { describe, expect, vi } from 'vitest';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { MessageBusType, type MessageBus } from '../../src/confirmation-bus/types.js';
import type {
  HookExecutionRequest,
  HookExecutionResponse,
} from '../../src/confirmation-bus/types.js';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { blocking, hook } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';

/** A bus that cannot send answers. */
function oneWay(bus: MessageBus, fail: () => Promise<void>): MessageBus {
  return {
    subscribe: (type, handler) => bus.subscribe(type, handler),
    publish: (message) =>
      message.type === MessageBusType.HOOK_EXECUTION_RESPONSE ? fail() : bus.publish(message),
  };
}

function failNow(): never {
  throw new Error('no way out');
}

async function failLater(): Promise<never> {
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error('no way out');
}

/** A host that answers over a bus, and keeps the answers. */
function connect(
  host: Host,
  hooks: CommandHookConfig[],
  messageBus: MessageBus = new InProcessMessageBus(host.logger),
) {
  const planned: HookEventName[] = [];
  const responses: HookExecutionResponse[] = [];
  const config = host.createConfig({ hooks: { BeforeTool: [{ hooks }] }, messageBus });
  config.use('hook', async function beforePlanner(ctx, next) {
    planned.push(ctx.event);
    await next();
  });
  const system = config.getHookSystem();
  void messageBus.subscribe(MessageBusType.HOOK_EXECUTION_RESPONSE, (response) => {
    responses.push(response);
  });
  return {
    bus: messageBus,
    planned,
    responses,
    system,
    /** Sends a request, whatever it looks like. */
    send: (fields: object) => {
      const whole = { ...REQUEST, ...fields } as HookExecutionRequest;
      void messageBus.publish(whole);
    },
    /** Waits until there are so many responses. */
    answers: async (count: number) => {
      await vi.waitFor(() => expect(responses).toHaveLength(count), {
        timeout: 10_000,
        interval: 10,
      });
      return responses;
    },
  };
}

const REQUEST: HookExecutionRequest = {
  type: MessageBusType.HOOK_EXECUTION_REQUEST,
  eventName: HookEventName.BeforeTool,
  input: { tool_name: 'write_file', tool_input: {} },
  correlationId: 'one',
};

describe('60 a request that cannot be understood', () => {
  fault.for([
    ['no tool_name', { input: { tool_input: {} } }, 'HOOK_INVALID_PAYLOAD', 'tool_name'],
    [
      'tool_input is text',
      { input: { tool_name: 'x', tool_input: 'y' } },
      'HOOK_INVALID_PAYLOAD',
      'tool_input',
    ],
    ['input null', { input: null }, 'HOOK_INVALID_PAYLOAD', 'input'],
    ['unknown event', { eventName: 'BeforeLunch' }, 'HOOK_UNKNOWN_EVENT', 'BeforeLunch'],
    ['event in lower case', { eventName: 'beforetool' }, 'HOOK_UNKNOWN_EVENT', 'beforetool'],
    ['event of every object', { eventName: 'constructor' }, 'HOOK_UNKNOWN_EVENT', 'constructor'],
  ] as const)(
    '60 %s: failed response, planner not run',
    async ([, fields, code, word], { host }) => {
      const { send, answers, planned } = connect(host, [hook(': > ran')]);
      send(fields);
      const [response] = await answers(1);
      expect(response).toMatchObject({ correlationId: 'one', success: false, error: { code } });
      expect(response?.error?.message).toContain(word);
      expect(response?.output?.results ?? []).toEqual([]);
      expect(planned).toEqual([]);
      expect(host.exists('ran')).toBe(false);
    },
  );
});

describe('61 a correlation id', () => {
  fault('61 missing: one is made up', async ({ host }) => {
    const { send, answers } = connect(host, [blocking('no')]);
    send({ correlationId: undefined });
    const [response] = await answers(1);
    expect(response?.correlationId).toMatch(/^[\da-f-]{36}$/);
    expect(response?.output?.finalOutput).toMatchObject({ decision: 'deny', reason: 'no' });
  });

  fault('61 duplicate: refused while the first is in flight', async ({ host }) => {
    const waiting = hook('echo >> runs; : > started; until [ -e go ]; do sleep 0.01; done');
    const { send, answers } = connect(host, [waiting]);
    send({});
    await host.waitForFile('started');
    send({});
    const [refused] = await answers(1);
    expect(refused).toMatchObject({ correlationId: 'one', success: false });
    expect(refused?.error).toMatchObject({ code: 'HOOK_CORRELATION_REFUSED' });
    host.touch('go');
    expect((await answers(2))[1]).toMatchObject({ correlationId: 'one', success: true });
    expect(host.lines('runs')).toHaveLength(1);
    // It is free again.
    send({});
    expect((await answers(3))[2]).toMatchObject({ correlationId: 'one', success: true });
  });
});

describe('62 a bus', () => {
  fault('62 whose subscriber throws: the others are not affected', async ({ host }) => {
    const { bus, send, answers } = connect(host, [blocking('no')]);
    for (const type of Object.values(MessageBusType)) {
      void bus.subscribe(type, () => {
        throw new Error('subscriber');
      });
    }
    send({});
    send({ correlationId: 'two' });
    expect((await answers(2)).map(({ output }) => output?.finalOutput?.reason)).toEqual([
      'no',
      'no',
    ]);
    expect(host.warnings).toHaveLength(4);
  });

  fault.for([
    ['throws', failNow],
    ['rejects', failLater],
  ] as const)(
    '62 whose publish %s: one warning, and the host lives',
    async ([, fail], { host }) => {
      const { send, responses } = connect(
        host,
        [hook('exit 0')],
        oneWay(new InProcessMessageBus(host.logger), fail),
      );
      send({});
      await vi.waitFor(() => expect(host.warnings).toHaveLength(1), { timeout: 5_000 });
      expect(host.warnings).toEqual([expect.stringMatching(/one could not be published/)]);
      expect(responses).toEqual([]);
    },
  );

  fault('62 left twice: nothing is answered after that', async ({ host }) => {
    const bus = new InProcessMessageBus(host.logger);
    const { send, responses, system } = connect(host, [hook(': > ran')], bus);
    await system?.dispose();
    await system?.dispose();
    expect(bus.listenerCount(MessageBusType.HOOK_EXECUTION_REQUEST)).toBe(0);
    send({});
    // Whatever was on its way would be here before the answer of another host.
    const other = connect(host, [blocking('no')], bus);
    other.send({ correlationId: 'two' });
    expect(await other.answers(1)).toMatchObject([{ correlationId: 'two' }]);
    expect(responses).toMatchObject([{ correlationId: 'two' }]);
    expect(host.exists('ran')).toBe(false);
    expect(host.warnings).toEqual([]);
  });

  fault('62 left while a request is in flight: that one is still answered', async ({ host }) => {
    const waiting = hook(': > started; until [ -e go ]; do sleep 0.01; done; exit 2');
    const { send, answers, system } = connect(host, [waiting]);
    send({});
    await host.waitForFile('started');
    await system?.dispose();
    host.touch('go');
    const [response] = await answers(1);
    expect(response?.output?.finalOutput).toMatchObject({ decision: 'deny' });
    expect(host.warnings).toEqual([]);
  });
});
