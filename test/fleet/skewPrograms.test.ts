import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { MAIN } from '../cli/helpers.js';
import { answerTo, shownTo, signIn } from './approvalHelpers.js';
import {
  AGENT,
  ANNA,
  askRaw,
  messageOf,
  MixedFleet,
  type Protocol,
  type Recorded,
} from './skewHelpers.js';

/**
 * Programs of two versions, of which `HOOKSTACK_OTHER=DIR` names the other one: a checkout that is built. Without it, what
 * that one said stands in fixtures/fleet/protocol1.json, and skew.test.ts reads it; `-u` writes it anew.
 */
const OTHER = path.resolve(process.env['HOOKSTACK_OTHER'] || '/nowhere', 'dist/cli.cjs');
const RECORDED = path.resolve(import.meta.dirname, '../fixtures/fleet/protocol1.json');

const fleet = new MixedFleet();
const PRODUCTION = 'production/prices';

async function allowAt(origin: string): Promise<number> {
  const anna = await signIn(origin, ANNA);
  return (await answerTo(anna, await shownTo(anna), { decision: 'allow' })).status;
}

describe.runIf(existsSync(OTHER))(
  'programs of this and of another version',
  { timeout: 120_000 },
  () => {
    it.each([
      { agent: 'other', server: 'this', mains: [OTHER, MAIN] as const },
      { agent: 'this', server: 'other', mains: [MAIN, OTHER] as const },
    ])('agent $agent, server $server', async ({ mains: [agent, server] }) => {
      // Makes the stream that the agents write to.
      await fleet.collect(server);
      const at = await fleet.serve(server);
      for (const url of [at, undefined]) {
        const { isWritten, stderr } = await fleet.run(agent, { url, file: PRODUCTION });
        expect({ isWritten, stderr }).toEqual({
          isWritten: false,
          stderr: expect.not.stringMatching(/warning|error/u) as string,
        });
        expect(await fleet.run(agent, { url })).toMatchObject({ isWritten: true });
      }
      const asking = fleet.run(agent, { url: at, asksPeople: true });
      expect(await allowAt(at)).toBe(200);
      expect(await asking).toMatchObject({ isWritten: true });
      expect(await fleet.collect(server)).toMatch(/^Wrote \d{2,} spans$/u);
      const collectedByOther = await fleet.collect(agent);
      expect(collectedByOther).toBe('Wrote 0 spans');
    });

    it.each([
      { agent: 'other', main: OTHER },
      { agent: 'this', main: MAIN },
    ])('agent $agent, servers of both, at whose pages the same is asked', async ({ main }) => {
      const [other, own] = [await fleet.serve(OTHER), await fleet.serve(MAIN)];
      for (const at of [other, own]) {
        const asking = fleet.run(main, { asksPeople: true });
        expect(await allowAt(at)).toBe(200);
        expect(await asking).toMatchObject({ isWritten: true });
      }
      expect(await fleet.run(main, { file: PRODUCTION })).toMatchObject({ isWritten: false });
    });

    it('says what is recorded', async () => {
      const stable = new Stable(path.dirname(fleet.cli.project));
      // What the server is asked is the same each time.
      const agent = stable.of(await recordAgent());
      const server = await recordServer(agent);
      const all: Protocol = {
        http: { question: agent.http, ...server.http },
        nats: { question: agent.ask, ...server.nats, span: agent.span },
        approval: { question: agent.approve, ...server.approval },
      };
      const text = `${JSON.stringify(stable.of(all), undefined, 2)}\n`;
      await expect(text).toMatchFileSnapshot(RECORDED);
    });
  },
);

const marked = (id: string, said: object) =>
  JSON.stringify({ ...said, hookstack: { version: 1, question: id, success: true } });

