import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { remoteApprover } from '../../src/fleet/fleetApprover.js';
import { answerQuestion } from '../../src/cli/serve/approvals/approvalQuestions.js';
import { digestOf, keyOf } from '../../src/cli/serve/approvals/storedQuestion.js';
import type { ApprovalRequest } from '../../src/protocol/approval.js';
import { listenToSpans, type Span } from '../../src/trace/span.js';
import { startNats, type TestNats } from '../helpers/natsServer.js';
import { connectAs, postOver, requestOf, startServer, type TestServer } from './approvalHelpers.js';

let nats: TestNats;
let first: TestServer;
let second: TestServer;
let agent: NatsConnection;

beforeAll(async () => {
  nats = await startNats();
  [first, second, agent] = await Promise.all([
    startServer(nats),
    startServer(nats),
    connectAs(nats, 'one'),
  ]);
});
afterAll(async () => {
  await agent.close();
  await Promise.all([first.kill(), second.kill()]);
  await nats.dispose();
});
afterEach(() => {
  first.lines.length = 0;
  second.lines.length = 0;
});

function ask(request: ApprovalRequest, signal = new AbortController().signal) {
  const approve = remoteApprover(postOver(agent, 'one'), { waitMs: 300, graceMs: 300 });
  return Promise.resolve(approve(request, { signal }));
}

async function shownOn({ board }: TestServer, { id }: ApprovalRequest) {
  return vi.waitFor(() => {
    const found = board.list().find(({ request }) => request.id === id);
    if (!found) throw new Error('it is not there');
    return found;
  });
}

