import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  PolicyAnswers,
  type Answered,
  type Asked,
  type PolicyAnswersOptions,
  type Refusal,
  type Reply,
} from '../../../src/cli/serve/answers.js';
import { KeptAnswers } from '../../../src/cli/serve/keptAnswers.js';
import { Policy } from '../../../src/cli/policy/policy.js';
import { Config } from '../../../src/config/config.js';
import { HookEventName, type HookDefinitions } from '../../../src/protocol/types.js';
import { channels, type Span } from '../../../src/trace/span.js';
import { hook, saying } from '../../helpers/hooks.js';
import { useTempDir } from '../../helpers/tempDir.js';

const temp = useTempDir();
const opened: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function open(hooks: HookDefinitions, options: Partial<PolicyAnswersOptions> = {}) {
  const config = new Config({
    sessionId: 'of the server',
    hooks,
    enableHooks: true,
    workingDir: temp.path,
    hooksRunner: { warmShells: 0, spawner: false },
  });
  await config.getHookSystem()?.initialize();
  const answered: Answered[] = [];
  const refused: Refusal[] = [];
  const answers = new PolicyAnswers({
    policy: { now: new Policy(config, 'version-1') },
    maxConcurrent: 64,
    onAnswered: (each) => void answered.push(each),
    onRefused: (each) => void refused.push(each),
    ...options,
  });
  opened.push(async () => {
    await answers.drain(0);
    await config.dispose();
  });
  return { answers, answered, refused, config };
}

let count = 0;

function about(fields: object, given: Partial<Asked> = {}): Asked {
  return {
    format: 'own',
    event: HookEventName.BeforeTool,
    text: JSON.stringify(fields),
    question: { id: `question-${count++}`, timeoutMs: 20_000 },
    ...given,
  };
}

const CALL = { tool_name: 'write_file', tool_input: { file_path: 'a' } };

const told = ({ body }: Reply) => JSON.parse(body) as Record<string, unknown>;
const runs = async () => (await readFile(path.join(temp.path, 'runs'), 'utf8')).length;
const seen = async () => (await temp.readJson('seen')) as Record<string, unknown>;
const of = (body: string) => () => Promise.resolve({ status: 200, body });
const ONCE = 'printf x >> runs';

function onCalls(...hooks: ReturnType<typeof hook>[]): HookDefinitions {
  return { BeforeTool: [{ matcher: 'write_file', hooks }] };
}

it('is a block for Claude Code where a guard of the policy that was asked is late, also once another counts', async () => {
  const slow = hook('sleep 20', { onFailure: 'deny' });
  const { config: guarded } = await open(onCalls(slow));
  const { config: open_ } = await open(onCalls(hook('true')));
  const current = { now: new Policy(guarded, 'guarded') };
  const { answers } = await open({}, { policy: current });
  const claude = { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: {} };
  const question = { id: 'late', timeoutMs: 500, readsMarks: true };
  const answering = answers.answer(about(claude, { format: 'claude', question }));
  current.now = new Policy(open_, 'open');
  expect(told(await answering)).toMatchObject({
    decision: 'block',
    hookstack: { policy: 'guarded' },
  });
});

