import { describe, expect, it } from 'vitest';
import { answerConfirmations, BusApprover } from '../../src/approvals/busApprover.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { MessageBusType, type MessageOf } from '../../src/confirmation-bus/types.js';
import type { ApprovalRequest } from '../../src/protocol/approval.js';
import { HookEventName } from '../../src/protocol/types.js';

type Result = MessageOf<MessageBusType.TOOL_CONFIRMATION_RESULT>;

function request(id: string): ApprovalRequest {
  return {
    id,
    event: HookEventName.BeforeTool,
    hooks: [{ name: 'production', source: 'user' }],
    reason: '',
    toolName: 'deploy',
    input: {},
    originalInput: {},
    sessionId: 'one',
    workingDir: '/',
    expiresAt: Date.now() + 60_000,
  };
}

function open() {
  const bus = new InProcessMessageBus();
  const results: Result[] = [];
  bus.subscribe(MessageBusType.TOOL_CONFIRMATION_RESULT, (message) => void results.push(message));
  const approver = new BusApprover(bus);
  const controller = new AbortController();
  const ask = async (id: string) =>
    approver.approve(request(id), { signal: AbortSignal.any([controller.signal]) });
  const answer = (correlationId: string, fields: object = {}) =>
    bus.publish({
      type: MessageBusType.TOOL_CONFIRMATION_RESPONSE,
      correlationId,
      sessionId: 'one',
      approval: { decision: 'allow' },
      ...fields,
    });
  return { bus, approver, results, controller, ask, answer };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('an approver on a message bus', () => {
  it('answers a thousand questions at once, each of them once, and leaves none', async () => {
    const { bus, approver, results, ask } = open();
    let count = 0;
    await answerConfirmations(bus, async ({ id }) => {
      count++;
      await tick();
      return { decision: Number(id) % 2 === 0 ? 'allow' : 'deny', by: id };
    });
    const ids = Array.from({ length: 1000 }, (_, index) => String(index));
    const answers = await Promise.all(ids.map(ask));
    expect(answers.map(({ by }) => by)).toEqual(ids);
    expect(answers.filter(({ decision }) => decision === 'allow')).toHaveLength(500);
    await tick();
    expect([count, approver.size, results.filter(({ accepted }) => accepted).length]).toEqual([
      1000, 0, 1000,
    ]);
  });

  it.each([
    { what: 'an id that is not open', id: 'x', fields: {}, code: 'CONFIRMATION_NOT_OPEN' },
    {
      what: 'another session',
      id: 'a',
      fields: { sessionId: 'two' },
      code: 'CONFIRMATION_OTHER_SESSION',
    },
    {
      what: 'no approval',
      id: 'a',
      fields: { approval: undefined },
      code: 'CONFIRMATION_MALFORMED',
    },
    {
      what: 'a decision that is none',
      id: 'a',
      fields: { approval: { decision: 'yes' } },
      code: 'CONFIRMATION_MALFORMED',
    },
    { what: 'an id that is no text', id: 7, fields: {}, code: 'CONFIRMATION_NOT_OPEN' },
  ])('refuses an answer with $what, and the question stays open', async (given) => {
    const { approver, results, ask, answer } = open();
    const asked = ask('a');
    await tick();
    answer(given.id as string, given.fields);
    await tick();
    expect(results).toMatchObject([{ accepted: false, error: { code: given.code } }]);
    expect(approver.size).toBe(1);
    answer('a');
    expect(await asked).toEqual({ decision: 'allow' });
  });

  it('refuses a second answer, and one that is too late', async () => {
    const { results, ask, answer, controller } = open();
    const asked = ask('a');
    await tick();
    answer('a');
    answer('a', { approval: { decision: 'deny' } });
    expect(await asked).toEqual({ decision: 'allow' });
    const late = ask('b');
    await tick();
    controller.abort();
    await expect(late).rejects.toThrow();
    answer('b');
    await tick();
    expect(results.map(({ accepted, error }) => error?.code ?? accepted)).toEqual([
      true,
      'CONFIRMATION_ANSWERED',
      'CONFIRMATION_TOO_LATE',
    ]);
  });

  it('refuses what was said before anything was asked', async () => {
    const { results, answer } = open();
    answer('a');
    await tick();
    expect(results).toMatchObject([{ accepted: false, error: { code: 'CONFIRMATION_NOT_OPEN' } }]);
  });

  it.each([
    ['an object that cannot be shown', { decision: { toString: 1 } }],
    ['much', { decision: 'x'.repeat(1_000_000) }],
    ['a reason that is none', { decision: 'allow', reason: { toString: 1 } }],
    ['nothing', undefined],
  ])('refuses %s in a few words, and the question stays open', async (_, approval) => {
    const { approver, results, ask, answer } = open();
    const asked = ask('a');
    await tick();
    answer('a', { approval });
    await tick();
    expect(results).toMatchObject([{ error: { code: 'CONFIRMATION_MALFORMED' } }]);
    expect(JSON.stringify(results).length).toBeLessThan(500);
    expect(approver.size).toBe(1);
    answer('a');
    expect(await asked).toEqual({ decision: 'allow' });
  });

  it('counts an answer also where its result cannot be sent', async () => {
    const { bus, ask, answer } = open();
    const publish = bus.publish.bind(bus);
    bus.publish = (message) => {
      if (message.type === MessageBusType.TOOL_CONFIRMATION_RESULT) throw new Error('full');
      return publish(message);
    };
    const asked = ask('a');
    await tick();
    answer('a');
    expect(await asked).toEqual({ decision: 'allow' });
  });

  it('gives up what is open once it is disposed of', async () => {
    const { bus, approver, ask } = open();
    const asked = ask('a');
    await tick();
    const given = expect(asked).rejects.toThrow('nobody takes answers any more');
    await approver.dispose();
    await given;
    expect(approver.size).toBe(0);
    expect(bus.listenerCount(MessageBusType.TOOL_CONFIRMATION_RESPONSE)).toBe(0);
  });
});
