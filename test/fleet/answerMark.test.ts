import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { toParts } from '../../src/protocol/llmContent.js';
import type { CommandHookConfig, HookDefinition } from '../../src/protocol/types.js';
import type { Approver } from '../../src/protocol/approval.js';
import { postTo } from '../../src/fleet/fleetApprover.js';
import { agentAt, rawClient, useNats } from '../helpers/fleetQuestions.js';
import { marked } from '../helpers/marked.js';
import { FLEET_SECRETS } from '../helpers/natsServer.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const { nats, closing } = useNats();

/** What a server that somebody has written by hand says to a question with this id. */
type Say = (id: string) => unknown;

const text = (said: unknown) => (typeof said === 'string' ? said : JSON.stringify(said));

async function overHttp(say: Say): Promise<Partial<CommandHookConfig>> {
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      response.end(text(say(String(request.headers['hookstack-question']))));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(async () => (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/policy` };
}

async function overNats(say: Say): Promise<Partial<CommandHookConfig>> {
  const server = await rawClient(nats, 'policy');
  server.subscribe('hooks.ask.*.*', {
    callback: (_error, message) => {
      message.respond(text(say(message.headers?.get('Hookstack-Question') ?? '')));
    },
  });
  await server.flush();
  closing.push(() => server.close());
  return { url: `${nats.url}/acme/one`, tokenVariable: 'HOOK_TEST_FLEET' };
}

beforeEach(() => void vi.stubEnv('HOOK_TEST_FLEET', FLEET_SECRETS.one));
afterEach(() => void vi.unstubAllEnvs());

/** Calls a tool whose hooks are these; what the model reads of it, and whether it ran. */
async function call(
  hook: Partial<CommandHookConfig>,
  {
    event = 'BeforeTool',
    dialect,
    approver,
  }: { event?: 'BeforeTool' | 'AfterTool'; dialect?: 'claude'; approver?: Approver } = {},
) {
  const debugLogger = new RecordingLogger();
  const timeout = dialect ? 5 : 5000;
  const remote = { name: 'central', timeout, ...hook, type: 'remote', command: '' } as const;
  const group: HookDefinition = { ...(dialect && { dialect }), hooks: [remote] };
  const hooks = { [event]: [group] };
  const config = new Config({
    enableHooks: true,
    hooks,
    debugLogger,
    ...(approver && { approver }),
  });
  onTestFinished(() => config.dispose());
  let ran = false;
  const { llmContent, stopReason } = await executeToolWithHooks(
    config,
    'write_file',
    {},
    async () => {
      ran = true;
      return { llmContent: 'the result', returnDisplay: 'the result' };
    },
  );
  const read = toParts(llmContent).map((part) => part.text);
  const isStopped = stopReason !== undefined;
  return { ran, isStopped, text: read.join(''), warnings: debugLogger.warnings.join('\n') };
}

const FAILED = { success: false, hooks: [{ name: 'its-guard', success: false, why: 'sesame' }] };

/** What is no answer, and what is said of it. */
const NO_ANSWERS: [string, Say, RegExp][] = [
  ['a word that is none of ours', () => ({ Decision: 'deny' }), /not marked as an answer/],
  ['a sign of health', () => ({ status: 'ok' }), /not marked as an answer/],
  ['the answer of another engine', () => ({ result: { allow: false } }), /not marked as an answer/],
  ['a failure of somebody', () => ({ success: false }), /not marked as an answer/],
  ['a yes', () => ({ decision: 'allow' }), /not marked as an answer/],
  ['an empty object', () => ({}), /not marked as an answer/],
  ['a mark that is none', () => ({ hookstack: true }), /not marked as an answer/],
  [
    'a mark without a version',
    (id) => ({ hookstack: { question: id } }),
    /not marked as an answer/,
  ],
  ['a list', () => [marked('x')], /no JSON object/],
  ['a page', () => '<html>It works</html>', /no JSON object/],
  ['nothing', () => '', /no JSON object/],
  ['half an answer', (id) => JSON.stringify(marked(id)).slice(0, -1), /no JSON object/],
  [
    'a newer protocol',
    (id) => marked(id, {}, { version: 2 }),
    /version 2 of the protocol, and version 1 is read here: update hookstack where the agent runs/,
  ],
  [
    'an older protocol',
    (id) => marked(id, {}, { version: 0 }),
    /version 0 of the protocol, and version 1 is read here: update the server/,
  ],
  ['the answer to another question', () => marked('another'), /answer to another question/],
  [
    'the answer to no question',
    () => ({ hookstack: { version: 1 } }),
    /answer to another question/,
  ],
  [
    'hooks that have failed',
    (id) => marked(id, {}, FAILED),
    /own hooks have failed \("its-guard"\)/,
  ],
  ['a failure in other words', (id) => marked(id, {}, { success: 'no' }), /own hooks have failed/],
];

describe.each([
  ['HTTP', overHttp],
  ['NATS', overNats],
])('over %s', (_, open) => {
  it('an answer is marked with the version and the question', async () => {
    const hook = await open((id) => marked(id, { decision: 'deny', reason: 'not today' }));
    expect(await call(hook)).toMatchObject({ ran: false, text: 'not today' });
  });

  it('a marked answer that says nothing is a yes, and nothing is warned of', async () => {
    const hook = await open((id) => marked(id));
    expect(await call({ ...hook, onFailure: 'deny' })).toMatchObject({ ran: true, warnings: '' });
  });

  it.each(NO_ANSWERS)('%s is a failure: a guard denies, others warn', async (_what, say, why) => {
    const hook = await open(say);
    const guarded = await call({ ...hook, onFailure: 'deny' });
    expect(guarded).toMatchObject({ ran: false, text: expect.stringMatching(why) as string });
    const plain = await call(hook);
    expect(plain).toMatchObject({ ran: true, text: 'the result' });
    expect(plain.warnings).toMatch(why);
    expect(plain.warnings).toContain('the operation goes on without it');
  });
});

describe('where hooks of the server have failed', () => {
  it('a block and a stop of the others stand, in their words', async () => {
    const deny = await overHttp((id) => marked(id, { decision: 'deny', reason: 'frozen' }, FAILED));
    expect(await call(deny)).toMatchObject({ ran: false, text: 'frozen' });
    expect(await call({ ...deny, onFailure: 'deny' })).toMatchObject({
      ran: false,
      text: 'frozen',
    });
    const stop = await overHttp((id) =>
      marked(id, { continue: false, stopReason: 'over' }, FAILED),
    );
    expect(await call({ ...stop, onFailure: 'deny' })).toMatchObject({ ran: false, text: 'over' });
  });

  it('what the others say counts for a plain hook', async () => {
    const hook = await overHttp((id) => marked(id, { systemMessage: 'mind the gap' }, FAILED));
    const { ran, text: read } = await call(hook);
    expect(ran).toBe(true);
    expect(read).toContain('mind the gap');
  });

  it('a guard withholds the result of a tool, and quotes nothing that they have said', async () => {
    const hook = await overHttp((id) => marked(id, { decision: 'deny', reason: 'x' }, FAILED));
    const { text: read } = await call({ ...hook, onFailure: 'deny' }, { event: 'AfterTool' });
    expect(read).toContain('withheld');
    expect(read).toContain('own hooks have failed');
    expect(read).not.toContain('the result');
    expect(read).not.toContain('sesame');
  });

  it('a guard withholds the result of a tool, and a stop of the others stands', async () => {
    const stop = { continue: false, stopReason: 'over' };
    const hook = await overHttp((id) => marked(id, stop, FAILED));
    const guarded = await call({ ...hook, onFailure: 'deny' }, { event: 'AfterTool' });
    expect(guarded.isStopped).toBe(true);
    expect(guarded.text).not.toContain('the result');
  });
});

const approver = () =>
  vi.fn<Approver>(() => ({ decision: 'allow', by: 'anna', remember: 'session' }));
const asking = (mark: object) =>
  overHttp((id) => marked(id, { decision: 'ask', reason: 'sure?' }, mark));

describe('where a hook of the server asks', () => {
  it('a person is told its name, cleaned and of a length, beside that of the hook here', async () => {
    const names = ['no-production', `\u001B[31m${'x'.repeat(1000)}`];
    names.push(...Array.from({ length: 100 }, () => 'more'));
    const person = approver();
    const { ran } = await call(await asking({ decidedBy: names }), { approver: person });
    expect(ran).toBe(true);
    const [hook] = person.mock.calls[0]![0].hooks;
    expect(hook?.name).toBe('central');
    expect(hook?.decidedBy).toHaveLength(64);
    expect(hook?.decidedBy?.slice(0, 2)).toEqual(['no-production', 'x'.repeat(300)]);
  });

  it('a yes for the session is one for that hook of the server', async () => {
    let decidedBy = ['harmless'];
    const said = { decision: 'ask', reason: 'sure?' };
    const where = await overHttp((id) => marked(id, said, { decidedBy }));
    const hook = { name: 'central', ...where, type: 'remote', command: '' } as const;
    const person = approver();
    const hooks = { BeforeTool: [{ hooks: [hook] }] };
    const config = new Config({ enableHooks: true, hooks, approver: person });
    onTestFinished(() => config.dispose());
    const result = { llmContent: '', returnDisplay: '' };
    const run = () => executeToolWithHooks(config, 'write_file', {}, async () => result);
    await run();
    await run();
    expect(person).toHaveBeenCalledTimes(1);
    decidedBy = ['no-production'];
    await run();
    expect(person).toHaveBeenCalledTimes(2);
  });

  it.each([[undefined], ['no-production'], [[1]]])('%j is no list of names', async (decidedBy) => {
    const person = approver();
    expect((await call(await asking({ decidedBy }), { approver: person })).ran).toBe(true);
    expect(person.mock.calls[0]![0].hooks[0]).not.toHaveProperty('decidedBy');
  });
});

describe('of a server for hooks of another agent', () => {
  const denial = {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'no',
    },
  };

  it('an answer without a mark counts for a plain hook, as that agent marks nothing', async () => {
    const hook = await overHttp(() => denial);
    expect(await call(hook, { dialect: 'claude' })).toMatchObject({ ran: false, text: 'no' });
    const silent = await overHttp(() => '');
    expect(await call(silent, { dialect: 'claude' })).toMatchObject({ ran: true, warnings: '' });
  });

  it('a guard wants the mark all the same', async () => {
    for (const said of [{ status: 'ok' }, '', denial]) {
      const hook = { ...(await overHttp(() => said)), onFailure: 'deny' } as const;
      const { ran, text: read } = await call(hook, { dialect: 'claude' });
      expect(ran).toBe(false);
      expect(read).toContain('must not be bypassed');
    }
    const hook = { ...(await overHttp((id) => marked(id))), onFailure: 'deny' } as const;
    expect((await call(hook, { dialect: 'claude' })).ran).toBe(true);
  });

  it('a mark that is there is read: of another question, or of hooks that have failed', async () => {
    const other = await overHttp(() => marked('another'));
    expect((await call(other, { dialect: 'claude' })).warnings).toContain('another question');
    const failed = await overHttp((id) => marked(id, {}, FAILED));
    expect((await call(failed, { dialect: 'claude' })).warnings).toContain('own hooks have failed');
  });
});

describe('the answer of a person', () => {
  const yes = { decision: 'allow', by: 'anna' };
  const put = { id: 'q-1', body: '{}', timeoutMs: 4000 };
  const postHttp = async (say: Say) => {
    const { url = '' } = await overHttp(say);
    return postTo({ kind: 'http', url: new URL(url) }, {})(put);
  };

  it('is marked, over HTTP', async () => {
    await expect(postHttp(() => yes)).rejects.toThrow('not marked as an answer');
    await expect(postHttp(() => marked('q-2', yes))).rejects.toThrow('answer to another question');
    expect(await postHttp((id) => marked(id, yes))).toMatchObject({ status: 200 });
  });

  it('is marked, over NATS', async () => {
    const server = await rawClient(nats, 'policy');
    closing.push(() => server.close());
    let said: object = yes;
    server.subscribe('hooks.approve.acme.one', {
      callback: (_error, message) => void message.respond(JSON.stringify(said)),
    });
    await server.flush();
    const post = postTo(agentAt(nats), { secret: FLEET_SECRETS.one });
    await expect(post(put)).rejects.toThrow('not marked as an answer');
    said = marked('q-1', yes);
    expect(await post(put)).toMatchObject({ status: 200 });
  });
});
