import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { keyOf } from '../../src/cli/serve/approvals/storedQuestion.js';
import { MAIN } from '../cli/helpers.js';
import { answerTo, shownTo, signIn } from './approvalHelpers.js';
import {
  AGENT,
  ANNA,
  askRaw,
  messageOf,
  MixedFleet,
  NO,
  type Protocol,
  type Recorded,
} from './skewHelpers.js';

/**
 * What programs of the version before and of this one say to each other. What those said was recorded from their own
 * program, by skewPrograms.test.ts, which also starts both where there is one.
 */
const BEFORE = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../fixtures/fleet/protocol1.json'), 'utf8'),
) as Protocol;

const fleet = new MixedFleet();
const PRODUCTION = 'production/prices';

/** The same, of another question. */
const withId = ({ body, ...others }: Recorded, id: string): Recorded => ({
  ...others,
  body: body.replace(/(?<="question":")[^"]+/u, id),
});

const markOf = ({ body }: Recorded) => {
  const { hookstack, ...said } = JSON.parse(body) as { hookstack: Record<string, unknown> };
  return { hookstack, said };
};

/** Whether all that was said before is said, in the same form, of the question that was asked. */
function expectAsBefore(now: Recorded, recorded: Recorded, question: string): void {
  const before = withId(recorded, question);
  expect({ ...now, body: '' }).toEqual({ ...before, body: '' });
  const [{ hookstack, said }, was] = [markOf(now), markOf(before)];
  expect(said).toEqual(was.said);
  const { hooks: _, ...mark } = was.hookstack;
  expect(hookstack).toMatchObject(mark);
  expect(hookstack).not.toHaveProperty('foreign');
}

/** The id of a further question. */
const SECOND = 'question-2';

const inProduction = ({ headers, body }: Recorded): Recorded => ({
  headers: { ...headers, 'Hookstack-Question': SECOND },
  body: body.replace('test/prices', PRODUCTION),
});

/** As a server of before over NATS: it answers no other subjects. */
async function answerOverNats(subject: string, answer: (text: string) => Recorded): Promise<void> {
  const { headers: newHeaders } = await import('@nats-io/transport-node');
  const policy = await fleet.client('policy');
  policy.subscribe(subject, {
    queue: 'policy',
    callback: (_, message) => {
      const { headers: about = {}, body } = messageOf(message);
      const reply = withId(answer(body), about['Hookstack-Question'] ?? '');
      const headers = newHeaders();
      for (const [name, value] of Object.entries(reply.headers ?? {})) headers.set(name, value);
      message.respond(reply.body, { headers });
    },
  });
  await policy.flush();
}

