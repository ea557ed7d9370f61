import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Msg } from '@nats-io/transport-node';
import { describe, expect, it, vi } from 'vitest';
import { HEADERS } from '../../src/fleet/question.js';
import { buildFixture } from '../helpers/builtFixture.js';
import { ask, publishRaw, rawClient, useNats } from '../helpers/fleetQuestions.js';
import { startNats } from '../helpers/natsServer.js';

const { nats, closing } = useNats();

function answerTo(message: Msg, text: string) {
  message.respond(text);
}

/** Somebody with the rights of a policy server. */
async function answerer(onQuestion: (message: Msg) => void) {
  const connection = await rawClient(nats, 'policy');
  connection.subscribe('hooks.ask.*.*', { callback: (_error, message) => onQuestion(message) });
  await connection.flush();
  closing.push(() => connection.close());
  return connection;
}

async function msOf(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work.catch(() => undefined);
  return performance.now() - start;
}

describe('askOverNats', () => {
  it('asks on one connection, however many ask first, and sends what stands around the question', async () => {
    const asked: Msg[] = [];
    const names = new Set<string>();
    const watcher = await answerer((message) => {
      asked.push(message);
      names.add(message.reply?.split('.').slice(0, 4).join('.') ?? '');
      answerTo(message, message.string());
    });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ask(nats, { json: `{"n":${n}}`, format: 'claude' })),
    );
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      answers.map((_, n) => [200, `{"n":${n}}`]),
    );
    expect(names.size).toBe(1);
    expect([...names][0]).toMatch(/^_INBOX\.acme\.one\.\w+$/u);
    expect(asked[0]?.headers?.get(HEADERS.format)).toBe('claude');
    expect(Number(asked[0]?.headers?.get(HEADERS.timeout))).toBeLessThanOrEqual(5000);
    expect(watcher.isClosed()).toBe(false);
  });

  it('fails at once where no policy server is there', async () => {
    await expect(ask(nats)).rejects.toMatchObject({
      message: 'got no answer: no policy server is there (no responders)',
      isUnasked: true,
    });
    expect(await msOf(ask(nats))).toBeLessThan(200);
  });

  it('fails at its deadline, and drops the answer that comes later', async () => {
    const late: Msg[] = [];
    await answerer((message) => late.push(message));
    await expect(ask(nats, { timeoutMs: 100 })).rejects.toMatchObject({
      message: 'got no answer within 100 ms',
      isUnasked: false,
    });
    const next = ask(nats, { json: '{"n":2}' });
    await vi.waitFor(() => expect(late).toHaveLength(2));
    answerTo(late[0]!, 'late');
    answerTo(late[1]!, 'in time');
    expect(await next).toEqual({ status: 200, text: 'in time' });
  });

  it('takes the first answer, and none to somebody else', async () => {
    const client = await answerer((message) => {
      client.publish('_INBOX.acme.one.nobody', 'to nobody');
      answerTo(message, 'right');
      answerTo(message, 'again');
    });
    expect((await ask(nats)).text).toBe('right');
    expect((await ask(nats)).text).toBe('right');
  });

  it('goes on where an answer has headers that are none', async () => {
    const broken = { subject: '', headers: 'bad name: x' };
    const policy = await answerer((message) => {
      void publishRaw(nats, 'policy', { ...broken, subject: message.reply ?? '' });
    });
    await expect(ask(nats)).rejects.toMatchObject({
      message: 'got an answer with headers that are none',
      isUnasked: false,
    });
    await policy.close();
    await answerer((message) => answerTo(message, '{}'));
    expect(await ask(nats)).toMatchObject({ text: '{}' });
  });

  it('ends with its signal', async () => {
    await answerer(() => undefined);
    const controller = new AbortController();
    const asking = ask(nats, { signal: controller.signal });
    controller.abort();
    await expect(asking).rejects.toThrow('was cancelled before it had an answer');
    await expect(ask(nats, { signal: controller.signal })).rejects.toMatchObject({
      isUnasked: true,
    });
  });

  it('refuses a question that is too large for a message, and goes on', async () => {
    await answerer((message) => answerTo(message, 'ok'));
    const text = new Uint8Array(10 * 1024 * 1024).fill(32);
    await expect(ask(nats, { text })).rejects.toMatchObject({
      message: expect.stringMatching(/10485760 bytes, and NATS takes 8388608/u),
      isUnasked: true,
    });
    expect((await ask(nats)).text).toBe('ok');
  });

  it('says that a secret is wrong, without it', async () => {
    await expect(ask(nats, { secret: 'one:password-of-nobody' })).rejects.toMatchObject({
      message: expect.stringMatching(/does not know this user, or the secret is another one/u),
      isUnasked: true,
    });
    await expect(ask(nats, { secret: 'one:password-of-nobody' })).rejects.not.toThrow(/nobody/u);
  });

  it('may not ask in the name of another agent', async () => {
    const heard = vi.fn();
    await answerer((message) => {
      heard(message.subject);
      answerTo(message, 'ok');
    });
    const stolen = ask(nats, { agent: 'two' });
    await expect(stolen).rejects.toMatchObject({
      message: expect.stringMatching(
        /^has a secret with which it may not .*; TEAM\/AGENT in its url must be that of the user/u,
      ),
      isUnasked: true,
    });
    expect((await ask(nats)).text).toBe('ok');
    expect(heard.mock.calls).toEqual([['hooks.ask.acme.one']]);
  });

  it('closes a connection that has no questions, and makes another', async () => {
    await answerer((message) => answerTo(message, message.reply?.split('.')[3] ?? ''));
    const first = await ask(nats, { idleMs: 200 });
    expect(await ask(nats)).toEqual(first);
    await vi.waitFor(async () => expect(await ask(nats, { idleMs: 1 })).not.toEqual(first), {
      interval: 250,
    });
  });

  it('lets a process end that has asked', async () => {
    await answerer((message) => answerTo(message, 'ok'));
    const { program, directory } = await buildFixture('fleet/askOnce.ts');
    closing.push(() => rm(directory, { recursive: true }));
    const child = spawn(process.execPath, [program, String(nats.port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [[code], text] = await Promise.all([once(child, 'exit'), child.stdout.toArray()]);
    expect([code, String(text)]).toEqual([0, 'ok']);
  });
});

describe('askOverNats while NATS is away', () => {
  it('fails at once where it was never there, and where it is gone for long', async () => {
    const own = await startNats();
    closing.push(() => own.dispose());
    await own.kill();
    await expect(ask(own)).rejects.toMatchObject({
      message: expect.stringMatching(/^could not ask: NATS at .* ECONNREFUSED 127\.0\.0\.1:\d+$/u),
      isUnasked: true,
    });
    expect(await msOf(ask(own))).toBeLessThan(500);
  });

  it('waits for a short return, puts again what waited for an answer, and sends nothing later', async () => {
    const own = await startNats();
    closing.push(() => own.dispose());
    const heard: string[] = [];
    const policy = await rawClient(own, 'policy');
    closing.push(() => policy.close());
    policy.subscribe('hooks.ask.*.*', {
      callback: (_error, message) => {
        heard.push(message.string());
        if (heard.length > 1 && heard.at(-1) !== 'silent') answerTo(message, 'ok');
      },
    });
    await policy.flush();
    const waiting = ask(own, { json: 'first' });
    await vi.waitFor(() => expect(heard).toEqual(['first']));
    await own.kill();
    // Until the loss is noticed, one goes out to nobody.
    const probe = () => ask(own, { json: 'probe', timeoutMs: 50 }).catch((error: unknown) => error);
    await expect.poll(probe).toMatchObject({ isUnasked: true });
    await expect(ask(own, { json: 'over before', timeoutMs: 50 })).rejects.toMatchObject({
      isUnasked: true,
    });
    await own.restart();
    expect((await waiting).text).toBe('ok');
    expect((await ask(own, { json: 'back' })).text).toBe('ok');
    const last = ask(own, { json: 'silent' });
    await vi.waitFor(() => expect(heard).toContain('silent'));
    await own.kill();
    await expect(last).rejects.toMatchObject({
      message: 'lost its connection to NATS while it waited',
      isUnasked: false,
    });
    const others = heard.filter((each) => each !== 'probe');
    expect(new Set(others)).toEqual(new Set(['first', 'back', 'silent']));
  });
});
