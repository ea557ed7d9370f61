import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { GeminiChat } from '../../src/core/geminiChat.js';
import { runAgent } from '../../src/agent/agent.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import { toSpanRecord, type SpanRecord } from '../../src/trace/record.js';
import { channels, SPAN_KINDS, type Span, type SpanKind } from '../../src/trace/span.js';
import { traceToFile } from '../../src/trace/traceFile.js';
import { atOnce } from '../core/helpers/hookScripts.js';
import { callTools, failure, reply, type RecordedAnswer } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const { SessionStart, BeforeModel, AfterModel, BeforeTool, AfterTool } = HookEventName;
const sandbox = useSandbox();

/** What is undone after each test. */
let undo: (() => void)[] = [];

afterEach(() => {
  for (const each of undo) each();
  undo = [];
});

/** Collects the spans of some kinds as a host would. */
function listen(...kinds: readonly SpanKind[]): Span[] {
  const ended: Span[] = [];
  const note = (message: unknown) => ended.push(message as Span);
  for (const kind of kinds) {
    channels[kind].asyncEnd.subscribe(note);
    undo.push(() => channels[kind].asyncEnd.unsubscribe(note));
  }
  return ended;
}

async function runToEnd(config: Config, ...answers: RecordedAnswer[]) {
  const { models } = await sandbox.startModel(...answers);
  const options = { config, models, model: 'gemini-2.5-flash', tools: referenceTools };
  return runAgent({ ...options, prompt: 'Write a note.' });
}

const write = (file: string, content = 'text') => ({
  id: file,
  name: 'write_file',
  args: { file_path: file, content },
});

/** `kind name` of a span and of all that contain it, from the inside out. */
function pathOf(span: Span, spans: readonly Span[]): string {
  const parent = spans.find(({ id }) => id === span.parent);
  const isNamed = span.kind !== 'session' && span.kind !== 'hook';
  const title = isNamed ? `${span.kind} ${span.name}` : span.kind;
  return parent ? `${title} < ${pathOf(parent, spans)}` : title;
}

function find(spans: readonly Span[], kind: SpanKind, name?: string): Span {
  const found = spans.find((span) => span.kind === kind && span.name === (name ?? span.name));
  if (!found) throw new Error(`There is no ${kind} "${name ?? ''}"`);
  return found;
}

function endOf({ start, durationMs = Infinity }: Span): number {
  return start + durationMs;
}

/** Runs an agent that calls one tool with one hook. */
function runWithOneHook() {
  const hooks = { [BeforeTool]: atOnce(sandbox.runs('true')) };
  return runToEnd(sandbox.createConfig(hooks), callTools(write('a.txt')), reply('Done.'));
}

/** What is in a trace file after some work. */
async function trace(work: () => Promise<unknown>, environment = {}): Promise<SpanRecord[]> {
  const file = path.join(sandbox.workingDir, 'trace.jsonl');
  const writer = traceToFile(file, { environment });
  await work();
  writer.close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as SpanRecord);
}

const allowedForSession = async () =>
  ({ decision: 'allow', by: 'ada', remember: 'session' }) as const;