describe('an agent of before, and a server of now', () => {
  it('understand each other over HTTP', async () => {
    const url = `${await fleet.serve(MAIN)}/v1/events`;
    const ask = async ({ headers, body }: Recorded) => {
      const all = { ...headers, Authorization: `Bearer ${AGENT}` };
      const response = await fetch(url, { method: 'POST', headers: all, body });
      return { status: response.status, body: await response.text() };
    };
    const { question, no, yes } = BEFORE.http;
    const { 'hookstack-question': id = '', ...headers } = question.headers!;
    expectAsBefore(await ask(question), yes, id);
    expectAsBefore(await ask(inProduction({ ...question, headers })), no, SECOND);
  });

  it('understand each other over NATS, with the rights of before', async () => {
    await fleet.serve(MAIN);
    const agent = await fleet.client('one');
    const { question, no, yes } = BEFORE.nats;
    const { 'Hookstack-Question': id = '' } = question.headers!;
    expectAsBefore(await askRaw(agent, 'ask', question), yes, id);
    expectAsBefore(await askRaw(agent, 'ask', inProduction(question)), no, SECOND);
  });

  it('ask people, also with what a server of before has kept', async () => {
    const url = await fleet.serve(MAIN);
    const agent = await fleet.client('one');
    const { question, open, allowed, storedOpen } = BEFORE.approval;
    const { id } = JSON.parse(question.body) as { id: string };
    const asked = { ...question, body: question.body.replace('"waitMs":10000', '"waitMs":100') };
    const { Kvm } = await import('@nats-io/kv');
    const bucket = await new Kvm(await fleet.client('policy')).create('hookstack_approvals');
    await bucket.put(keyOf('acme/one', id), storedOpen.body);
    expectAsBefore(await askRaw(agent, 'approve', asked), open, id);
    const anna = await signIn(url, ANNA);
    const answer = await answerTo(anna, await shownTo(anna), { decision: 'allow' });
    // A server of before may have handed it to the agent, and would not say so.
    expect(await answer.json()).toEqual({ decision: 'allow', state: 'counts' });
    expectAsBefore(await askRaw(agent, 'approve', asked), allowed, id);
    // Another one, which stands there in the form of now: the agent gets it though it never says that it asks again.
    const other = { ...asked, body: asked.body.replaceAll(id, SECOND) };
    expectAsBefore(await askRaw(agent, 'approve', other), open, SECOND);
    const next = await answerTo(anna, await shownTo(anna), { decision: 'allow' });
    expect(next.status).toBe(200);
    expectAsBefore(await askRaw(agent, 'approve', other), allowed, SECOND);
  });

  it('gets what a person said at a server of before, which is gone', async () => {
    await fleet.serve(MAIN);
    const agent = await fleet.client('one');
    const { question, allowed, storedAnswered } = BEFORE.approval;
    const { id } = JSON.parse(question.body) as { id: string };
    const { Kvm } = await import('@nats-io/kv');
    const bucket = await new Kvm(await fleet.client('policy')).create('hookstack_approvals');
    await bucket.put(keyOf('acme/one', id), storedAnswered.body);
    expectAsBefore(await askRaw(agent, 'approve', question), allowed, id);
  });

  it('share a record: what was written without a trace is read', async () => {
    await fleet.collect(MAIN);
    const agent = await fleet.client('one');
    const { body } = BEFORE.nats.span;
    agent.publish('hooks.event.acme.one', body.replace('"start":1000', `"start":${Date.now()}`));
    await agent.flush();
    expect(await fleet.collect(MAIN)).toBe('Wrote 1 span');
    const [day] = readdirSync(path.join(fleet.cli.project, 'record'));
    const { stdout } = await fleet.cli.run(['trace', `record/${day}`]);
    expect(stdout).toContain('It writes.');
  });
});

describe('a server of before, and an agent of now', () => {
  let http: Server;
  let said: Recorded;

  beforeEach(async () => {
    // Makes the stream that agents write to, for which they would wait.
    await fleet.collect(MAIN);
    http = createServer((request, response) => {
      request.resume();
      const id = String(request.headers['hookstack-question']);
      response.writeHead(said.status ?? 200).end(withId(said, id).body);
    });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    fleet.closing.push(() => {
      http.closeAllConnections();
      http.close();
    });
  });

  it('understand each other over HTTP: a no, a yes, and a refusal', async () => {
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    said = BEFORE.http.no;
    expect(await fleet.run(MAIN, { url })).toMatchObject({ isWritten: false });
    expect(await fleet.cli.read('trace.jsonl')).toContain(NO.reason);
    said = BEFORE.http.yes;
    expect(await fleet.run(MAIN, { url })).toMatchObject({ isWritten: true });
    said = { status: 500, body: '{"error":"it has failed"}' };
    expect(await fleet.run(MAIN, { url })).toMatchObject({
      isWritten: false,
      stderr: expect.stringContaining('it has failed') as string,
    });
  });

  it('understand each other over NATS, with the rights of before', async () => {
    said = BEFORE.nats.no;
    await answerOverNats('hooks.ask.*.*', () => said);
    expect(await fleet.run(MAIN)).toMatchObject({ isWritten: false });
    expect(await fleet.cli.read('trace.jsonl')).toContain(NO.reason);
    said = BEFORE.nats.yes;
    expect(await fleet.run(MAIN)).toMatchObject({ isWritten: true });
  });

  it('ask people: who asks gets the answer, though he says that he asks again', async () => {
    const { open, allowed } = BEFORE.approval;
    await answerOverNats('hooks.ask.*.*', () => BEFORE.nats.yes);
    const bodies: string[] = [];
    await answerOverNats('hooks.approve.*.*', (body) => {
      bodies.push(body);
      return bodies.length === 1 ? open : allowed;
    });
    expect(await fleet.run(MAIN, { asksPeople: true })).toMatchObject({ isWritten: true });
    expect(bodies).toHaveLength(2);
    // All that a server of before read is there.
    const names = Object.keys(JSON.parse(BEFORE.approval.question.body) as object);
    expect(Object.keys(JSON.parse(bodies[0]!) as object)).toEqual(expect.arrayContaining(names));
  });
});