describe('what is answered', () => {
  it('is what hooks decided, with a note about them', async () => {
    const output = { decision: 'block', reason: 'no', systemMessage: 'hint' };
    const { answers, answered } = await open(onCalls(saying(output, { name: 'guard' })));
    const asked = about(CALL);
    const reply = await answers.answer(asked);
    expect(reply.status).toBe(200);
    expect(told(reply)).toEqual({
      ...output,
      hookstack: {
        version: 1,
        question: asked.question.id,
        policy: 'version-1',
        success: true,
        decidedBy: ['guard'],
        hooks: [{ name: 'guard', success: true, durationMs: expect.any(Number) as number }],
      },
    });
    expect(answered).toMatchObject([{ event: 'BeforeTool', verdict: 'block' }]);
  });

  it.each([
    ['a permission', { hookSpecificOutput: { permissionDecision: 'deny' } }, 'deny'],
    ['a question', { decision: 'ask', reason: 'sure?' }, 'ask'],
    ['a permission to ask', { hookSpecificOutput: { permissionDecision: 'ask' } }, 'ask'],
  ])('keeps %s as a decision', async (_what, output, decision) => {
    const { answers } = await open(onCalls(saying(output)));
    expect(told(await answers.answer(about(CALL)))).toMatchObject({ decision });
  });

  it('names a hook that failed, and why', async () => {
    const { answers } = await open(onCalls(hook('exit 3', { name: 'broken', onFailure: 'deny' })));
    const reply = told(await answers.answer(about(CALL)));
    expect(reply).toMatchObject({
      decision: expect.stringMatching(/block|deny/) as string,
      hookstack: { success: false, hooks: [{ name: 'broken', success: false }] },
    });
  });

  it('in the format of another agent has a mark where its asker reads marks', async () => {
    const { answers } = await open(onCalls(saying({}), hook('exit 3')));
    const fields = { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: {} };
    const asked = about({ ...fields, session_id: 's' }, { format: 'claude' });
    expect(told(await answers.answer(asked))).not.toHaveProperty('hookstack');
    const question = { id: 'of an agent of ours', timeoutMs: 20_000, readsMarks: true };
    expect(told(await answers.answer({ ...asked, question }))).toMatchObject({
      hookstack: { version: 1, question: question.id, success: false },
    });
    const unread = { ...asked, question, text: '{"hook_event_name":1}' };
    const guarded = await open(onCalls(saying({}, { onFailure: 'deny' })));
    expect(told(await guarded.answers.answer(unread))).toMatchObject({
      decision: 'block',
      hookstack: { version: 1, question: question.id },
    });
  });

  it('in the format of another agent names the hooks that ask, where marks are read', async () => {
    const asking = saying({ decision: 'ask' }, { name: 'no-production' });
    const { answers } = await open(onCalls(saying({}, { name: 'silent' }), asking));
    const fields = { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: {} };
    const question = { id: 'of an agent of ours', timeoutMs: 20_000, readsMarks: true };
    const asked = { ...about({ ...fields, session_id: 's' }, { format: 'claude' }), question };
    expect(told(await answers.answer(asked))).toMatchObject({
      hookstack: { decidedBy: ['no-production'] },
    });
  });

  it('has no failed hook where one blocks by exit code 2', async () => {
    const { answers } = await open(onCalls(hook('exit 2')));
    expect(told(await answers.answer(about(CALL)))).toMatchObject({
      hookstack: { success: true, hooks: [{ success: true }] },
    });
  });

  it('is nothing where no hook matches', async () => {
    const { answers, answered } = await open(onCalls(saying({ decision: 'block' })));
    const asked = about({ ...CALL, tool_name: 'read_file' });
    const mark = { version: 1, question: asked.question.id, policy: 'version-1' };
    const hookstack = { ...mark, success: true, hooks: [] };
    expect(told(await answers.answer(asked))).toEqual({ hookstack });
    expect(answered).toMatchObject([{ verdict: 'none' }]);
  });
});

