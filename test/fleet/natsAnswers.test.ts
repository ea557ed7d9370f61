import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { PolicyAnswers } from '../../src/cli/serve/answers.js';
import { openNatsDoor } from '../../src/cli/serve/natsDoor.js';
import { KvAnswers, type SharedAnswersOptions } from '../../src/cli/serve/sharedAnswers.js';
import { Config } from '../../src/config/config.js';
import { ask, useNats } from '../helpers/fleetQuestions.js';
import { hook } from '../helpers/hooks.js';
import { FLEET_SECRETS, startNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const { nats, closing } = useNats();

async function openAnswers(options: Partial<SharedAnswersOptions> = {}) {
  const onWarn = vi.fn<(message: string) => void>();
  const answers = await KvAnswers.open({
    url: nats.url,
    secret: FLEET_SECRETS.policy,
    name: 'test',
    onWarn,
    ...options,
  });
  closing.push(() => answers.close());
  return { answers, onWarn };
}

function counted(body = '{"n":1}', until: Promise<unknown> = Promise.resolve()) {
  return vi.fn(async () => {
    await until;
    return { status: 200, body };
  });
}

describe('KvAnswers', () => {
  it('goes on sharing new answers when it is full of old ones', async () => {
    const own = await startNats();
    const { answers, onWarn } = await openAnswers({ url: own.url });
    const { answers: others } = await openAnswers({ url: own.url });
    closing.push(() => own.dispose());
    // 37 MB, of which the bucket holds 32 MiB.
    for (let each = 0; each < 150; each++) {
      await answers.once(`old-${each}`, 60_000, counted('x'.repeat(250_000)));
    }
    const first = await answers.once('new', 60_000, counted('{"decision":"deny"}'));
    const work = counted('{}');
    expect(await others.once('new', 5000, work)).toEqual(first);
    expect(work).not.toHaveBeenCalled();
    expect(onWarn).not.toHaveBeenCalled();
  });

  it('works once on a question that reaches several servers, whoever waits', async () => {
    let arrived = 0;
    const arrivals = new EventEmitter();
    const work = counted('{"decision":"deny"}', once(arrivals, 'all'));
    for (let each = 0; each < 2; each++) {
      const { answers } = await openAnswers();
      const door = await openNatsDoor({
        url: nats.url,
        secret: FLEET_SECRETS.policy,
        name: 'test',
        answers: {
          answer: ({ question, asker }) => {
            arrived += 1;
            if (arrived === 8) arrivals.emit('all');
            const name = `${(asker ?? '').replace('/', '-')}-${question.id}`;
            return answers.once(name, question.timeoutMs, work);
          },
        },
      });
      closing.push(() => door.close());
    }
    const asked = await Promise.all(Array.from({ length: 8 }, () => ask(nats, { id: 'same' })));
    asked.push(await ask(nats, { id: 'same' }));
    expect(new Set(asked.map(({ text }) => text))).toEqual(new Set(['{"decision":"deny"}']));
    expect(work).toHaveBeenCalledTimes(1);
    await ask(nats, { id: 'same', agent: 'two', secret: FLEET_SECRETS.two });
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('runs the hooks of several servers once for a question that is asked twice', async () => {
    const runs = path.join(temp.path, 'runs');
    const command = `echo >> ${runs}; cat > ${temp.path}/seen; echo '{"decision":"deny","reason":"no"}'`;
    for (let each = 0; each < 2; each++) {
      const config = new Config({
        sessionId: 'of the server',
        hooks: { BeforeTool: [{ hooks: [hook(command)] }] },
        enableHooks: true,
        workingDir: temp.path,
        hooksRunner: { warmShells: 0, spawner: false },
      });
      await config.getHookSystem()?.initialize();
      const { answers: shared } = await openAnswers();
      const answers = new PolicyAnswers({ config, maxConcurrent: 9, longestMs: 60_000, shared });
      const door = await openNatsDoor({
        url: nats.url,
        secret: FLEET_SECRETS.policy,
        name: 'test',
        answers,
      });
      closing.push(
        () => door.close(),
        () => config.dispose(),
      );
    }
    const json = JSON.stringify({
      hook_event_name: 'BeforeTool',
      session_id: 'of the agent',
      tool_name: 'write_file',
      tool_input: { file_path: 'a' },
    });
    const asked = await Promise.all(
      Array.from({ length: 6 }, () => ask(nats, { id: 'twice', json })),
    );
    expect(JSON.parse(asked[0]?.text ?? '')).toMatchObject({ decision: 'deny', reason: 'no' });
    expect(new Set(asked.map(({ text }) => text)).size).toBe(1);
    expect(await readFile(runs, 'utf8')).toBe('\n');
    expect(await temp.readJson('seen')).toMatchObject({ session_id: 'of the agent' });
  });

  it('fails for who asks again where the answer is too large to be kept, or there was none', async () => {
    const [{ answers: one }, { answers: two }] = [
      await openAnswers({ maxAnswerBytes: 1000 }),
      await openAnswers(),
    ];
    const again = counted();
    const large = 'x'.repeat(1000);
    expect((await one.once('large', 5000, counted(large))).body).toBe(large);
    expect(await two.once('large', 5000, again)).toMatchObject({
      status: 500,
      body: expect.stringContaining('too large'),
    });
    await expect(one.once('bad', 5000, () => Promise.reject(new Error('bad')))).rejects.toThrow();
    expect(await two.once('bad', 5000, again)).toMatchObject({ status: 500 });
    expect(again).not.toHaveBeenCalled();
  });

  it('fails at its deadline where the other server has ended in the middle', async () => {
    const [{ answers: one }, { answers: two }] = [await openAnswers(), await openAnswers()];
    const killed = counted('', new Promise(() => undefined));
    void one.once('lost', 5000, killed);
    await vi.waitFor(() => expect(killed).toHaveBeenCalled());
    const again = counted();
    const start = performance.now();
    expect(await two.once('lost', 300, again)).toMatchObject({ status: 504 });
    expect(performance.now() - start).toBeLessThan(1500);
    expect(again).not.toHaveBeenCalled();
  });

  it('shares again after nats-server has lost its memory', async () => {
    const own = await startNats();
    closing.push(() => own.dispose());
    const { answers, onWarn } = await openAnswers({ url: own.url });
    await answers.once('a', 5000, counted());
    await own.kill();
    await vi.waitFor(() => expect(onWarn.mock.calls.flat().join()).toMatch(/is lost/u));
    await own.restart();
    await vi.waitFor(() => expect(onWarn.mock.calls.flat().join()).toMatch(/is back/u), {
      timeout: 5000,
    });
    const { answers: other } = await openAnswers({ url: own.url });
    const work = counted();
    await answers.once('a', 5000, work);
    await other.once('a', 5000, work);
    expect(work).toHaveBeenCalledTimes(1);
    await own.kill();
    expect(await answers.once('a', 5000, work)).toMatchObject({ status: 200 });
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('does its own work without JetStream, and says so once', async () => {
    const own = await startNats('test/fixtures/fleet/withoutJetstream.conf');
    closing.push(() => own.dispose());
    const { answers, onWarn } = await openAnswers({ url: own.url, secret: undefined });
    const work = counted();
    for (let each = 0; each < 3; each++) await answers.once('a', 5000, work);
    expect(work).toHaveBeenCalledTimes(3);
    expect(onWarn.mock.calls).toEqual([
      [expect.stringMatching(/^Answers are not shared between servers: a question that is/u)],
    ]);
  });
});
