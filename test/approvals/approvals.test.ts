import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Approvals } from '../../src/approvals/approvals.js';
import type { Approval, ApprovalRequest, Approver } from '../../src/protocol/approval.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { blocking, chain, hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const ASK = { decision: 'ask', reason: 'it is production' };

/** Lets a tool run with hooks and an approver. */
async function call(
  hooks: readonly CommandHookConfig[],
  options: ConfigOptions & { readonly signal?: AbortSignal; readonly inTurn?: boolean } = {},
) {
  const { signal, inTurn = false, ...rest } = options;
  const logger = new RecordingLogger();
  const BeforeTool = [inTurn ? chain(...hooks) : { hooks: [...hooks] }];
  const config = new Config({
    enableHooks: true,
    hooks: { BeforeTool },
    debugLogger: logger,
    ...rest,
  });
  const inputs: unknown[] = [];
  const execute = async (input: object) => {
    inputs.push(input);
    return { llmContent: 'done', returnDisplay: 'done' };
  };
  const run = async () => {
    const { llmContent } = await executeToolWithHooks(config, 'deploy', { to: 'eu' }, execute, {
      signal,
    });
    return llmContent;
  };
  return { text: await run(), inputs, config, logger, run };
}

/** One that notes what it is asked. */
function approverOf(...answers: Approval[]) {
  const asked: ApprovalRequest[] = [];
  const approver: Approver = async (request) => {
    const answer = answers[asked.length] ?? answers.at(-1);
    asked.push(request);
    return answer ?? { decision: 'deny' };
  };
  return { approver, asked };
}

function asking(reason: string): CommandHookConfig {
  return saying({ decision: 'ask', reason }, { name: 'production' });
}

const done = async () => ({ llmContent: 'done', returnDisplay: 'done' });

/** Would have a no count as a yes, if it could. */
function flip(_: ApprovalRequest, answer?: { decision: string }): void {
  if (answer) answer.decision = 'allow';
}