describe('what hooks of the server read', () => {
  const keep = hook('cat > seen');

  it('is the session of the asker, with his name first', async () => {
    const { answers } = await open(onCalls(keep));
    const session = {
      session_id: 's1',
      cwd: '/their/project',
      transcript_path: '/t',
      agent: 'sub',
    };
    await answers.answer(about({ ...CALL, ...session }, { asker: 'acme/one' }));
    expect(await seen()).toMatchObject({ ...session, agent: 'acme/one/sub', ...CALL });
  });

  it.each([
    ['own', 'acme/two/x'],
    ['claude', 'x'],
  ] as const)(
    'is of nobody who is known where nobody is, whatever %s says',
    async (format, agent) => {
      const { answers } = await open(onCalls(keep));
      const event = { hook_event_name: format === 'own' ? 'BeforeTool' : 'PreToolUse' };
      const tool = format === 'own' ? CALL : { tool_name: 'Write', tool_input: { file_path: 'a' } };
      const spans: Span[] = [];
      const listen = (message: unknown) => void spans.push(message as Span);
      channels.event.asyncEnd.subscribe(listen);
      await answers.answer(about({ ...event, ...tool, agent }, { format }));
      channels.event.asyncEnd.unsubscribe(listen);
      const who = format === 'own' ? `local/${agent}` : undefined;
      expect((await seen())['agent']).toBe(who);
      expect(spans.map((each) => each.agent)).toEqual([who]);
    },
  );

  it('has nothing of the server where the question does not say it', async () => {
    const { answers } = await open(onCalls(keep));
    await answers.answer(about(CALL));
    const read = await seen();
    expect(read).toMatchObject({ session_id: '', cwd: '', transcript_path: '' });
    expect(read).not.toHaveProperty('agent');
  });

  it('keeps every key of the arguments', async () => {
    const { answers } = await open(onCalls(keep));
    const text = '{"tool_name":"write_file","tool_input":{"__proto__":{"a":1},"constructor":2}}';
    await answers.answer({ ...about({}), text });
    expect(await readFile(path.join(temp.path, 'seen'), 'utf8')).toContain(
      '"tool_input":{"__proto__":{"a":1},"constructor":2}',
    );
  });

  it('is a request of the model as it was sent', async () => {
    const { answers } = await open({ BeforeModel: [{ hooks: [keep] }] });
    const request = {
      model: 'gemini',
      messages: [{ role: 'user', content: 'Hello' }],
      config: { temperature: 0.5 },
      toolConfig: { mode: 'ANY', allowedFunctionNames: ['read_file'] },
      tools: [{ name: 'read_file', description: 'Reads' }],
      systemInstruction: 'Be brief.',
    };
    const given = { event: HookEventName.BeforeModel };
    expect(await answers.answer(about({ llm_request: request }, given))).toMatchObject({
      status: 200,
    });
    expect(await seen()).toMatchObject({ llm_request: request });
  });
});

describe('a question that cannot be read', () => {
  it.each([
    ['no JSON', 400, '{"tool_name"'],
    ['no object', 400, '[1]'],
    ['a field missing', 422, '{"tool_name":"write_file"}'],
    ['a field of another type', 422, '{"tool_name":1,"tool_input":{}}'],
    ['another event', 422, JSON.stringify({ ...CALL, hook_event_name: 'AfterTool' })],
    [
      'deep arguments',
      422,
      `{"tool_name":"write_file","tool_input":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`,
    ],
    [
      'a million levels',
      422,
      `{"tool_name":"w","tool_input":${'['.repeat(1e6)}${']'.repeat(1e6)}}`,
    ],
  ])('as it has %s gets %i', async (_what, status, text) => {
    const { answers, refused } = await open(onCalls(saying({ decision: 'block' })));
    const reply = await answers.answer({ ...about({}), text });
    expect(reply).toMatchObject({ status });
    expect(told(reply)).toEqual({ error: expect.any(String) as string });
    expect(refused).toEqual(['unreadable']);
  });

  it.each([{ llm_request: 'text' }, { llm_request: { messages: [7] } }, { llm_request: [] }])(
    'as it is no request of a model (%j) gets 422',
    async (fields) => {
      const { answers } = await open({ BeforeModel: [{ hooks: [saying({})] }] });
      const reply = await answers.answer(about(fields, { event: HookEventName.BeforeModel }));
      expect(reply.status).toBe(422);
    },
  );

  it('is a block for Claude Code where a guard is there, and an error where none is', async () => {
    const guard = onCalls(saying({ decision: 'allow' }, { onFailure: 'deny' }));
    const asked = { ...about({}), format: 'claude' as const, text: '{"hook_event_name":1}' };
    const { answers } = await open(guard);
    expect(told(await answers.answer(asked))).toMatchObject({ decision: 'block' });
    const others = await open(onCalls(saying({ decision: 'allow' })));
    expect(await others.answers.answer(asked)).toMatchObject({ status: 422 });
  });
});