describe('a question to a person', () => {
  it('says which numbers will run, also where JSON has no word for them', async () => {
    const request = requestOf({ input: { to: Infinity, from: NaN }, originalInput: {} });
    const asked = ask(request);
    const { key, revision, request: shown } = await shownOn(first, request);
    await first.board.answer(key, revision, { decision: 'deny', by: 'anna' });
    await asked;
    expect(shown.input).toEqual({ to: 'Infinity', from: 'NaN' });
  });

  it('is shown by all servers, and answered at any of them, with who did', async () => {
    const request = requestOf();
    const asked = ask(request);
    const [here, there] = await Promise.all([shownOn(first, request), shownOn(second, request)]);
    expect(there).toMatchObject({ from: 'acme/one', request: { input: request.input } });
    expect(here.key).not.toContain(request.id);
    const approval = { decision: 'allow', reason: 'fine', by: 'anna' } as const;
    expect(await second.board.answer(there.key, there.revision, approval)).toEqual({
      state: 'given',
    });
    expect(await asked).toEqual(approval);
    expect(second.lines[0]).toBe('anna allowed acme/one (run_shell_command): fine');
    const lines = [...first.lines, ...second.lines];
    expect(lines).toContain('acme/one (run_shell_command) has the answer of anna');
    await vi.waitFor(() => expect(first.board.list()).toEqual([]));
  });

  it('is answered once, by whoever is first at two servers', async () => {
    const request = requestOf();
    const asked = ask(request);
    const [{ key, revision }] = await Promise.all([
      shownOn(first, request),
      shownOn(second, request),
    ]);
    const counted = await Promise.all([
      first.board.answer(key, revision, { decision: 'allow', by: 'anna' }),
      second.board.answer(key, revision, { decision: 'deny', by: 'ben' }),
    ]);
    const { by } = await asked;
    const isAnna = by === 'anna';
    expect(counted[isAnna ? 0 : 1]).toEqual({ state: 'given' });
    expect(counted[isAnna ? 1 : 0]).toEqual({ status: 409, error: `already answered by ${by}` });
  });

  it('is a no once its time is over, and an answer after that does not count', async () => {
    const request = requestOf({ expiresAt: Date.now() + 500 });
    const asked = ask(request);
    const { key, revision } = await shownOn(first, request);
    await expect(asked).rejects.toThrow('nobody has answered in time');
    const late = { decision: 'allow', by: 'anna' } as const;
    expect(await first.board.answer(key, revision, late)).toMatchObject({ status: 410 });
    await vi.waitFor(() => expect(second.board.list()).toEqual([]));
  });

  it('is over by the clock of NATS, also before a server has ended it', async () => {
    const { expiresAt: _, ...request } = requestOf();
    const kv = await new Kvm(first.nc).open('hookstack_approvals');
    const key = keyOf('acme/one', request.id);
    const stored = { state: 'open', from: 'acme/one', digest: digestOf(request), request };
    const revision = await kv.create(key, JSON.stringify({ ...stored, expiresInMs: 0 }));
    const counted = await first.board.answer(key, revision, { decision: 'allow', by: 'anna' });
    expect(counted).toMatchObject({ status: 410 });
  });

  it('is taken away when the call is given up', async () => {
    const request = requestOf();
    const { signal, abort } = withAbort();
    const asked = ask(request, signal);
    const { key, revision } = await shownOn(first, request);
    abort();
    await expect(asked).rejects.toThrow('aborted');
    await vi.waitFor(() => expect(first.board.list()).toEqual([]));
    const counted = await first.board.answer(key, revision, { decision: 'allow', by: 'anna' });
    expect(counted).toMatchObject({ status: 410 });
  });

  it('cannot be taken away by another agent, nor be answered for by its id', async () => {
    const request = requestOf();
    const asked = ask(request);
    const { key, revision } = await shownOn(first, request);
    await first.board.takeBack('acme/two', request.id);
    expect(
      await first.board.answer(request.id, revision, { decision: 'allow', by: 'x' }),
    ).toMatchObject({ status: 404 });
    const other = '0'.repeat(64);
    expect(await first.board.answer(other, revision, { decision: 'allow', by: 'x' })).toMatchObject(
      { status: 404 },
    );
    // An answer is one to what was seen.
    expect(
      await first.board.answer(key, revision + 1, { decision: 'allow', by: 'x' }),
    ).toMatchObject({ status: 404 });
    await first.board.answer(key, revision, { decision: 'deny', by: 'ben' });
    expect(await asked).toEqual({ decision: 'deny', by: 'ben' });
  });

  it('gets the answer that was given, when it is put again, and none for another input', async () => {
    const request = requestOf();
    const asked = ask(request);
    const { key, revision } = await shownOn(first, request);
    await first.board.answer(key, revision, { decision: 'allow', by: 'anna' });
    await asked;
    expect(await ask(request)).toEqual({ decision: 'allow', by: 'anna' });
    const other = ask({ ...request, input: { command: 'rm -rf /' } });
    await expect(other).rejects.toThrow('another question has this id');
  });

  it('waits for a server, where there is none', async () => {
    const request = requestOf({ expiresAt: Date.now() + 400 });
    const { signal } = new AbortController();
    const nobody = remoteApprover(() => Promise.reject(new Error('no responders')));
    await expect(Promise.resolve(nobody(request, { signal }))).rejects.toThrow(
      'no policy server took it: no responders',
    );
  });

  it('is not put where it is too large, malformed, or one of too many', async () => {
    const large = requestOf({ input: { command: 'x'.repeat(300 * 1024) } });
    await expect(ask(large)).rejects.toThrow('larger than 256 KB');
    const post = postOver(agent, 'one');
    const timeoutMs = 2000;
    const huge = await post({ id: large.id, body: JSON.stringify(large), timeoutMs });
    expect(huge.status).toBe(413);
    const [hook] = large.hooks;
    const malformed = [
      { id: 'a.b>' },
      // All that is kept of it once it is over is short.
      { toolName: 'x'.repeat(129) },
      { toolName: 'x\u0001' },
      { toolName: '\ud800' },
      { hooks: [{ ...hook!, policy: '\u0001' }] },
    ].map((change) => JSON.stringify({ ...requestOf(), ...change }));
    for (const body of ['{', '[]', '{"id":"x"}', ...malformed]) {
      expect((await post({ id: 'x', body, timeoutMs })).status).toBe(422);
    }
    const many = Array.from({ length: 25 }, () => {
      const { expiresAt: _, ...kept } = requestOf();
      return first.board.ask({ from: 'acme/one', request: kept, timeoutMs: 900, waitMs: 1 });
    });
    const outcomes = await Promise.all(many);
    const refused = outcomes.filter((outcome) => 'status' in outcome && outcome.status === 429);
    expect(refused).toHaveLength(5);
    // Others have room.
    const { expiresAt: _, ...kept } = requestOf();
    const other = { from: 'acme/two', request: kept, timeoutMs: 900, waitMs: 1 };
    expect(await first.board.ask(other)).toEqual({ kind: 'open' });
    await vi.waitFor(() => expect(first.board.list()).toEqual([]), { timeout: 5000 });
  });

  it('takes no more than some new ones of one agent in a minute', async () => {
    const server = await startServer(nats, { newInMinute: 3 });
    const pose = (from: string) => {
      const { expiresAt: _, ...request } = requestOf();
      return server.board.ask({ from, request, timeoutMs: 1, waitMs: 500 });
    };
    for (let n = 0; n < 3; n++) expect(await pose('acme/one')).not.toHaveProperty('status');
    expect(await pose('acme/one')).toMatchObject({ status: 429 });
    expect(await pose('acme/two')).not.toHaveProperty('status');
    await server.kill();
  });

  it('is not asked without end by one agent, nor taken back; others are not held up', async () => {
    const server = await startServer(nats);
    const { expiresAt: _, ...request } = requestOf();
    const posed = { from: 'acme/one', request, timeoutMs: 20_000, waitMs: 1 };
    // All that 20 questions need which are asked again each 5 s, and half of them once more.
    for (let n = 0; n < 300; n += 1)
      expect(await server.board.ask(posed)).toEqual({ kind: 'open' });
    let taken = 0;
    while (taken < 1000 && !(await server.board.takeBack('acme/one', `made-up-${taken}`)))
      taken += 1;
    expect(taken).toBe(301);
    expect(await server.board.ask(posed)).toMatchObject({ status: 429 });
    const body = JSON.stringify({ takeBack: request.id });
    const put = { from: 'acme/one', body, header: () => undefined };
    expect(await answerQuestion(server.board, put)).toMatchObject({ status: 429 });
    const other = { ...posed, from: 'acme/two' };
    expect(await server.board.ask(other)).toEqual({ kind: 'open' });
    for (const from of ['acme/one', 'acme/two']) await first.board.takeBack(from, request.id);
    await vi.waitFor(() => expect(first.board.list()).toEqual([]));
    await server.kill();
  });

  it('keeps no more than forty requests of one waiting, whatever they ask', async () => {
    const { expiresAt: _, ...request } = requestOf();
    const posed = { from: 'acme/one', request, timeoutMs: 20_000, waitMs: 20_000 };
    const put = first.board.ask(posed);
    // Nobody looks through it twice while it is put.
    expect(await first.board.ask(posed)).toMatchObject({ status: 429 });
    const { key, revision } = await shownOn(first, requestOf({ id: request.id }));
    const asked = [put, ...Array.from({ length: 39 }, () => first.board.ask(posed))];
    expect(await first.board.ask(posed)).toMatchObject({ status: 429 });
    const other = { ...posed, from: 'acme/two', waitMs: 1 };
    expect(await first.board.ask(other)).toEqual({ kind: 'open' });
    await first.board.takeBack('acme/two', request.id);
    const approval = { decision: 'allow', by: 'anna' } as const;
    expect(await first.board.answer(key, revision, approval)).toEqual({ state: 'given' });
    const same = Array.from(asked, () => ({ kind: 'approval', approval }));
    const outcomes = await Promise.all(asked);
    expect(outcomes).toMatchObject(same);
    expect(outcomes.filter((outcome) => !('isAgain' in outcome))).toHaveLength(1);
    // There is room again.
    expect(await first.board.ask(posed)).toEqual({ kind: 'approval', approval, isAgain: true });
  });

  it('is looked through once: not again while it is open', async () => {
    // Nobody could read it, but it stands there.
    const input = { command: '\u200b'.repeat(20_001) };
    const { expiresAt: _, ...request } = requestOf({ input });
    const posed = { from: 'acme/one', request, timeoutMs: 20_000, waitMs: 1 };
    expect(await first.board.ask(posed)).toMatchObject({ status: 413 });
    const kv = await new Kvm(first.nc).open('hookstack_approvals');
    const stored = { state: 'open', from: 'acme/one', digest: digestOf(request), request };
    const open = JSON.stringify({ ...stored, isHandedOver: true, expiresInMs: 20_000 });
    await kv.create(keyOf('acme/one', request.id), open);
    await shownOn(first, requestOf({ id: request.id }));
    expect(await first.board.ask(posed)).toEqual({ kind: 'open' });
    const other = { ...posed, request: { ...request, input: {} } };
    expect(await first.board.ask(other)).toMatchObject({ status: 409 });
    await first.board.takeBack('acme/one', request.id);
    await vi.waitFor(() => expect(first.board.list()).toEqual([]));
  });

  it('is in the record once, when its answer is handed over, however often it is asked', async () => {
    const seen: Span[] = [];
    const stop = listenToSpans((span) => void (span.kind === 'question' && seen.push(span)));
    const { expiresAt: _, ...request } = requestOf();
    const body = JSON.stringify({ ...request, expiresInMs: 20_000, waitMs: 15_000 });
    const put = () =>
      answerQuestion(first.board, { from: 'acme/one', body, header: () => undefined });
    const asked = put();
    const { key, revision } = await shownOn(first, requestOf({ id: request.id }));
    await first.board.answer(key, revision, { decision: 'allow', by: 'anna' });
    const { body: answer } = await asked;
    expect(JSON.parse(answer)).toMatchObject({ decision: 'allow', by: 'anna' });
    expect(await put()).toEqual({ status: 200, body: answer });
    stop();
    expect(seen).toMatchObject([{ approver: 'anna', verdict: 'allow' }]);
  });

  it('leaves nothing in the bucket a while after it is over, and can be put anew', async () => {
    const own = await startNats();
    const server = await startServer(own, { goneMs: 150 });
    const { expiresAt: _, ...request } = requestOf();
    const posed = { from: 'acme/one', request, timeoutMs: 20_000, waitMs: 1 };
    expect(await server.board.ask(posed)).toEqual({ kind: 'open' });
    await shownOn(server, requestOf({ id: request.id }));
    // Says that it is alive, too.
    expect(await server.board.ask(posed)).toEqual({ kind: 'open' });
    const { streams } = await jetstreamManager(server.nc);
    const left = async () => {
      const options = { subjects_filter: '$KV.hookstack_approvals.>' };
      const { state } = await streams.info('KV_hookstack_approvals', options);
      return Object.keys(state.subjects ?? {}).filter((subject) => !/\.clock\./u.test(subject));
    };
    expect(await left()).toHaveLength(2);
    await server.board.takeBack('acme/one', request.id);
    expect(await server.board.ask(posed)).toMatchObject({ approval: { decision: 'deny' } });
    await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 5000 });
    expect(await server.board.ask(posed)).toEqual({ kind: 'open' });
    await server.kill();
    await own.dispose();
  });
});

