import { describe, expect, it, vi } from 'vitest';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { MessageBusType, type Unsubscribe } from '../../src/confirmation-bus/types.js';
import type { HookExecutionResponse } from '../../src/confirmation-bus/types.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { createRequest, HOOK_EXECUTION_REQUEST, HOOK_EXECUTION_RESPONSE } from './helpers.js';

const response: HookExecutionResponse = {
  type: HOOK_EXECUTION_RESPONSE,
  correlationId: 'a',
  success: true,
};

function createBus() {
  const logger = new RecordingLogger();
  return { bus: new InProcessMessageBus(logger), logger };
}

it('has the message types of the contract', () => {
  expect(MessageBusType).toEqual({
    HOOK_EXECUTION_REQUEST: 'hook-execution-request',
    HOOK_EXECUTION_RESPONSE: 'hook-execution-response',
    TOOL_CONFIRMATION_REQUEST: 'tool-confirmation-request',
    TOOL_CONFIRMATION_RESPONSE: 'tool-confirmation-response',
    TOOL_CONFIRMATION_RESULT: 'tool-confirmation-result',
  });
});

describe('InProcessMessageBus', () => {
  it('delivers a message at once, in the order of the subscriptions, to those of its type', () => {
    const { bus } = createBus();
    const seen: unknown[] = [];
    bus.subscribe(HOOK_EXECUTION_RESPONSE, (message) => void seen.push(['first', message]));
    bus.subscribe(HOOK_EXECUTION_REQUEST, (message) => void seen.push(['other', message]));
    bus.subscribe(HOOK_EXECUTION_RESPONSE, (message) => void seen.push(['second', message]));
    bus.publish(response);
    expect(seen).toEqual([
      ['first', response],
      ['second', response],
    ]);
  });

  it('delivers to nobody without a complaint', () => {
    const { bus, logger } = createBus();
    bus.publish(createRequest());
    expect(logger.records).toEqual([]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('reports a subscriber that %s, and delivers to the others', async (_, broken) => {
    const { bus, logger } = createBus();
    const seen: string[] = [];
    bus.subscribe(HOOK_EXECUTION_RESPONSE, () => void seen.push('before'));
    bus.subscribe(HOOK_EXECUTION_RESPONSE, broken);
    bus.subscribe(HOOK_EXECUTION_RESPONSE, () => void seen.push('after'));
    bus.publish(response);
    expect(seen).toEqual(['before', 'after']);
    await vi.waitFor(() => expect(logger.warnings).toHaveLength(1));
    expect(logger.records[0]).toMatchObject({
      message: expect.stringContaining(HOOK_EXECUTION_RESPONSE),
      details: { error: { message: 'broken' } },
    });
  });

  it('ends a subscription, once', () => {
    const { bus } = createBus();
    const seen: string[] = [];
    const end = bus.subscribe(HOOK_EXECUTION_RESPONSE, () => void seen.push('ended'));
    bus.subscribe(HOOK_EXECUTION_RESPONSE, () => void seen.push('kept'));
    void end();
    void end();
    bus.publish(response);
    expect(seen).toEqual(['kept']);
    expect(bus.listenerCount(HOOK_EXECUTION_RESPONSE)).toBe(1);
  });

  it('counts two subscriptions of one handler as two', () => {
    const { bus } = createBus();
    const seen: string[] = [];
    const handler = (message: HookExecutionResponse) => void seen.push(message.correlationId);
    const end = bus.subscribe(HOOK_EXECUTION_RESPONSE, handler);
    bus.subscribe(HOOK_EXECUTION_RESPONSE, handler);
    bus.publish(response);
    expect(seen).toEqual(['a', 'a']);
    void end();
    expect(bus.listenerCount(HOOK_EXECUTION_RESPONSE)).toBe(1);
    expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(0);
  });

  it('lets handlers subscribe and unsubscribe while a message is delivered', () => {
    const { bus } = createBus();
    const seen: string[] = [];
    const ends: Unsubscribe[] = [];
    const once = () => {
      seen.push('once');
      bus.subscribe(HOOK_EXECUTION_RESPONSE, () => void seen.push('later'));
      for (const end of ends) void end();
    };
    ends.push(bus.subscribe(HOOK_EXECUTION_RESPONSE, once));
    bus.subscribe(HOOK_EXECUTION_RESPONSE, () => void seen.push('always'));
    bus.publish(response);
    expect(seen).toEqual(['once', 'always']);
    bus.publish(response);
    expect(seen).toEqual(['once', 'always', 'always', 'later']);
  });
});