describe('the same question again', () => {
  it('gets the same answer, and hooks run once', async () => {
    const { answers } = await open(onCalls(saying({ decision: 'block' }, { before: ONCE })));
    const asked = about(CALL);
    const replies = await Promise.all([answers.answer(asked), answers.answer(asked)]);
    replies.push(await answers.answer(asked));
    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
    expect(await runs()).toBe(1);
  });

  it.each([
    ['by another agent', { asker: 'acme/two' }],
    ['about another call', { text: JSON.stringify({ ...CALL, tool_input: {} }) }],
  ])('is another one %s', async (_what, change) => {
    const { answers } = await open(onCalls(saying({}, { before: ONCE })));
    const asked = { ...about(CALL), asker: 'acme/one' };
    await answers.answer(asked);
    await answers.answer({ ...asked, ...change });
    expect(await runs()).toBe(2);
  });

  it('is asked again after its deadline', async () => {
    const { answers } = await open(onCalls(saying({}, { before: ONCE })));
    const asked = about(CALL, { question: { id: 'again', timeoutMs: 400 } });
    await answers.answer(asked);
    await expect
      .poll(async () => [await answers.answer(asked), await runs()].at(-1), { timeout: 5000 })
      .toBe(2);
  });

  it('is asked of the hooks of another server, which keeps its own answers', async () => {
    const hooks = onCalls(saying({}, { before: ONCE }));
    const asked = about(CALL);
    for (const each of [await open(hooks), await open(hooks)]) {
      expect(await each.answers.answer(asked)).toMatchObject({ status: 200 });
      expect(await each.answers.answer(asked)).toMatchObject({ status: 200 });
    }
    expect(await runs()).toBe(2);
  });
});

describe('a rule of a server', () => {
  const rule = { type: 'rule', command: '', name: 'no', decision: 'deny', reason: 'No.' } as const;
  const hooks = { BeforeTool: [{ hooks: [{ ...rule, when: 'Write(a)' }] }] };

  it('gives the same answer to the same question, also once the policy is another one', async () => {
    const { config } = await open(hooks);
    const current = { now: new Policy(config, 'old') };
    const { answers } = await open({}, { policy: current });
    const asked = about(CALL);
    const first = await answers.answer(asked);
    expect(told(first)).toMatchObject({ decision: 'deny', reason: 'No.' });
    current.now = new Policy(config, 'new');
    expect(await answers.answer(asked)).toBe(first);
    expect(told(await answers.answer(about(CALL)))).toMatchObject({ hookstack: { policy: 'new' } });
  });

  it('takes a place, gives it back, and leaves nothing behind', async () => {
    const { answers, refused } = await open(hooks, { maxConcurrent: 2 });
    const all = Array.from({ length: 4 }, () => answers.answer(about(CALL)));
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 503, 503]);
    expect(refused).toEqual(['full', 'full']);
    expect([answers.inFlight, answers.room]).toEqual([0, 2]);
    expect(await answers.answer(about(CALL))).toMatchObject({ status: 200 });
  });
});