describe('a question whose server is lost', () => {
  it('is put again, to another, and gets the answer; also when NATS was started anew', async () => {
    const lonely = await startNats();
    const [doomed, asker] = await Promise.all([startServer(lonely), connectAs(lonely, 'one')]);
    const approve = remoteApprover(postOver(asker, 'one'), { waitMs: 1000, graceMs: 100 });
    const request = requestOf();
    const asked = Promise.resolve(approve(request, { signal: new AbortController().signal }));
    const { key, revision } = await shownOn(doomed, request);
    const heir = await startServer(lonely);
    await doomed.kill();
    await lonely.restart();
    await vi.waitFor(() => Promise.all([heir.nc.flush(), asker.flush()]));
    await shownOn(heir, request);
    const approval = { decision: 'allow', by: 'anna' } as const;
    const counted = await vi.waitFor(() => heir.board.answer(key, revision, approval), {
      timeout: 8000,
    });
    expect(counted).toEqual({ state: 'given' });
    expect(await asked).toEqual(approval);
    await asker.close();
    await heir.kill();
    await lonely.dispose();
  });
});

describe('an agent', () => {
  it('can neither write nor read the bucket, nor ask in the name of another', async () => {
    const refused: string[] = [];
    void (async () => {
      for await (const status of agent.status()) {
        if (status.type === 'error') refused.push(String(status.error));
      }
    })();
    agent.publish(`$KV.hookstack_approvals.${'0'.repeat(64)}`, '{"state":"answered"}');
    agent.publish('$JS.API.STREAM.MSG.GET.KV_hookstack_approvals', '{}');
    agent.publish('hooks.approve.acme.two', JSON.stringify(requestOf()));
    agent.subscribe('$KV.hookstack_approvals.>', { callback: () => undefined });
    agent.subscribe('hooks.approve.acme.one', { callback: () => undefined });
    await vi.waitFor(() => {
      for (const part of [
        '$KV.hookstack_approvals.0',
        'MSG.GET',
        'acme.two',
        'Subscription to "$KV',
        'Subscription to "hooks.approve.acme.one',
      ]) {
        expect(refused.join('\n')).toContain(part);
      }
    });
    expect(first.board.list()).toEqual([]);
  });
});

function withAbort() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