describe('a hook that asks', () => {
  it('is put to a person, with all that will run', async () => {
    const { approver, asked } = approverOf({ decision: 'allow' });
    const changing = saying(
      { ...ASK, hookSpecificOutput: { tool_input: { force: true } } },
      { name: 'production' },
    );
    const { text, inputs, config } = await call([changing], { approver, workingDir: '/' });
    expect(text).toBe('done');
    expect(inputs).toEqual([{ to: 'eu', force: true }]);
    expect(asked).toEqual([
      {
        id: expect.stringMatching(/^[\da-f-]{36}$/u) as string,
        event: 'BeforeTool',
        hooks: [{ name: 'production', source: expect.any(String) as string, reason: ASK.reason }],
        reason: ASK.reason,
        toolName: 'deploy',
        input: { to: 'eu', force: true },
        originalInput: { to: 'eu' },
        sessionId: config.getSessionId(),
        workingDir: '/',
        expiresAt: expect.any(Number) as number,
      },
    ]);
  });

  it('is said to come from where it was configured, whatever it is called', async () => {
    const { approver, asked } = approverOf({ decision: 'allow' });
    const of = (scope: 'project' | 'user') => ({
      origin: { scope, file: `/${scope}/.llxprt/settings.json` },
      hooks: [asking(scope)],
    });
    const config = new Config({
      enableHooks: true,
      trustedFolder: true,
      hooks: { BeforeTool: [of('project'), of('user'), { hooks: [asking('host')] }] },
      extensions: [
        { name: 'user', isActive: true, hooks: { BeforeTool: [{ hooks: [asking('theirs')] }] } },
      ],
      approver,
    });
    await executeToolWithHooks(config, 'deploy', {}, done);
    const said = asked[0]?.hooks.map(({ reason, source }) => [reason, source]);
    expect(Object.fromEntries(said ?? [])).toEqual({
      project: 'project',
      user: 'user',
      host: 'host',
      theirs: 'extension user',
    });
  });

  it('does not let the tool run where the person says no, and the model reads why', async () => {
    const { approver } = approverOf({ decision: 'deny', reason: 'not on a Friday' });
    const { text, inputs } = await call([saying(ASK)], { approver });
    expect(text).toBe('A person was asked, and said no: not on a Friday');
    expect(inputs).toEqual([]);
  });

  it('is one question with others that ask, with the reasons of all', async () => {
    const { approver, asked } = approverOf({ decision: 'allow' });
    await call([saying(ASK), saying({ decision: 'ask', reason: 'it is late' })], { approver });
    expect(asked.map(({ reason }) => reason)).toEqual(['it is production\nit is late']);
  });

  it('has each reason on one line, so that it cannot pass for two hooks', async () => {
    const { approver, asked } = approverOf({ decision: 'allow' });
    await call([asking('first\nsecond'), asking('third')], { approver });
    expect(asked.map(({ reason }) => reason)).toEqual(['first second\nthird']);
  });

  it('has a model that reads of no reason where the person gives none', async () => {
    const { approver } = approverOf({ decision: 'deny', reason: '' });
    const { text } = await call([saying(ASK)], { approver });
    expect(text).toBe('A person was asked, and said no');
  });

  it('is decided by nobody who only looks on', async () => {
    const config = new Config({
      enableHooks: true,
      hooks: { BeforeTool: [{ hooks: [saying(ASK)] }] },
      approver: () => ({ decision: 'deny' }),
      debugLogger: new RecordingLogger(),
    });
    const ran: unknown[] = [];
    const execute = async (input: object) => {
      ran.push(input);
      return { llmContent: 'done', returnDisplay: 'done' };
    };
    await executeToolWithHooks(config, 'deploy', {}, execute, { onApproval: flip });
    expect(ran).toEqual([]);
  });

  it('shows a copy, and what runs is what the model gave', async () => {
    const { approver, asked } = approverOf({ decision: 'allow' });
    expect((await call([saying(ASK)], { approver })).inputs).toEqual([{ to: 'eu' }]);
    const [request] = asked;
    expect(() => Object.assign(request?.input ?? {}, { to: 'us' })).toThrow(TypeError);
    expect(() => Object.assign(request?.hooks[0] ?? {}, { name: 'us' })).toThrow(TypeError);
  });

  it('is allowed once by what says yes and then no', async () => {
    let asked = 0;
    const approver = () => ({
      get decision() {
        return ++asked === 1 ? 'deny' : 'allow';
      },
    });
    expect((await call([saying(ASK)], { approver })).inputs).toEqual([]);
  });

  it('is not put to anybody where another hook denies or stops', async () => {
    const { approver, asked } = approverOf({ decision: 'allow' });
    const denied = await call([saying(ASK), blocking('never')], { approver });
    const stopped = await call([saying({ continue: false, stopReason: 'over' }), saying(ASK)], {
      approver,
    });
    expect([denied.text, stopped.text]).toEqual(['never', 'over']);
    expect([asked, denied.inputs, stopped.inputs]).toEqual([[], [], []]);
  });

  it('is asked once for a session where the person says so, for the same input only', async () => {
    const { approver, asked } = approverOf({ decision: 'allow', remember: 'session' });
    const { config, run } = await call([saying(ASK)], { approver });
    await run();
    expect(asked).toHaveLength(1);
    const other = await executeToolWithHooks(config, 'deploy', { to: 'us' }, done);
    expect([other.llmContent, asked.length]).toEqual(['done', 2]);
  });

  it.each([
    ['in another directory', { cwd: '/srv/other' }],
    ['for another agent', { agent: 'other' }],
    ['in another session', { sessionId: 'other' }],
  ])('is asked again about the same call %s', async (_, change) => {
    const { approver, asked } = approverOf({ decision: 'allow', remember: 'session' });
    const { config } = await call([saying(ASK)], { approver });
    const before = asked.length;
    const session = { sessionId: 's', cwd: '/srv/one', agent: 'one' };
    for (const each of [session, { ...session, ...change }, session, { ...session, ...change }]) {
      await executeToolWithHooks(config, 'rm', { path: '.' }, done, { session: each });
    }
    expect(asked.length - before).toBe(2);
    expect(asked.at(-1)).toMatchObject({
      workingDir: 'cwd' in change ? change.cwd : '/srv/one',
      agent: 'agent' in change ? change.agent : 'one',
    });
  });

  it.each([
    ['a number that JSON has no word for', { to: null }, { to: Infinity }],
    ['a date', { to: '2026-01-01T00:00:00.000Z' }, { to: new Date('2026-01-01') }],
  ])('is asked again about what JSON cannot tell apart: %s', async (_, first, second) => {
    const { approver, asked } = approverOf({ decision: 'allow', remember: 'session' });
    const { config } = await call([saying(ASK)], { approver });
    const before = asked.length;
    for (const input of [first, second, second]) {
      await executeToolWithHooks(config, 'deploy', input, done);
    }
    expect(asked.length - before).toBe(3);
  });

  it('is asked again by another hook of the same name', async () => {
    const { approver, asked } = approverOf({ decision: 'allow', remember: 'session' });
    const directory = await mkdtemp(join(tmpdir(), 'hookstack-'));
    const first = asking('harmless');
    const second = asking('danger');
    const hooks = [
      { ...first, command: `[ -e turn ] || { ${first.command}\n}` },
      { ...second, command: `[ ! -e turn ] || { ${second.command}\n}` },
    ];
    const { run } = await call(hooks, { approver, workingDir: directory });
    await run();
    expect(asked.map(({ reason }) => reason)).toEqual(['harmless']);
    await writeFile(join(directory, 'turn'), '');
    await run();
    await rm(directory, { recursive: true });
    expect(asked.map(({ reason }) => reason)).toEqual(['harmless', 'danger']);
  });

  it('answers the same question that waits, too, where the yes is for the session', async () => {
    const asked: { request: ApprovalRequest; signal: AbortSignal }[] = [];
    const all = new EventEmitter();
    const approver: Approver = async (request, { signal }) => {
      asked.push({ request, signal });
      if (asked.length === 3) all.emit('asked');
      else await once(all, 'asked');
      const first = asked.find((each) => each.request.input['to'] === 'eu');
      if (first?.request === request) return { decision: 'allow', remember: 'session' };
      return new Promise(() => {});
    };
    const config = new Config({
      enableHooks: true,
      hooks: { BeforeTool: [{ hooks: [saying(ASK)] }] },
      approver,
      approvals: { timeout: 5000 },
    });
    const answers: string[] = [];
    const ask = async (to: string) =>
      executeToolWithHooks(config, 'deploy', { to }, done, {
        onApproval: (_, answer) => void (answer && answers.push(answer.source)),
      });
    const same = [ask('eu'), ask('eu')];
    const other = ask('us');
    await Promise.all(same);
    expect(answers).toEqual(['person', 'memory']);
    const open = asked.filter(({ signal }) => !signal.aborted).map(({ request }) => request);
    expect(open.map(({ input, id }) => [input, id])).toEqual([[{ to: 'us' }, expect.any(String)]]);
    config.takeBackQuestions(open.map(({ id }) => id));
    expect((await other).llmContent).toContain('taken back');
  });
});