describe('a server that has enough to do', () => {
  const waiting = hook('printf x >> runs; until [ -e go ]; do sleep 0.02; done', {
    onFailure: 'deny',
  });

  it('refuses more, but neither what no hook is for nor what it works on', async () => {
    const { answers, refused } = await open(onCalls(waiting), { maxConcurrent: 1 });
    const asked = about(CALL);
    const first = answers.answer(asked);
    await expect.poll(() => answers.inFlight).toBe(1);
    expect(await answers.answer(about(CALL))).toMatchObject({ status: 503, retryAfterS: 1 });
    const other = about({ ...CALL, tool_name: 'read_file' });
    expect(await answers.answer(other)).toMatchObject({ status: 200 });
    const again = answers.answer(asked);
    const claude = { hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: {} };
    expect(told(await answers.answer(about(claude, { format: 'claude' })))).toMatchObject({
      decision: 'block',
    });
    await writeFile(path.join(temp.path, 'go'), '');
    expect(await first).toMatchObject({ status: 200 });
    expect(await again).toBe(await first);
    expect(refused).toEqual(['full', 'full']);
    expect(await answers.answer(about(CALL))).toMatchObject({ status: 200 });
  });

  it('leaves half of the places to others, whatever one agent asks', async () => {
    const { answers } = await open(onCalls(waiting), { maxConcurrent: 4 });
    const by = (asker: string) => answers.answer(about(CALL, { asker }));
    const working = [by('acme/one'), by('acme/one')];
    await expect.poll(() => answers.inFlight).toBe(2);
    const { status, body } = await by('acme/one');
    expect([status, body]).toEqual([503, expect.stringContaining('2 questions of acme/one')]);
    working.push(by('acme/two'));
    await expect.poll(() => answers.inFlight).toBe(3);
    await writeFile(path.join(temp.path, 'go'), '');
    for (const reply of working) expect(await reply).toMatchObject({ status: 200 });
  });

  it('has few wait for the same answer, and gives it to all once it is there', async () => {
    const { answers, refused } = await open(onCalls(waiting));
    const asked = about(CALL, { asker: 'acme/one' });
    const all = Array.from({ length: 30 }, () => answers.answer(asked));
    await expect.poll(() => refused.length).toBe(13);
    await writeFile(path.join(temp.path, 'go'), '');
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses).toEqual([...Array<number>(17).fill(200), ...Array<number>(13).fill(503)]);
    const later = Array.from({ length: 30 }, () => answers.answer(asked));
    for (const each of later) expect(await each).toBe(await all[0]);
  });

  it('counts hooks that have not ended yet, also where nobody waits for them any more', async () => {
    const deaf = hook("trap '' TERM; until [ -e go ]; do sleep 0.05; done");
    const { answers } = await open(onCalls(deaf), { maxConcurrent: 4 });
    const by = (asker: string, id: number) =>
      answers.answer(about(CALL, { asker, question: { id: `short-${id}`, timeoutMs: 100 } }));
    for (const id of [1, 2]) expect(await by('acme/one', id)).toMatchObject({ status: 504 });
    expect(answers.inFlight).toBe(2);
    expect(await by('acme/one', 3)).toMatchObject({ status: 503 });
    expect(await by('acme/two', 4)).toMatchObject({ status: 504 });
    await writeFile(path.join(temp.path, 'go'), '');
  });

  it('ends hooks at the deadline of the question', async () => {
    const { answers, refused } = await open(onCalls(waiting));
    const question = { id: 'late', timeoutMs: 300 };
    expect(await answers.answer(about(CALL, { question }))).toMatchObject({ status: 504 });
    expect(refused).toEqual(['late']);
    await expect.poll(() => answers.inFlight).toBe(0);
  });

  it('answers what is in flight before it ends, and nothing else', async () => {
    const { answers, refused } = await open(onCalls(waiting));
    const first = answers.answer(about(CALL));
    await expect.poll(runs).toBe(1);
    const drained = answers.drain(10_000);
    expect(await answers.answer(about(CALL))).toMatchObject({ status: 503, retryAfterS: 1 });
    await writeFile(path.join(temp.path, 'go'), '');
    await drained;
    expect(await first).toMatchObject({ status: 200 });
    expect(refused).toEqual(['draining']);
  });

  it('ends within its time, whatever hooks do', async () => {
    const { answers } = await open(onCalls(waiting));
    const first = answers.answer(about(CALL));
    await expect.poll(() => answers.inFlight).toBe(1);
    await answers.drain(100);
    expect(await first).toMatchObject({ status: 503 });
  });
});

describe('the trace of a question', () => {
  it.each([
    ['0123456789abcdef', '0123456789abcdef'],
    ['no span', null],
  ])('hangs under the span %j', async (span, parent) => {
    const ended: Span[] = [];
    const note = (each: unknown) => void ended.push(each as Span);
    channels.event.asyncEnd.subscribe(note);
    opened.push(() => {
      channels.event.asyncEnd.unsubscribe(note);
    });
    const { answers } = await open(onCalls(saying({})));
    await answers.answer(about(CALL, { question: { id: 'traced', timeoutMs: 5000, span } }));
    expect(ended.map((each) => each.parent)).toEqual([parent]);
  });
});

