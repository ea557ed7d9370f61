import { EventEmitter, once } from 'node:events';
import { headers as newHeaders } from '@nats-io/transport-node';
import { describe, expect, it, vi } from 'vitest';
import { NatsDoor, type NatsDoorOptions } from '../../src/cli/serve/natsDoor.js';
import { HEADERS } from '../../src/fleet/question.js';
import { ask, publishRaw, rawClient, useNats } from '../helpers/fleetQuestions.js';
import { FLEET_SECRETS, startNats } from '../helpers/natsServer.js';

const { nats, closing } = useNats();

type Answer = NatsDoorOptions['answers']['answer'];

async function openDoor(answer: Answer, options: Partial<NatsDoorOptions> = {}) {
  const onWarn = vi.fn<(message: string) => void>();
  const door = await NatsDoor.open({
    url: nats.url,
    readSecret: async () => FLEET_SECRETS.policy,
    answers: { answer },
    name: 'test',
    onWarn,
    ...options,
  });
  closing.push(() => door.close());
  return { door, onWarn };
}

const answered = (body: object, status = 200) => ({ status, body: JSON.stringify(body) });

/** What waits for it goes on once it is released. */
function gate() {
  const emitter = new EventEmitter();
  return { held: once(emitter, 'release'), release: () => emitter.emit('release') };
}