describe('the spans of an agent', () => {
  it('say within what each of them was', async () => {
    const spans = listen(...SPAN_KINDS);
    const quiet = () => atOnce(sandbox.runs('true'));
    const config = sandbox.createConfig({
      [SessionStart]: quiet(),
      [BeforeModel]: quiet(),
      [AfterModel]: quiet(),
      [BeforeTool]: quiet(),
    });
    config.use('tool', async (_call, next) => next(), { name: 'look' });
    config.use('model', async (_call, next) => next(), { name: 'inner', before: 'openStream' });

    await runToEnd(config, callTools(write('a.txt'), write('b.txt')), reply('Done.'));

    const paths = spans.map((span) => pathOf(span, spans)).toSorted();
    const ofTool = 'middleware look < tool write_file < turn 1 < session';
    expect(paths).toEqual(
      [
        'session',
        'event SessionStart < session',
        'hook < event SessionStart < session',
        ...['turn 1 < session', 'turn 2 < session'].flatMap((turn) => [
          turn,
          `model gemini-2.5-flash < ${turn}`,
          `middleware inner < model gemini-2.5-flash < ${turn}`,
          `event BeforeModel < model gemini-2.5-flash < ${turn}`,
          `hook < event BeforeModel < model gemini-2.5-flash < ${turn}`,
          `event AfterModel < model gemini-2.5-flash < ${turn}`,
          `hook < event AfterModel < model gemini-2.5-flash < ${turn}`,
        ]),
        ...['a.txt', 'b.txt'].flatMap(() => [
          'tool write_file < turn 1 < session',
          ofTool,
          `event BeforeTool < ${ofTool}`,
          `hook < event BeforeTool < ${ofTool}`,
        ]),
      ].toSorted(),
    );
    expect(new Set(spans.map(({ id }) => id)).size).toBe(spans.length);
  });

  it('last as long as what is within them', async () => {
    const spans = listen(...SPAN_KINDS);
    await runToEnd(
      sandbox.createConfig({ [AfterModel]: atOnce(sandbox.runs('true')) }),
      reply('.'),
    );

    for (const span of spans) {
      const parent = spans.find(({ id }) => id === span.parent);
      if (!parent) continue;
      expect(span.start).toBeGreaterThanOrEqual(parent.start);
      expect(endOf(span)).toBeLessThanOrEqual(endOf(parent) + 0.01);
    }
  });

  it.each<{ what: string; event: HookEventName; hook: () => HookDefinitions; hookSays: object }>([
    {
      what: 'a block',
      event: BeforeTool,
      hook: () => ({ [BeforeTool]: atOnce(sandbox.runs('echo no >&2; exit 2')) }),
      hookSays: { verdict: 'block', reason: 'no', exitCode: 2 },
    },
    {
      what: 'a change',
      event: BeforeTool,
      hook: () => ({
        [BeforeTool]: atOnce(
          sandbox.says({ hookSpecificOutput: { tool_input: { file_path: 'b.txt' } } }),
        ),
      }),
      hookSays: { verdict: 'change', exitCode: 0 },
    },
    {
      what: 'a stop',
      event: AfterTool,
      hook: () => ({
        [AfterTool]: atOnce(sandbox.says({ continue: false, stopReason: 'enough' })),
      }),
      hookSays: { verdict: 'stop', reason: 'enough' },
    },
    {
      what: 'a question, where nobody can be asked and the tool runs',
      event: BeforeTool,
      hook: () => ({ [BeforeTool]: atOnce(sandbox.says({ decision: 'ask', reason: 'sure?' })) }),
      hookSays: { verdict: 'ask', reason: 'sure?' },
    },
    {
      what: 'a failure, after which the tool runs',
      event: BeforeTool,
      hook: () => ({ [BeforeTool]: atOnce(sandbox.runs('exit 3')) }),
      hookSays: { verdict: 'fail', exitCode: 3 },
    },
    {
      what: 'nothing, with an answer that changes nothing',
      event: BeforeTool,
      hook: () => ({
        [BeforeTool]: atOnce(
          sandbox.says({ hookSpecificOutput: { tool_input: { file_path: 'a.txt' } } }),
        ),
      }),
      hookSays: { verdict: 'allow' },
    },
  ])('tell $what of a hook, its event and its tool call', async ({ event, hook, hookSays }) => {
    const spans = listen(...SPAN_KINDS);
    await runToEnd(
      sandbox.createConfig(hook(), { debugLogger: new RecordingLogger() }),
      callTools(write('a.txt')),
      reply('Done.'),
    );

    expect(find(spans, 'hook')).toMatchObject({ event, ...hookSays });
    const { verdict } = find(spans, 'hook');
    expect(find(spans, 'event', event).verdict).toBe(verdict);
    // The tool goes on where a hook fails, and where nobody is there to say no.
    const goesOn = verdict === 'fail' || verdict === 'ask';
    expect(find(spans, 'tool', 'write_file').verdict).toBe(goesOn ? 'allow' : verdict);
  });

  it.each<{ what: string; hook: object; decidedBy: string[] }>([
    {
      what: 'whose list lacks the tool',
      hook: { allowedFunctionNames: ['read_file'] },
      decidedBy: ['reading', 'listing'],
    },
    { what: 'that allow no tool at all', hook: { mode: 'NONE' }, decidedBy: ['reading'] },
  ])('tell which hooks forbade a call: those $what', async ({ hook, decidedBy }) => {
    const spans = listen(...SPAN_KINDS);
    const restricting = (name: string, toolConfig: object) => ({
      ...sandbox.says({ hookSpecificOutput: { toolConfig } }).config,
      name,
    });
    const list = { allowedFunctionNames: ['glob'] };
    const hooks = [restricting('reading', hook), restricting('listing', list)];
    const config = sandbox.createConfig({ BeforeToolSelection: [{ hooks }] });
    await runToEnd(config, callTools(write('a.txt')), reply('Done.'));

    const span = find(spans, 'tool', 'write_file');
    expect(span).toMatchObject({ verdict: 'block', decidedBy, input: write('a.txt').args });
    expect(span.reason).toContain('the tools of this request are restricted');
    expect(pathOf(span, spans)).toBe('tool write_file < turn 1 < session');
  });

  it('tell of a call of a tool that does not exist', async () => {
    const spans = listen(...SPAN_KINDS);
    const call = { id: '1', name: 'fly', args: { to: 'Mars' } };
    await runToEnd(sandbox.createConfig({}), callTools(call), reply('Done.'));
    expect(find(spans, 'tool', 'fly')).toMatchObject({ verdict: 'fail', input: { to: 'Mars' } });
  });

  it('show the input of an event in the names that hooks read', async () => {
    const spans = listen('event');
    const names = [BeforeModel, AfterModel, BeforeTool, AfterTool];
    const hooks = names.map((name) => [name, atOnce(sandbox.runs('true'))] as const);
    const config = sandbox.createConfig(Object.fromEntries(hooks));
    await runToEnd(config, callTools(write('a.txt')), reply('Done.'));
    const tool_input = write('a.txt').args;
    const request = { messages: [{ role: 'user', content: 'Write a note.' }] };
    expect(find(spans, 'event', BeforeTool).input).toMatchObject({
      tool_name: 'write_file',
      tool_input,
    });
    expect(find(spans, 'event', AfterTool).input).toMatchObject({ tool_response: {} });
    expect(find(spans, 'event', BeforeModel).input).toMatchObject({ llm_request: request });
    expect(find(spans, 'event', AfterModel).input).toMatchObject({ llm_response: {} });
  });

  it('tell what a middleware decided itself, and not what the rest of the stack did', async () => {
    const spans = listen('middleware');
    const config = sandbox.createConfig({});
    config.use('tool', async (_call, next) => next(), { name: 'outer' });
    config.use('tool', async (call) => call.block('never'), { name: 'guard' });
    await runToEnd(config, callTools(write('a.txt')), reply('Done.'));

    expect(find(spans, 'middleware', 'outer')).toMatchObject({ verdict: 'allow', changes: [] });
    expect(find(spans, 'middleware', 'guard')).toMatchObject({ verdict: 'block', reason: 'never' });
  });

  it('tell of a middleware that failed, and of the time that was its own', async () => {
    const spans = listen('middleware');
    const config = sandbox.createConfig({}, { debugLogger: new RecordingLogger() });
    config.use(
      'tool',
      async (_call, next) => {
        await next();
        throw new Error('broken');
      },
      { name: 'broken' },
    );
    await runToEnd(config, callTools(write('a.txt')), reply('Done.'));

    const span = find(spans, 'middleware', 'broken');
    expect(span).toMatchObject({ verdict: 'fail', error: new Error('broken') });
  });

  it('end with the error where the model fails', async () => {
    const spans = listen('session', 'turn', 'model');
    await expect(
      runToEnd(sandbox.createConfig({}), failure(400, 'no such model')),
    ).rejects.toThrow();

    expect(spans.map(({ kind, verdict }) => `${kind} ${verdict}`)).toEqual([
      'model fail',
      'turn fail',
      'session fail',
    ]);
  });

  it('of a model call end when its reader leaves early', async () => {
    const spans = listen('model');
    const { models } = await sandbox.startModel(reply('one', 'two', 'three'));
    const chat = new GeminiChat({ config: sandbox.createConfig({}), models, model: 'flash' });
    for await (const event of chat.sendMessageStream('Hello')) {
      if (event.type === 'chunk') break;
    }

    expect(spans).toMatchObject([{ kind: 'model', name: 'flash', sizes: { chunks: 1 } }]);
  });

  it('tell who was asked what, and for how long, and count that for no hook', async () => {
    const spans = listen(...SPAN_KINDS);
    const minutes = 400;
    const asked: boolean[] = [];
    const approver = async () => {
      await delay(minutes);
      asked.push(true);
      return asked.length === 1
        ? ({ decision: 'allow', by: 'ada' } as const)
        : ({ decision: 'deny', by: 'ada', reason: 'Not on a Friday.' } as const);
    };
    const hook = { ...sandbox.says({ decision: 'ask', reason: 'Sure?' }).config, name: 'careful' };
    const hooks = { [BeforeTool]: [{ hooks: [hook] }] };
    const config = sandbox.createConfig(hooks, { approver });
    await runToEnd(config, callTools(write('a.txt')), callTools(write('b.txt')), reply('Done.'));

    const questions = spans.filter(({ kind }) => kind === 'question');
    const input = { tool_name: 'write_file', tool_input: write('a.txt').args };
    expect(questions).toMatchObject([
      { name: 'careful', event: BeforeTool, verdict: 'allow', input },
      { name: 'careful', event: BeforeTool, verdict: 'block', reason: 'Not on a Friday.' },
    ]);
    expect(questions[0]?.output).toEqual({ source: 'person', by: 'ada', remember: undefined });
    for (const question of questions) {
      // Timers may be early by a moment.
      expect(question.durationMs).toBeGreaterThan(minutes - 5);
      expect(pathOf(question, spans)).toMatch(/^question careful < tool write_file < turn/);
      const of = spans.filter(({ kind, start }) => kind === 'hook' && start < question.start);
      for (const each of of) expect(endOf(each)).toBeLessThanOrEqual(question.start);
    }
  });

  it('say for whom they are, and who has answered for a call, also where that was remembered', async () => {
    const spans = listen(...SPAN_KINDS);
    const hook = { ...sandbox.says({ decision: 'ask', reason: 'Sure?' }).config, name: 'careful' };
    const hooks = { [BeforeTool]: [{ hooks: [hook] }], [AfterTool]: atOnce(sandbox.runs('true')) };
    const config = sandbox.createConfig(hooks, { approver: allowedForSession });
    config.use('tool', async (_call, next) => next(), { name: 'look' });
    const again = callTools({ ...write('a.txt'), id: 'again' });
    await runToEnd(config, callTools(write('a.txt')), again, reply('Done.'));

    const session = config.getSessionId();
    expect(new Set(spans.map((span) => span.session))).toEqual(new Set([session]));
    const ofCalls = spans.filter(({ tool }) => tool !== undefined);
    expect(new Set(ofCalls.map(({ kind }) => kind))).toEqual(
      new Set(['tool', 'event', 'hook', 'middleware', 'question']),
    );
    expect(new Set(ofCalls.map(({ tool, call }) => `${tool} ${call}`))).toEqual(
      new Set(['write_file a.txt', 'write_file again']),
    );
    const approved = spans.filter((span) => span.approver === 'ada');
    expect(approved.map(({ kind, call }) => `${kind} ${call}`).toSorted()).toEqual([
      'middleware a.txt',
      'middleware again',
      'question a.txt',
      'tool a.txt',
      'tool again',
    ]);
    expect(toSpanRecord(find(approved, 'tool'))).toMatchObject({ session, approver: 'ada' });
  });

  it('of a call that names no session, and for which no hook runs, are of that of its host', async () => {
    const spans = listen('tool');
    const config = sandbox.createConfig({});
    await executeToolWithHooks(config, 'add', {}, async () => ({
      llmContent: '3',
      returnDisplay: '3',
    }));
    const session = { sessionId: 'other', agent: 'two' };
    await executeToolWithHooks(
      config,
      'add',
      {},
      async () => ({ llmContent: '3', returnDisplay: '3' }),
      { session },
    );
    expect(spans).toMatchObject([
      { session: config.getSessionId() },
      { session: 'other', agent: 'two' },
    ]);
  });

  it('have the nearest span as parent that anybody listens to', async () => {
    const spans = listen('session', 'hook');
    await runWithOneHook();

    expect(spans.map((span) => pathOf(span, spans))).toEqual(['hook < session', 'session']);
  });

  it('lead to the spans of a host that binds its own store to a channel', async () => {
    const store = new AsyncLocalStorage<string>();
    channels.tool.start.bindStore(store, () => 'the host');
    undo.push(() => channels.tool.start.unbindStore(store));
    let seen: string | undefined;
    const config = sandbox.createConfig({});
    config.use('tool', async (_call, next) => {
      seen = store.getStore();
      await next();
    });
    await runToEnd(config, callTools(write('a.txt')), reply('Done.'));

    expect(seen).toBe('the host');
    expect(store.getStore()).toBeUndefined();
  });
});