describe('answers that are kept', () => {
  it('are forgotten, the oldest first, where there are too many', async () => {
    const kept = new KeptAnswers({ maxCount: 2, maxSize: 100 });
    for (const key of ['a', 'b', 'c']) await kept.once(key, 1000, of('x'));
    await expect
      .poll(() => ['a', 'b', 'c'].filter((key) => kept.get(key) !== undefined))
      .toEqual(['b', 'c']);
    await kept.once('d', 1000, of('x'.repeat(99)));
    await expect
      .poll(() => ['b', 'c', 'd'].filter((key) => kept.get(key) !== undefined))
      .toEqual(['c', 'd']);
    kept.clear();
  });

  it('of one who asks much take no place of what others were told', async () => {
    const kept = new KeptAnswers({ maxCount: 8, maxSize: 1000 });
    await kept.once('of two', 60_000, of('x'), 'acme/two');
    const many = Array.from({ length: 50 }, (_, n) => String(n));
    for (const key of many) await kept.once(key, 60_000, of('x'), 'acme/one');
    await expect.poll(() => kept.count).toBe(5);
    expect(kept.get('of two')).toBeDefined();
    expect(many.filter((key) => kept.get(key) !== undefined)).toEqual(['0', '1', '2', '3']);
    kept.clear();
    await kept.once('later', 60_000, of('x'), 'acme/one');
    await expect.poll(() => kept.count).toBe(1);
    expect(kept.get('later')).toBeDefined();
    kept.clear();
  });

  it('go after their time, also where nobody asks for them again', async () => {
    const kept = new KeptAnswers({ maxCount: 10, maxSize: 100 });
    await kept.once('short', 20, of('x'));
    await kept.once('long', 60_000, of('y'));
    await expect.poll(() => kept.get('short')).toBeUndefined();
    await expect.poll(() => kept.count, { timeout: 5000 }).toBe(1);
    kept.clear();
    expect(kept.count).toBe(0);
  });

  it('stay while they are waited for', async () => {
    const kept = new KeptAnswers({ maxCount: 1, maxSize: 100 });
    const slow = kept.once('slow', 5000, () => delay(50, { status: 200, body: 'slow' }));
    await kept.once('fast', 5000, of('fast'));
    expect(kept.get('slow')).toBe(slow);
    expect(await slow).toMatchObject({ body: 'slow' });
    kept.clear();
  });
});

const RAN = { ...CALL, tool_response: {}, session_id: 's1' };
const HELPER = { session_id: 's1', agent_id: '1', agent_type: 'x' };
const afterTool = (asked: object, given: Partial<Asked> = {}) =>
  about(asked, { event: HookEventName.AfterTool, ...given });
const promptOf = (given: object = {}) =>
  about({ prompt: 'p', session_id: 's1', ...given }, { event: HookEventName.BeforeAgent });

describe('what async hooks say late', () => {
  it('waits where the prompt is denied', async () => {
    const late = saying({ hookSpecificOutput: { additionalContext: 'LATE' } }, { async: true });
    const no = hook('grep -q deny && { echo no >&2; exit 2; }; true');
    const { answers, config } = await open({
      AfterTool: [{ hooks: [late] }],
      BeforeAgent: [{ hooks: [no] }],
    });
    await answers.answer(afterTool(RAN));
    await config.getHookSystem()?.untilAsyncEnded();
    const denied = await answers.answer(promptOf({ prompt: 'deny' }));
    expect(told(denied)).toMatchObject({ reason: 'no' });
    expect(denied.body).not.toContain('LATE');
    expect((await answers.answer(promptOf())).body).toContain('LATE');
    expect((await answers.answer(promptOf())).body).not.toContain('LATE');
  });

  it('is nothing once its sub-agent has ended, whose hooks are ended', async () => {
    const slow = hook('cat >/dev/null; exec sleep 300', { async: true });
    const { answers, config } = await open({ AfterTool: [{ hooks: [slow] }] });
    await answers.answer(afterTool({ ...RAN, ...HELPER }));
    const done = { ...HELPER, prompt: 'p', prompt_response: 'r', stop_hook_active: false };
    await answers.answer(about(done, { event: HookEventName.SubagentStop }));
    await config.getHookSystem()?.untilAsyncEnded();
  });

  it('is of its asker alone, and so is the end of a session', async () => {
    const slow = hook('cat >/dev/null; exec sleep 300', { async: true });
    const { answers, config } = await open({ AfterTool: [{ hooks: [slow] }] });
    const system = config.getHookSystem();
    const [red, blue] = [{ asker: 'acme/red' }, { asker: 'acme/blue' }];
    for (const who of [red, blue])
      await answers.answer(afterTool({ ...RAN, ...HELPER, agent: 'x' }, who));
    const end = (who: object) =>
      answers.answer(
        about({ session_id: 's1', reason: 'exit' }, { event: HookEventName.SessionEnd, ...who }),
      );
    const isRunning = (who: object) => system?.lookForLate({ sessionId: 's1', ...who }).mayCome;
    await end(blue);
    await expect.poll(() => isRunning(blue), { timeout: 10_000 }).toBe(false);
    expect(isRunning(red)).toBe(true);
    await end(red);
    await system?.untilAsyncEnded();
  });
});