describe('NatsDoor', () => {
  it('answers, and takes who asks from the subject', async () => {
    const answer = vi.fn<Answer>(async () => answered({ decision: 'deny' }));
    await openDoor(answer);
    const question = { id: 'q-1', timeoutMs: 4000, span: '00f067aa0ba902b7', call: 'toolu_1' };
    expect(await ask(nats, { question, json: '{"agent":"two"}' })).toEqual({
      status: 200,
      text: '{"decision":"deny"}',
    });
    expect(answer).toHaveBeenCalledWith({
      format: 'own',
      text: '{"agent":"two"}',
      question: { ...question, timeoutMs: expect.closeTo(4000, -3) as number, readsMarks: true },
      asker: 'acme/one',
    });
    await ask(nats, { agent: 'two', secret: FLEET_SECRETS.two, format: 'claude' });
    expect(answer.mock.lastCall?.[0]).toMatchObject({ format: 'claude', asker: 'acme/two' });
  });

  it('passes on another status, and says at once when it is full', async () => {
    const { held, release } = gate();
    const answer = vi.fn<Answer>(async () => {
      await held;
      return answered({ error: 'no' }, 422);
    });
    await openDoor(answer, { maxPending: 4 });
    const first = [ask(nats), ask(nats)];
    await vi.waitFor(() => expect(answer).toHaveBeenCalledTimes(2));
    const text = expect.stringMatching(/2 questions of acme\/one/u) as string;
    expect(await ask(nats)).toEqual({ status: 503, text });
    // Others are heard, whatever one agent asks.
    const two = [1, 2].map(() => ask(nats, { agent: 'two', secret: FLEET_SECRETS.two }));
    await vi.waitFor(() => expect(answer).toHaveBeenCalledTimes(4));
    release();
    const said = { status: 422, text: '{"error":"no"}' };
    expect(await Promise.all([...first, ...two])).toEqual([said, said, said, said]);
    expect(answer).toHaveBeenCalledTimes(4);
  });

  it('holds no more bytes than it may, and takes no text that is no UTF-8', async () => {
    await openDoor(async () => answered({}), { maxPendingBytes: 200 });
    expect(await ask(nats, { json: ' '.repeat(101) })).toMatchObject({ status: 503 });
    expect(await ask(nats, { json: ' '.repeat(100) })).toMatchObject({ status: 200 });
    expect(await ask(nats, { text: new Uint8Array([0xff]) })).toMatchObject({ status: 400 });
    expect(await ask(nats)).toMatchObject({ status: 200 });
  });

  it('keeps a deny that is too large for a message, and says of anything else that it is', async () => {
    const large = 'x'.repeat(9 * 1024 * 1024);
    await openDoor(async ({ text }) => answered({ ...(JSON.parse(text) as object), large }));
    const deny = await ask(nats, { json: '{"decision":"deny","reason":"never"}' });
    expect(deny).toEqual({ status: 200, text: '{"decision":"deny","reason":"never"}' });
    const specific = { hookEventName: 'PreToolUse', permissionDecision: 'deny' };
    const hookstack = { version: 1, question: 'q-1', success: false };
    const json = JSON.stringify({ hookSpecificOutput: specific, hookstack });
    expect((await ask(nats, { json })).text).toBe(json);
    const asks = await ask(nats, { json: '{"decision":"ask"}' });
    expect(asks).toMatchObject({ status: 500, text: expect.stringContaining('max_payload') });
  });

  it('writes nowhere but where its asker reads', async () => {
    const answer = vi.fn<Answer>(async () => answered({}));
    const { onWarn } = await openDoor(answer);
    const thief = await rawClient(nats, 'one', '_INBOX.acme.one');
    closing.push(() => thief.close());
    const headers = newHeaders();
    headers.set(HEADERS.question, 'q-1');
    thief.publish('hooks.ask.acme.one', '{}', { reply: 'hooks.event.acme.two', headers });
    await vi.waitFor(() => expect(onWarn).toHaveBeenCalledTimes(1));
    expect(onWarn.mock.calls[0]?.[0]).toMatch(/acme\/one wants its answer elsewhere/u);
    expect(answer).not.toHaveBeenCalled();
  });

  it.each([
    'bad name: x',
    `${HEADERS.timeout}: 1\r2`,
    ': x',
    'no colon',
    `${HEADERS.question}: \0`,
  ])('goes on where an agent sends the headers %j', async (lines) => {
    await openDoor(async () => answered({}));
    const subject = 'hooks.ask.acme.one';
    await publishRaw(nats, 'one', { subject, reply: '_INBOX.acme.one.a.1', headers: lines });
    expect(await ask(nats)).toEqual({ status: 200, text: '{}' });
  });

  it('shares the questions with the other doors', async () => {
    const counts = [0, 0, 0];
    for (const each of counts.keys()) {
      await openDoor(async () => {
        counts[each]! += 1;
        return answered({});
      });
    }
    await Promise.all(Array.from({ length: 300 }, () => ask(nats)));
    expect(counts.reduce((sum, count) => sum + count)).toBe(300);
    expect(Math.min(...counts)).toBeGreaterThan(30);
  });

  it('answers what it has taken before it closes, and takes no more', async () => {
    const { held, release } = gate();
    const answer = vi.fn<Answer>(async () => {
      await held;
      return answered({ n: 1 });
    });
    const { door } = await openDoor(answer);
    const asking = ask(nats);
    await vi.waitFor(() => expect(answer).toHaveBeenCalled());
    const closed = door.close();
    await vi.waitFor(() => expect(ask(nats, { timeoutMs: 100 })).rejects.toThrow('no responders'));
    release();
    expect(await asking).toMatchObject({ text: '{"n":1}' });
    await closed;
    expect(door.isConnected()).toBe(false);
  });

  it('closes soon also where NATS hangs', { timeout: 15_000 }, async () => {
    const hanging = await startNats();
    const { door } = await openDoor(async () => answered({}), { url: hanging.url });
    process.kill(hanging.pid, 'SIGSTOP');
    try {
      await door.close();
    } finally {
      await hanging.dispose();
    }
  });

  it('says what keeps it from opening', async () => {
    await expect(
      openDoor(async () => answered({}), { readSecret: async () => 'policy:wrong-one' }),
    ).rejects.toThrow(/does not know this user, or the secret is another one/u);
    await expect(
      openDoor(async () => answered({}), { readSecret: async () => FLEET_SECRETS.one }),
    ).rejects.toThrow(/may not subscribe to hooks\.ask\.\*\.\*/u);
    await expect(openDoor(async () => answered({}), { caFile: '/no/such' })).rejects.toThrow(
      'ENOENT',
    );
  });
});

describe('NatsDoor while NATS is away', () => {
  it('waits for NATS at its start, and answers again after each loss', async () => {
    const own = await startNats();
    closing.push(() => own.dispose());
    await own.kill();
    const { door, onWarn } = await openDoor(async () => answered({}), { url: own.url });
    expect(door.isConnected()).toBe(false);
    await own.restart();
    await vi.waitFor(() => expect(door.isConnected()).toBe(true), { timeout: 5000 });
    expect(await ask(own)).toMatchObject({ status: 200 });
    await own.kill();
    await vi.waitFor(() => expect(door.isConnected()).toBe(false));
    await own.restart();
    await vi.waitFor(async () => expect(await ask(own)).toMatchObject({ status: 200 }), {
      timeout: 5000,
    });
    expect(onWarn.mock.calls.map(([said]) => said.replace(/^.*:\d+ /u, ''))).toEqual([
      expect.stringMatching(
        /^cannot be used: connect ECONNREFUSED .*; it is tried again and again$/u,
      ),
      'is there now',
      'is lost; it is tried again and again',
      'is back',
    ]);
    await own.kill();
    await vi.waitFor(() => expect(door.isConnected()).toBe(false));
    await door.close();
  });
});