describe('where nobody can be asked', () => {
  it('the tool runs, with a warning', async () => {
    const { text, logger } = await call([saying(ASK, { name: 'production' })]);
    expect(text).toBe('done');
    expect(JSON.stringify(logger.records)).toContain('nobody can be asked here');
  });

  it('a guard denies, and so does everything where the settings say so', async () => {
    const guard = await call([saying(ASK, { name: 'production', onFailure: 'deny' })]);
    expect(guard.text).toBe(
      'It needs the consent of a person, which was not given: "production" wants a person to be asked, and nobody can be asked here',
    );
    const strict = await call([saying(ASK)], { approvals: { whenNobody: 'deny' } });
    const lax = await call([saying(ASK, { onFailure: 'deny' })], {
      approvals: { whenNobody: 'allow' },
    });
    expect([guard.inputs, strict.inputs, lax.inputs.length]).toEqual([[], [], 1]);
    expect(lax.logger.warnings).toEqual([]);
  });
});

describe('an approver that does not answer as it should', () => {
  const cases: readonly [string, Approver, string][] = [
    [
      'throws',
      () => {
        throw new Error('no screen');
      },
      'no screen',
    ],
    ['rejects', () => Promise.reject(new Error('no screen')), 'no screen'],
    ['says something else', () => ({ decision: 'yes' }) as never, 'cannot be read'],
    ['says nothing', () => undefined as never, 'cannot be read'],
    ['is late', () => new Promise(() => {}), 'nobody answered within 1 s'],
  ];
  it.each(cases)('means no: one that %s', async (_, approver, why) => {
    const { text, inputs } = await call([saying(ASK)], { approver, approvals: { timeout: 50 } });
    expect(text).toContain('It needs the consent of a person, which was not given');
    expect(text).toContain(why);
    expect(inputs).toEqual([]);
  });

  it('has its time also where that is longer than a timer can count', async () => {
    const { text } = await call([saying(ASK)], {
      approver: async (_, { signal }) => {
        await setTimeout(20, undefined, { signal });
        return { decision: 'allow' };
      },
      approvals: { timeout: 2 ** 31 },
    });
    expect(text).toBe('done');
  });

  it('loses its question where the call is given up', async () => {
    const controller = new AbortController();
    const signals: AbortSignal[] = [];
    const approver: Approver = (_, { signal }) => {
      signals.push(signal);
      controller.abort();
      return { decision: 'allow' };
    };
    const { inputs } = await call([saying(ASK)], { approver, signal: controller.signal });
    expect(inputs).toEqual([]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('a question that cannot be written', () => {
  const question = {
    event: HookEventName.BeforeModel,
    hooks: [{ name: 'production', source: 'user' }],
    originalInput: {},
    sessionId: 's',
    workingDir: '/',
    definitions: [asking('production')],
    isGuarded: false,
  };

  it('is put all the same, and not remembered, where only JSON has no word for it', async () => {
    const { approver, asked } = approverOf({ decision: 'allow', remember: 'session' });
    const approvals = new Approvals(approver, {}, new RecordingLogger());
    for (let time = 0; time < 2; time++) {
      const answer = await approvals.ask({ ...question, input: { big: 1n } });
      expect(answer.decision).toBe('allow');
    }
    expect(asked).toHaveLength(2);
  });

  it('is denied where it contains itself', async () => {
    const input: Record<string, unknown> = {};
    input['self'] = input;
    const { approver, asked } = approverOf({ decision: 'allow' });
    const answer = await new Approvals(approver, {}, new RecordingLogger()).ask({
      ...question,
      input,
    });
    expect(answer).toMatchObject({ decision: 'deny', source: 'failure' });
    expect(answer.reason).toContain('the question could not be put');
    expect(asked).toEqual([]);
  });
});

describe('the scheduler', () => {
  it('says that a call waits for a person, while others go on', async () => {
    const ready = new EventEmitter();
    const answer = once(ready, 'ready').then((): Approval => ({ decision: 'allow' }));
    const approver: Approver = () => answer;
    const hooks = { BeforeTool: [{ matcher: '^deploy$', hooks: [saying(ASK)] }] };
    const config = new Config({ enableHooks: true, hooks, approver });
    const told: string[] = [];
    const tools = ['deploy', 'read'].map((name) => ({
      name,
      declaration: { name },
      execute: async () => ({ llmContent: name, returnDisplay: name }),
    }));
    const scheduler = new CoreToolScheduler({
      config,
      tools,
      onStatus: ({ name, status }) => {
        told.push(`${name} ${status}`);
        if (told.includes('deploy awaiting_approval') && told.includes('read success')) {
          ready.emit('ready');
        }
      },
    });
    const completed = await scheduler.schedule([{ name: 'deploy' }, { name: 'read' }]);
    expect(completed.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(told.filter((each) => each.startsWith('deploy'))).toEqual([
      'deploy scheduled',
      'deploy executing',
      'deploy awaiting_approval',
      'deploy executing',
      'deploy success',
    ]);
  });
});

it('the scheduler never says that a call executes after a no, and shows what was asked about', async () => {
  const changing = saying({ ...ASK, hookSpecificOutput: { tool_input: { to: 'us' } } });
  const told: unknown[] = [];
  const scheduler = new CoreToolScheduler({
    config: new Config({
      enableHooks: true,
      hooks: { BeforeTool: [{ hooks: [changing] }] },
      approver: () => ({ decision: 'deny' }),
    }),
    tools: [
      {
        name: 'deploy',
        declaration: { name: 'deploy' },
        execute: done,
      },
    ],
    onStatus: ({ status, input }) => void told.push([status, input['to']]),
  });
  await scheduler.schedule([{ name: 'deploy', args: { to: 'eu' } }]);
  expect(told).toEqual([
    ['scheduled', 'eu'],
    ['executing', 'eu'],
    ['awaiting_approval', 'us'],
    ['idle', 'us'],
  ]);
});

describe('whatever hooks and approvers do', () => {
  const behaviours = {
    allow: saying({ decision: 'allow' }),
    ask: saying(ASK),
    askingGuard: saying(ASK, { onFailure: 'deny' }),
    deny: blocking('no'),
    stop: saying({ continue: false }),
    broken: hook('exit 1'),
    brokenGuard: hook('exit 1', { onFailure: 'deny' }),
  };
  type Who =
    | 'allow'
    | 'remember'
    | 'deny'
    | 'throw'
    | 'nonsense'
    | 'never'
    | 'late'
    | 'abort'
    | 'nobody';

  /** Somebody who behaves like this, how often they were asked, and whether the call was given up. */
  function personOf(who: Who) {
    const controller = new AbortController();
    const seen = { asked: 0, signal: controller.signal };
    const answers: Readonly<Record<Who, () => Approval | Promise<Approval>>> = {
      allow: () => ({ decision: 'allow' }),
      remember: async () => ({ decision: 'allow', remember: 'session' }),
      deny: async () => ({ decision: 'deny' }),
      throw: () => {
        throw new Error('no');
      },
      nonsense: () => ({ allow: true }) as never,
      never: () => new Promise(() => {}),
      late: async () => {
        await setTimeout(60);
        return { decision: 'allow' };
      },
      abort: () => {
        controller.abort();
        return { decision: 'allow' };
      },
      nobody: () => ({ decision: 'allow' }),
    };
    const approver: Approver = () => {
      seen.asked++;
      return answers[who]();
    };
    return { seen, approver: who === 'nobody' ? undefined : approver };
  }

  it('the tool runs only if nobody denied and every question was allowed', async () => {
    const names = Object.keys(behaviours) as (keyof typeof behaviours)[];
    const people: readonly Who[] = [
      ...(['allow', 'remember', 'deny', 'throw', 'nonsense', 'never', 'late', 'abort'] as const),
      'nobody',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...people),
        fc.boolean(),
        async (kinds, who, inTurn) => {
          const hooks = kinds.map((kind, index) => ({ ...behaviours[kind], name: `${index}` }));
          const { seen, approver } = personOf(who);
          const options = { approvals: { timeout: 20 }, inTurn, signal: seen.signal };
          const { inputs, run } = await call(hooks, { ...options, ...(approver && { approver }) });
          const denied = kinds.some((kind) => ['deny', 'stop', 'brokenGuard'].includes(kind));
          const asks = kinds.some((kind) => ['ask', 'askingGuard'].includes(kind));
          const isAllowed =
            who === 'nobody' ? !kinds.includes('askingGuard') : ['allow', 'remember'].includes(who);
          const mayRun = !denied && (!asks || isAllowed);
          expect(inputs).toHaveLength(mayRun ? 1 : 0);
          expect(seen.asked).toBe(asks && !denied && approver ? 1 : 0);
          if (who !== 'remember') return;
          await run();
          expect([inputs.length, seen.asked]).toEqual([mayRun ? 2 : 0, asks && !denied ? 1 : 0]);
        },
      ),
      { numRuns: 90 },
    );
  });
});