describe('a session to which nobody listens', () => {
  it('publishes nothing, and stores no context', async () => {
    const ran = vi.spyOn(AsyncLocalStorage.prototype, 'run');
    undo.push(() => ran.mockRestore());
    await runWithOneHook();
    expect(ran).not.toHaveBeenCalled();

    listen('hook');
    await runWithOneHook();
    expect(ran).toHaveBeenCalledTimes(1);
  });
});

describe('a trace file', () => {
  it('has what a hook read, what it printed, and what that changed', async () => {
    const answer = { hookSpecificOutput: { tool_input: { file_path: 'drafts/a.txt' } } };
    const config = sandbox.createConfig({ [BeforeTool]: atOnce(sandbox.says(answer)) });
    const records = await trace(() => runToEnd(config, callTools(write('a.txt')), reply('Done.')));

    const hook = records.find(({ kind }) => kind === 'hook');
    const change = '@@ tool_input.file_path\n- a.txt\n+ drafts/a.txt';
    expect(hook).toMatchObject({ change, output: JSON.stringify(answer), exitCode: 0 });
    expect(JSON.parse(hook?.input ?? '')).toMatchObject({ tool_input: { file_path: 'a.txt' } });
    expect(records.find(({ kind }) => kind === 'tool')?.change).toBe(
      '@@ input.file_path\n- a.txt\n+ drafts/a.txt',
    );
  });

  it.each([
    { what: 'of the usual names', name: 'MY_API_KEY', environment: {} },
    { what: 'that the host names', name: 'MY_NAME', environment: { redact: ['MY_*'] } },
  ])('has no secret $what, wherever it was', async ({ name, environment }) => {
    vi.stubEnv(name, 'a "quoted" secret');
    undo.push(() => vi.unstubAllEnvs());
    const says = sandbox.runs(`printf '%s' "$input" >&2; printf 'secret: %s' "$${name}"; exit 2`);
    const config = sandbox.createConfig({ [BeforeTool]: atOnce(says) });
    const secret = process.env[name];
    const records = await trace(
      () => runToEnd(config, callTools(write('a.txt', `key ${secret}`)), reply(`${secret}!`)),
      environment,
    );

    const text = JSON.stringify(records);
    expect(text.replaceAll('\\', '')).not.toContain('a "quoted"');
    expect(text).toContain(`key [${name}]`);
    expect(text).toContain(`[${name}]!`);
  });
});
