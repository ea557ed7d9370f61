import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { execa } from 'execa';
import { afterEach, beforeEach } from 'vitest';
import { Cli } from '../cli/helpers.js';
import { rawClient } from '../helpers/fleetQuestions.js';
import { saying } from '../helpers/hooks.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';

/** The rights at NATS that agents had before. */
const BEFORE = path.resolve(import.meta.dirname, '../fixtures/fleet/protocol1.conf');

export const NO = { decision: 'deny', reason: 'Production is frozen.' };
export const ANNA = 'token-of-anna-0123456789';

/** One call of a tool, whatever the policy says of it. */
const writes = (file: string) => ({
  method: 'generateContentStream',
  response: [
    {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { functionCall: { name: 'write_file', args: { file_path: file, content: 'x' } } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
    },
  ],
});
const ENDS = {
  method: 'generateContentStream',
  response: [
    {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'That is all.' }] }, finishReason: 'STOP' },
      ],
    },
  ],
};

/** A fleet of programs of several versions, with the rights of before at NATS. */
export class MixedFleet {
  readonly cli = new Cli();
  readonly closing: (() => unknown)[] = [];
  nats!: TestNats;

  constructor() {
    beforeEach(async () => {
      this.nats = await startNats(BEFORE);
      this.closing.push(() => this.nats.dispose());
    });
    afterEach(async () => {
      for (const close of this.closing.splice(0).toReversed()) await close();
    });
  }

  /** A server that denies to write below `production`, with a page of approvals. */
  async serve(main: string): Promise<string> {
    const guard = saying(NO, { name: 'central' });
    const only = `grep -q production || exit 0; ${guard.command}`;
    const settings = await this.cli.settings({
      BeforeTool: [{ matcher: 'write_file', hooks: [{ ...guard, command: only }] }],
    });
    const overNats = ['--nats', this.nats.url, '--token-file', await this.#secret('policy')];
    const approvers = await this.#private('approvers', `anna ${ANNA}\n`);
    const people = ['--approvers', approvers, '--tokens', await this.#private('tokens', TOKENS)];
    const listen = ['--settings', settings, '--listen', '127.0.0.1:0'];
    const server = this.#start(main, ['serve', ...listen, ...overNats, ...people]);
    this.closing.push(async () => {
      server.kill('SIGTERM');
      await server;
    });
    const ended = server.then(({ stderr }) => Promise.reject(new Error(stderr)));
    const [line] = (await Promise.race([once(server.stdout, 'data'), ended])) as [Buffer];
    return /http\S+/u.exec(line.toString())?.[0] ?? '';
  }

  /**
   * An agent that writes a file once it has asked a server; with `asksPeople`, people too.
   *
   * @param url of the server. Default: over NATS
   */
  async run(
    main: string,
    { url, file = 'test/prices', asksPeople = false }: AgentOptions = {},
  ): Promise<{ isWritten: boolean; stderr: string }> {
    const at = `${this.nats.url}/acme/one`;
    const tokenFile = await (url ? this.#private('one.http', AGENT) : this.#secret('one'));
    const guard = { type: 'remote', url: url ? `${url}/v1/events` : at, tokenFile, name: 'ask' };
    const careful = saying({ decision: 'ask', reason: 'It writes.' }, { name: 'careful' });
    const hooks = [
      { ...guard, timeout: 5000, onFailure: 'deny' },
      ...(asksPeople ? [{ ...careful, timeout: 20_000 }] : []),
    ];
    const settings = await this.cli.write(
      'agent.json',
      JSON.stringify({
        enableHooks: true,
        hooks: { BeforeTool: [{ matcher: 'write_file', hooks }] },
        fleet: {
          url: at,
          tokenFile: await this.#secret('one'),
          record: true,
          approvals: asksPeople,
        },
      }),
    );
    const says = [writes(file), ENDS].map((each) => JSON.stringify(each)).join('\n');
    const responses = await this.cli.write('agent.responses', says);
    const about = ['run', 'Write.', '--settings', settings, '--responses', responses];
    const { stderr } = await this.#start(main, [...about, '--trace', 'trace.jsonl']);
    const spans = (await this.cli.read('trace.jsonl')).trim().split('\n');
    const tool = spans
      .map((line) => JSON.parse(line) as { kind: string; verdict: string })
      .findLast(({ kind }) => kind === 'tool');
    return { isWritten: tool !== undefined && !/block|fail|stop/u.test(tool.verdict), stderr };
  }

  /** What collectors wrote. */
  async collect(main: string): Promise<string> {
    const from = ['--nats', this.nats.url, '--token-file', await this.#secret('policy')];
    const out = path.join(this.cli.project, 'record');
    return (await this.#start(main, ['collect', ...from, '--out', out, '--once'])).stdout;
  }

  /** A client with the rights of an agent or a server. */
  async client(user: 'one' | 'policy'): Promise<NatsConnection> {
    const client = await rawClient(
      this.nats,
      user,
      user === 'policy' ? undefined : `_INBOX.acme.${user}`,
    );
    this.closing.push(() => client.close());
    return client;
  }

  #start(main: string, args: readonly string[]) {
    return execa(process.execPath, [main, ...args], {
      cwd: this.cli.project,
      env: this.cli.env,
      extendEnv: false,
      reject: false,
    });
  }

  #secret(user: keyof typeof FLEET_SECRETS): Promise<string> {
    return this.#private(`${user}.token`, FLEET_SECRETS[user]);
  }

  async #private(name: string, text: string): Promise<string> {
    const file = await this.cli.write(name, text);
    await chmod(file, 0o600);
    return file;
  }
}

export const AGENT = 'token-of-the-agent-0123456789';
const TOKENS = `acme/one ${AGENT}\n`;

export interface AgentOptions {
  readonly url?: string;
  readonly file?: string;
  readonly asksPeople?: boolean;
}

/** A message as it stands in protocol1.json, over NATS or HTTP. */
export interface Recorded {
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly body: string;
}

/** Everything that one version says to another one. */
export interface Protocol {
  readonly http: { readonly question: Recorded; readonly no: Recorded; readonly yes: Recorded };
  readonly nats: {
    readonly question: Recorded;
    readonly no: Recorded;
    readonly yes: Recorded;
    readonly span: Recorded;
  };
  readonly approval: {
    readonly question: Recorded;
    readonly open: Recorded;
    readonly allowed: Recorded;
    readonly storedOpen: Recorded;
    readonly storedAnswered: Recorded;
  };
}

export function messageOf({ headers, data }: Pick<Msg, 'headers' | 'data'>): Recorded {
  const pairs = [...(headers ?? [])].map(([name, [value = '']]) => [name, value] as const);
  return {
    ...(pairs.length > 0 && { headers: Object.fromEntries(pairs) }),
    body: new TextDecoder().decode(data),
  };
}

/** Asks over NATS until a server is there: it says where it listens before it has subscribed everywhere. */
export async function askRaw(
  agent: NatsConnection,
  to: 'ask' | 'approve',
  { headers: about = {}, body }: Recorded,
): Promise<Recorded> {
  const { headers } = await import('@nats-io/transport-node');
  const sent = headers();
  for (const [name, value] of Object.entries(about)) sent.set(name, value);
  for (let tries = 0; ; tries++) {
    const options = { headers: sent, timeout: 10_000 };
    const reply = await agent
      .request(`hooks.${to}.acme.one`, body, options)
      .catch((error: unknown) => {
        if (tries === 100) throw error;
      });
    if (reply && reply.data.length > 0) return messageOf(reply);
  }
}