async function recordAgent() {
  const said: Record<string, Recorded> = {};
  const keep = (name: string, headers: Record<string, string>, body: string) => {
    const own = Object.entries(headers).filter(([each]) =>
      /^hookstack-|^content-type/iu.test(each),
    );
    said[name] = { headers: Object.fromEntries(own), body };
  };
  const http = createServer((request, response) => {
    void textOf(request).then((body) => {
      keep('http', request.headers as Record<string, string>, body);
      return response.end(marked(String(request.headers['hookstack-question']), {}));
    });
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  fleet.closing.push(() => http.close());
  await fleet.collect(OTHER);
  const policy = await fleet.client('policy');
  policy.subscribe('hooks.*.*.*', {
    callback: (_, message) => {
      const [, kind = ''] = message.subject.split('.');
      const { headers = {}, body } = messageOf(message);
      const id = headers['Hookstack-Question'] ?? '';
      if (kind !== 'event') {
        keep(kind, headers, body);
        message.respond(marked(id, kind === 'ask' ? {} : { decision: 'allow', by: 'anna' }));
      } else if (/"kind":"event","name":"BeforeTool"/u.test(body)) said['span'] = { body };
    },
  });
  await policy.flush();
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  expect(await fleet.run(OTHER, { url })).toMatchObject({ isWritten: true });
  expect(await fleet.run(OTHER, { asksPeople: true })).toMatchObject({ isWritten: true });
  await policy.close();
  expect(Object.keys(said).toSorted()).toEqual(['approve', 'ask', 'http', 'span']);
  return said as Record<'approve' | 'ask' | 'http' | 'span', Recorded>;
}

async function recordServer({ http, ask, approve }: Record<'http' | 'ask' | 'approve', Recorded>) {
  const at = await fleet.serve(OTHER);
  let ids = 0;
  const anew = ({ headers, body }: Recorded, file = 'test/prices') => ({
    headers: { ...headers, 'Hookstack-Question': `question-${(ids += 1)}` },
    body: body.replace('test/prices', file),
  });
  const overHttp = async (question: Recorded) => {
    const { 'hookstack-question': _, ...headers } = question.headers!;
    const all = { ...headers, Authorization: `Bearer ${AGENT}` };
    const response = await fetch(`${at}/v1/events`, {
      method: 'POST',
      headers: all,
      body: question.body,
    });
    return { status: response.status, body: await response.text() };
  };
  const agent = await fleet.client('one');
  const asked = { ...approve, body: approve.body.replace(/"waitMs":\d+/u, '"waitMs":1000') };
  const open = await askRaw(agent, 'approve', asked);
  const { Kvm } = await import('@nats-io/kv');
  const bucket = await new Kvm(await fleet.client('policy')).open('hookstack_approvals');
  const stored = async () => {
    for await (const key of await bucket.keys()) {
      const entry = /^[0-9a-f]{64}$/u.test(key) ? await bucket.get(key) : undefined;
      if (entry?.value.length) return { body: entry.string() };
    }
    throw new Error('nothing is stored');
  };
  const storedOpen = await stored();
  expect(await allowAt(at)).toBe(200);
  return {
    http: { no: await overHttp(anew(http, PRODUCTION)), yes: await overHttp(anew(http)) },
    nats: {
      no: await askRaw(agent, 'ask', anew(ask, PRODUCTION)),
      yes: await askRaw(agent, 'ask', anew(ask)),
    },
    approval: {
      open,
      allowed: await askRaw(agent, 'approve', asked),
      storedOpen,
      storedAnswered: await stored(),
    },
  };
}

/** What is another one each time, such as ids and times, is made the same. */
class Stable {
  readonly #ids = new Map<string, string>();

  constructor(private readonly folder: string) {}

  of<T>(value: T): T {
    const text = JSON.stringify(value, (_, each: unknown) =>
      typeof each === 'string' ? this.#text(each) : each,
    );
    return JSON.parse(text) as T;
  }

  #text(text: string): string {
    return text
      .replaceAll(this.folder, '/theirs')
      .replaceAll(/("(?:start|durationMs|ownMs)":)[\d.]+/gu, '$11000')
      .replaceAll(/("expiresInMs":)[\d.]+/gu, '$120000')
      .replace(/^\d{4,5}$/u, '5000')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, '2026-11-01T00:00:00.000Z')
      .replaceAll(
        /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(?:[0-9a-f]{16}|[0-9a-f]{32})\b/gu,
        (id) => this.#idOf(id),
      );
  }

  #idOf(id: string): string {
    // It was made stable before.
    const known = id.startsWith('00000000') ? id : this.#ids.get(id);
    if (known !== undefined) return known;
    const next = String(this.#ids.size + 1);
    const own = id.replaceAll(/[^-]/gu, '0').slice(0, -next.length) + next;
    this.#ids.set(id, own);
    return own;
  }
}
