import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NatsDoor } from '../../src/cli/serve/natsDoor.js';
import { parseFleetAddress } from '../../src/fleet/address.js';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { askOverNats, closeIdleLinks, type AskOptions } from '../../src/fleet/natsQuestions.js';
import { newQuestionId } from '../../src/fleet/question.js';
import { startNats, type TestNats } from '../helpers/natsServer.js';

const dir = mkdtempSync(path.join(tmpdir(), 'nats-tls-'));
const at = (name: string) => path.join(dir, name);
const agent = nkeys.createUser();
const policy = nkeys.createUser();
const seedOf = (user: typeof agent) => new TextDecoder().decode(user.getSeed());
const caFile = at('ca.pem');
const own = { caFile, certFile: at('client.pem'), keyFile: at('client.key') };
let nats: TestNats;

function openssl(...args: string[]) {
  execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' });
}

function certify(name: string, ...more: string[]) {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`];
  openssl('req', '-x509', ...key, ...files, '-days', '2', ...more);
}

beforeAll(async () => {
  certify('ca');
  const byCa = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', 'basicConstraints=CA:FALSE'];
  certify('server', ...byCa, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost');
  certify('client', ...byCa);
  const rights = 'publish: ["hooks.ask.acme.one"], subscribe: ["_INBOX.acme.one.>"]';
  writeFileSync(
    at('nats.conf'),
    `tls { cert_file: "${at('server.pem')}", key_file: "${at('server.key')}", ca_file: "${caFile}", verify: true }
     authorization { users: [
       { nkey: ${agent.getPublicKey()}, permissions: { ${rights} } }
       { nkey: ${policy.getPublicKey()} } ] }`,
  );
  nats = await startNats(at('nats.conf'));
});

afterAll(async () => {
  await closeIdleLinks();
  await nats.dispose();
  rmSync(dir, { recursive: true });
});

function ask(options: Partial<AskOptions>) {
  const address = parseFleetAddress(`tls://127.0.0.1:${nats.port}/acme/one`);
  if (address.kind !== 'nats') throw new Error('it is no address of NATS');
  return askOverNats(address, {
    secret: seedOf(agent),
    question: { id: newQuestionId(), timeoutMs: 5000 },
    text: new TextEncoder().encode('{}'),
    ...options,
  });
}

describe('questions over TLS', () => {
  it('go between those who have a certificate and a seed', async () => {
    const door = await NatsDoor.open({
      ...own,
      url: `tls://localhost:${nats.port}`,
      readSecret: async () => seedOf(policy),
      answers: { answer: async ({ asker }) => ({ status: 200, body: `"${asker}"` }) },
      name: 'test',
      onWarn: () => undefined,
    });
    expect(await ask(own)).toEqual({ status: 200, text: '"acme/one"' });
    await door.close();
  });

  it('are not asked of a server that nobody vouches for', async () => {
    await expect(ask({})).rejects.toMatchObject({
      message: expect.stringMatching(/cannot be used: .*certificate/u),
      isUnasked: true,
    });
  });

  it('are not asked of a server whose certificate is for another name', async () => {
    const byCa = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', 'basicConstraints=CA:FALSE'];
    for (const [name, subject, other] of [
      ['named', 'DNS:localhost', '127.0.0.1'],
      ['numbered', 'IP:127.0.0.1', 'localhost'],
    ] as const) {
      certify(name, ...byCa, '-addext', `subjectAltName=${subject}`);
      const files = `cert_file: "${at(`${name}.pem`)}", key_file: "${at(`${name}.key`)}"`;
      writeFileSync(at(`${name}.conf`), `tls { ${files} }`);
      const server = await startNats(at(`${name}.conf`));
      const connect = (host: string) =>
        connectNats({
          address: { server: `${host}:${server.port}`, tls: true },
          name: 'test',
          caFile,
        });
      try {
        await (await connect(subject.slice(subject.indexOf(':') + 1))).close();
        await expect(connect(other)).rejects.toThrow(/does not match certificate/u);
      } finally {
        await server.dispose();
      }
    }
  });

  it('are not asked without the certificate that the server wants, or with another seed', async () => {
    const question = { id: newQuestionId(), timeoutMs: 300 };
    await expect(ask({ caFile, question })).rejects.toMatchObject({ isUnasked: true });
    const stranger = seedOf(nkeys.createUser());
    await expect(ask({ ...own, secret: stranger })).rejects.toMatchObject({
      message: expect.stringMatching(/does not know this user/u),
      isUnasked: true,
    });
  });

  it('are not asked without TLS, where the address wants it', async () => {
    const plain = await startNats();
    try {
      const address = parseFleetAddress(`tls://127.0.0.1:${plain.port}/acme/one`);
      const question = { id: newQuestionId(), timeoutMs: 5000 };
      const text = new Uint8Array();
      await expect(
        askOverNats(address as typeof address & { kind: 'nats' }, { question, text }),
      ).rejects.toThrow(/does not support 'tls'/u);
    } finally {
      await plain.dispose();
    }
  });
});
