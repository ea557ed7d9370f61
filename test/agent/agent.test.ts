import type { FunctionCall } from '@google/genai';
import { describe, expect, it, vi } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { AgentError, runAgent, type AgentOptions } from '../../src/agent/agent.js';
import { referenceSubagents } from '../../src/agent/subagents.js';
import type { AgentEvent } from '../../src/agent/agentEvents.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import { blocking } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { textsOf } from '../core/helpers/chats.js';
import { atOnce, inSequence } from '../core/helpers/hookScripts.js';
import {
  callTools,
  chunk,
  failure,
  reply,
  stream,
  type RecordedAnswer,
} from '../core/helpers/modelAnswers.js';
import { useSandbox, type TestModel } from '../core/helpers/sandbox.js';

const { SessionStart, BeforeAgent, AfterAgent, SessionEnd } = HookEventName;
const sandbox = useSandbox();

interface AgentSetup extends Partial<Omit<AgentOptions, 'config' | 'models' | 'onEvent'>> {
  readonly hooks?: HookDefinitions;
  readonly config?: ConfigOptions;
}

/** An agent at work. `ended` must be awaited. */
function startAgent(
  { models, sent }: TestModel,
  { hooks = {}, config, ...options }: AgentSetup = {},
) {
  const told: AgentEvent[] = [];
  const ended = runAgent({
    config: sandbox.createConfig(hooks, config),
    models,
    model: 'gemini-2.5-flash',
    prompt: 'Write a note.',
    tools: referenceTools,
    ...options,
    onEvent: (event) => told.push(event),
  });
  return { ended, told, sent };
}

/** Runs an agent to its end. */
async function runToEnd(answers: readonly RecordedAnswer[], setup?: AgentSetup) {
  const { ended, told, sent } = startAgent(await sandbox.startModel(...answers), setup);
  return { result: await ended, told, sent: sent() };
}

/** Runs an agent that fails, and gives its error. */
async function runToFailure(answers: readonly RecordedAnswer[], setup?: AgentSetup) {
  const { ended, told, sent } = startAgent(await sandbox.startModel(...answers), setup);
  return { error: await errorOf(ended), told, sent: sent() };
}

async function errorOf(ended: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await ended.catch((reason: unknown) => reason);
  if (!(error instanceof AgentError)) throw new Error('Expected an AgentError', { cause: error });
  return error;
}

function write(file: string) {
  return { id: file, name: 'write_file', args: { file_path: file, content: 'text' } };
}

function usage(promptTokenCount: number, candidatesTokenCount: number) {
  return {
    usageMetadata: {
      promptTokenCount,
      candidatesTokenCount,
      totalTokenCount: promptTokenCount + candidatesTokenCount,
    },
  };
}

function asking(functionCall: FunctionCall) {
  return stream({ ...chunk([{ functionCall }]), ...usage(10, 1) });
}

/** Short names of what was told, one an event. */
function namesOf(told: readonly AgentEvent[]): string[] {
  return told.map((event) => {
    if (event.type === 'tool') return `tool ${event.call.status}`;
    if (event.type === 'hook') return `hook ${event.event}`;
    return event.type === 'text' ? `text ${event.text}` : event.type;
  });
}

describe('the loop', () => {
  it('goes on until the model answers with text alone', async () => {
    const { result, sent } = await runToEnd(
      [
        callTools(write('a.txt'), write('b.txt')),
        callTools(write('c.txt')),
        reply('All ', 'done.'),
      ],
      { systemInstruction: 'Be brief.', config: { sessionId: 'session' } },
    );
    expect(result).toMatchObject({
      sessionId: 'session',
      response: 'All done.',
      turns: 3,
      stopped: null,
      hooks: [],
    });
    expect(result.toolCalls.map(({ callId, status }) => `${callId} ${status}`)).toEqual([
      'a.txt success',
      'b.txt success',
      'c.txt success',
    ]);
    expect(['a.txt', 'b.txt', 'c.txt'].map(sandbox.read)).toEqual(['text', 'text', 'text']);
    expect(sent[0]).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'Write a note.' }] }],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
    });
    expect(sent[1]?.contents.at(-1)?.parts).toMatchObject([
      { functionResponse: { id: 'a.txt' } },
      { functionResponse: { id: 'b.txt' } },
    ]);
  });

  it('tells everything as it happens, in order', async () => {
    const hook = atOnce(sandbox.runs(':'));
    const { told } = await runToEnd([callTools(write('a.txt')), reply('All ', 'done.')], {
      hooks: Object.fromEntries(Object.values(HookEventName).map((event) => [event, hook])),
    });
    expect(namesOf(told)).toEqual([
      'session',
      'hook SessionStart',
      'hook BeforeAgent',
      'hook BeforeToolSelection',
      'hook BeforeModel',
      'hook AfterModel',
      'model',
      'tool scheduled',
      'tool executing',
      'hook BeforeTool',
      'hook AfterTool',
      'tool success',
      'hook ToolBatchEnd',
      'hook BeforeToolSelection',
      'hook BeforeModel',
      'text All ',
      'text done.',
      'hook AfterModel',
      'model',
      'hook AfterAgent',
      'hook Notification',
      'hook SessionEnd',
    ]);
  });

  it('asks BeforeTool hooks right before a tool runs, and AfterTool hooks right after it', async () => {
    const look = (event: HookEventName) =>
      atOnce(sandbox.runs(`[ -e a.txt ] && a=written || a=missing; echo "${event} $a" >>moments`));
    const { BeforeTool, AfterTool } = HookEventName;
    await runToEnd([callTools(write('a.txt')), reply('Done.')], {
      hooks: { [BeforeTool]: look(BeforeTool), [AfterTool]: look(AfterTool) },
    });
    expect(sandbox.read('moments')).toBe('BeforeTool missing\nAfterTool written\n');
  });

  it('waits for the hooks of an event before it goes on, whatever the event', async () => {
    const hooks = Object.fromEntries(
      Object.values(HookEventName).map((event) => {
        const said = event === HookEventName.ModelError ? { retry: true } : {};
        const answer = `echo '${JSON.stringify({ hookSpecificOutput: said })}'`;
        const commands = `echo "${event} begins" >>moments; sleep 0.1; echo "${event} ends" >>moments; ${answer}`;
        return [event, atOnce(sandbox.runs(commands))];
      }),
    );
    const task = { name: 'task', args: { prompt: 'Look.' } };
    const inShort = reply('All in short.');
    await runToEnd(
      [
        asking(write('a.txt')),
        asking(task),
        reply('Seen.'),
        inShort,
        failure(503, 'overloaded'),
        reply('Done.'),
      ],
      { hooks, compressAtTokens: 10, subagents: referenceSubagents },
    );
    const moments = sandbox.read('moments')?.trimEnd().split('\n') ?? [];
    const pairs = moments.filter((moment) => moment.endsWith(' begins'));
    expect(moments).toEqual(pairs.flatMap((begin) => [begin, begin.replace('begins', 'ends')]));
    expect(new Set(pairs.map((moment) => moment.split(' ')[0]))).toEqual(
      new Set(Object.values(HookEventName)),
    );
  });

  it('adds up the usage of all calls, also of those that were asked again', async () => {
    const { result } = await runToEnd([
      stream({ ...chunk([{ functionCall: write('a.txt') }]), ...usage(10, 1) }),
      stream({ ...chunk([{ text: '' }]), ...usage(20, 0) }),
      stream(
        { ...chunk([{ text: 'All ' }]), ...usage(30, 2) },
        { ...chunk([{ text: 'done.' }]), ...usage(30, 5) },
      ),
    ]);
    expect(result.usage).toEqual({
      promptTokenCount: 60,
      candidatesTokenCount: 6,
      totalTokenCount: 66,
    });
    expect(result.turns).toBe(3);
  });

  it('shows no thoughts', async () => {
    const { result, told } = await runToEnd([
      stream(chunk([{ text: 'Hm.', thought: true }]), chunk([{ text: 'Done.' }])),
    ]);
    expect(result.response).toBe('Done.');
    expect(namesOf(told).filter((name) => name.startsWith('text'))).toEqual(['text Done.']);
  });

  it('shows only what AfterModel hooks made of the answer when it is held', async () => {
    const hook = sandbox.says({ hookSpecificOutput: { llm_response: { text: 'Redacted.' } } });
    const { result, told } = await runToEnd([reply('my ', 'secret')], {
      hooks: { AfterModel: atOnce(hook) },
      config: { afterModelDisplay: 'hold' },
    });
    expect(result.response).toBe('Redacted.');
    expect(JSON.stringify(told.filter(({ type }) => type === 'text'))).not.toContain('secret');
  });

  it('records every hook that ran', async () => {
    const deny = sandbox.runs('echo no >&2; exit 2');
    const { result } = await runToEnd([callTools(write('a.txt')), reply('Done.')], {
      hooks: { BeforeTool: atOnce(deny) },
    });
    expect(result.hooks).toEqual([
      {
        event: HookEventName.BeforeTool,
        hook: deny.config.name,
        durationMs: expect.any(Number),
        success: false,
        exitCode: 2,
        signal: null,
        decision: 'deny',
        reason: 'no',
        why: null,
      },
    ]);
  });
});

/** An answer that goes on working. */
function workOn(tokens: number, id: string) {
  return stream({ ...chunk([{ functionCall: write(id) }]), ...usage(tokens, 1) });
}

describe('a history that grows too long', () => {
  const noSummary = stream(chunk([{ functionCall: { name: 'glob' } }]));

  it('is summed up before the next request', async () => {
    const { sent } = await runToEnd(
      [workOn(10, 'a'), workOn(120, 'b'), reply('All in short.'), reply('Done.')],
      { compressAtTokens: 100 },
    );
    expect(textsOf(sent[3]?.contents)[0]).toBe(
      'Summary of the conversation so far:\nAll in short.',
    );
  });

  it('is not summed up again and again where that does not help', async () => {
    const hook = sandbox.says({});
    const { sent } = await runToEnd(
      [
        workOn(10, 'a'),
        workOn(120, 'b'),
        noSummary,
        workOn(130, 'c'),
        workOn(140, 'd'),
        workOn(200, 'e'),
        reply('All in short.'),
        reply('Done.'),
      ],
      { compressAtTokens: 100, hooks: { PreCompress: atOnce(hook) } },
    );
    expect(hook.inputs()).toHaveLength(2);
    expect(textsOf(sent[7]?.contents)[0]).toContain('All in short.');
  });
});

describe('the author of a verdict', () => {
  it.each([BeforeAgent, SessionStart, HookEventName.BeforeModel, HookEventName.AfterTool])(
    'is told with a stop of %s, in the result and as it happens',
    async (event) => {
      const stop = sandbox.says({ continue: false, reason: 'Enough.' });
      const { result, told } = await runToEnd([callTools(write('a.txt'))], {
        hooks: { [event]: atOnce(sandbox.says({ reason: 'Fine.' }), stop) },
      });
      const stopped = { event, reason: 'Enough.', hooks: [stop.config.name] };
      expect(result.stopped).toEqual(stopped);
      expect(told.filter(({ type }) => type === 'stopped')).toEqual([
        { type: 'stopped', ...stopped },
      ]);
    },
  );

  it('is told with a blocked model call', async () => {
    const guard = sandbox.says({ decision: 'deny' });
    const { result } = await runToEnd([], {
      hooks: { BeforeModel: atOnce(sandbox.says({ reason: 'Fine.' }), guard) },
    });
    expect(result.modelCalls).toMatchObject([
      { blocked: true, blockReason: 'Blocked by hook', blockedBy: [guard.config.name] },
    ]);
  });

  it('has its reason in the record of the hook, also where the event cannot be blocked', async () => {
    const { result } = await runToEnd([callTools(write('a.txt')), reply('Done.')], {
      hooks: {
        BeforeTool: atOnce(
          sandbox.says({
            hookSpecificOutput: { permissionDecision: 'allow', permissionDecisionReason: 'Fine.' },
          }),
        ),
        AfterTool: atOnce(sandbox.says({ decision: 'deny', reason: 'Not formatted.' })),
        AfterAgent: atOnce(sandbox.says({ continue: false, stopReason: 'Enough.' })),
      },
    });
    expect(result.hooks.map(({ decision, reason }) => [decision, reason])).toEqual([
      ['allow', 'Fine.'],
      ['deny', 'Not formatted.'],
      [null, 'Enough.'],
    ]);
  });
});

describe('async hooks', () => {
  it('are read by the next model call, once, and stay in the history', async () => {
    const said = sandbox.says({ hookSpecificOutput: { additionalContext: 'LATE' } });
    const late = { ...said.config, async: true };
    const wait = sandbox.runs('sleep 0.5');
    const answers = [callTools(write('a.txt')), callTools(write('b.txt')), reply('Done.')];
    const { sent } = await runToEnd(answers, {
      hooks: { SessionStart: [{ hooks: [late] }], BeforeTool: atOnce(wait) },
    });
    const counts = sent.map(({ contents }) => JSON.stringify(contents).split('LATE').length - 1);
    expect(counts.slice(1)).toEqual([1, 1]);
  });

  it('send a finished agent back to work where they say asyncRewake and block', async () => {
    const tests = {
      ...sandbox.runs('sleep 0.3; [ -e fixed ] && exit 0; touch fixed; echo Red >&2; exit 2')
        .config,
      asyncRewake: true,
    };
    const { result, sent } = await runToEnd([reply('Done.'), reply('Fixed.')], {
      hooks: { AfterAgent: [{ hooks: [tests] }] },
    });
    expect(result.response).toBe('Fixed.');
    expect(result.stopped).toBeNull();
    expect(textsOf(sent[1]?.contents).at(-1)).toContain('Red');
  });

  it('end with the session, also of its end', async () => {
    const said = { ...sandbox.runs('sleep 0.3; touch ended').config, async: true };
    const slow = { ...sandbox.runs('echo $$ >pid; exec sleep 300').config, async: true };
    const startedAt = performance.now();
    await runToEnd([reply('Done.')], {
      hooks: { SessionStart: [{ hooks: [slow] }], SessionEnd: [{ hooks: [said] }] },
    });
    expect(sandbox.read('ended')).toBe('');
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(() => process.kill(Number(sandbox.read('pid')), 0)).toThrow('ESRCH');
  });
});

it('a host that can tell neither its session nor its transcript gets its answer', async () => {
  class Nameless extends Config {
    override getSessionId(): never {
      throw new Error('no session');
    }

    override getTranscriptPath(): never {
      throw new Error('no file');
    }
  }
  const end = sandbox.says({});
  const debugLogger = new RecordingLogger();
  const hooks = { BeforeTool: [{ hooks: [blocking('no')] }], SessionEnd: atOnce(end) };
  const { workingDir } = sandbox;
  const config = new Nameless({ enableHooks: true, workingDir, hooks, debugLogger });
  const { models } = await sandbox.startModel(callTools(write('a.txt')), reply('Done.'));
  const tools = referenceTools;
  const result = await runAgent({ config, models, model: 'm', prompt: 'Go', tools });
  expect(result).toMatchObject({
    sessionId: '',
    response: 'Done.',
    toolCalls: [{ status: 'idle' }],
  });
  expect(end.inputs()).toMatchObject([{ session_id: '', transcript_path: '' }]);
  expect(debugLogger.warnings).toEqual([expect.stringMatching(/transcript.*\(no file\)/)]);
});

describe('an end before the end', () => {
  it('gives up after maxTurns model calls, with what there was until then', async () => {
    const calls = ['a.txt', 'b.txt', 'c.txt'].map((file) => callTools(write(file)));
    const end = sandbox.says({});
    const { error, sent } = await runToFailure(calls, {
      maxTurns: 2,
      hooks: { SessionEnd: atOnce(end) },
    });
    expect(error.message).toContain('2 model calls');
    expect(error.result).toMatchObject({ turns: 2, stopped: null });
    expect(error.result.toolCalls.map(({ callId }) => callId)).toEqual(['a.txt', 'b.txt']);
    expect(sent).toHaveLength(2);
    expect(end.inputs()).toHaveLength(1);
  });

  it('counts calls that were asked again as turns', async () => {
    const silence = stream(chunk([{ text: '' }]));
    const { error, sent } = await runToFailure(
      [silence, silence, callTools(write('a.txt')), reply('never')],
      { maxTurns: 3 },
    );
    expect(error.result.turns).toBe(3);
    expect(sent).toHaveLength(3);
  });

  it('fails with the error of the model, and ends the session', async () => {
    const end = sandbox.says({});
    const { error } = await runToFailure([callTools(write('a.txt')), failure(503, 'overloaded')], {
      hooks: { SessionEnd: atOnce(end) },
    });
    expect(error.message).toContain('overloaded');
    expect(error.cause).toMatchObject({ status: 503 });
    expect(error.result.toolCalls).toHaveLength(1);
    expect(end.inputs()).toHaveLength(1);
  });

  it('fails when it is aborted, asks the model no more, and ends the session', async () => {
    const user = new AbortController();
    const end = sandbox.says({});
    const command = 'touch started; exec sleep 60';
    const model = await sandbox.startModel(
      callTools({ name: 'run_shell_command', args: { command } }),
      reply('never'),
    );
    const { ended, sent } = startAgent(model, {
      signal: user.signal,
      hooks: { SessionEnd: atOnce(end) },
    });
    const failed = errorOf(ended);
    await vi.waitFor(() => expect(sandbox.read('started')).toBe(''), { timeout: 5_000 });
    user.abort();
    const error = await failed;
    expect(error.cause).toBe(user.signal.reason);
    expect(error.result.toolCalls).toHaveLength(1);
    expect(sent()).toHaveLength(1);
    expect(end.inputs()).toHaveLength(1);
  });

  it.each([BeforeAgent, AfterAgent])('fails when it is aborted during %s', async (event) => {
    const user = new AbortController();
    const hook = sandbox.runs('exec sleep 60');
    const model = await sandbox.startModel(reply('Done.'));
    const { ended, sent } = startAgent(model, {
      signal: user.signal,
      hooks: { [event]: atOnce(hook) },
    });
    const failed = errorOf(ended);
    await vi.waitFor(() => expect(hook.inputs()).toHaveLength(1));
    user.abort();
    expect((await failed).cause).toBe(user.signal.reason);
    expect(sent()).toHaveLength(event === AfterAgent ? 1 : 0);
  });

  it.each(Object.values(HookEventName).slice(0, 5))(
    'a stop of %s ends the loop with its reason, and the session ends',
    async (event) => {
      const end = sandbox.says({});
      const after = sandbox.says({});
      const { result, sent, told } = await runToEnd([callTools(write('a.txt')), reply('never')], {
        hooks: {
          [event]: atOnce(sandbox.says({ continue: false, stopReason: 'Enough.' })),
          AfterAgent: atOnce(after),
          SessionEnd: atOnce(end),
        },
      });
      expect(result.stopped).toMatchObject({ event, reason: 'Enough.' });
      expect(told).toContainEqual({ type: 'stopped', ...result.stopped });
      expect(result.turns).toBe(1);
      expect(sent.length).toBeLessThanOrEqual(1);
      expect(after.inputs()).toEqual([]);
      expect(end.inputs()).toHaveLength(1);
    },
  );
});

describe('the events of the agent itself', () => {
  it('fire in order, each with its own fields', async () => {
    const hook = sandbox.says({});
    const { result } = await runToEnd([reply('Done.')], {
      hooks: Object.fromEntries(
        [SessionEnd, AfterAgent, BeforeAgent, SessionStart].map((event) => [event, atOnce(hook)]),
      ),
    });
    const common = { session_id: result.sessionId, cwd: sandbox.workingDir };
    expect(hook.inputs()).toMatchObject([
      { ...common, hook_event_name: SessionStart, source: 'startup' },
      { ...common, hook_event_name: BeforeAgent, prompt: 'Write a note.' },
      {
        ...common,
        hook_event_name: AfterAgent,
        prompt: 'Write a note.',
        prompt_response: 'Done.',
        stop_hook_active: false,
      },
      { ...common, hook_event_name: SessionEnd, reason: 'exit' },
    ]);
  });

  it('bring context and system messages to the model', async () => {
    const { sent } = await runToEnd([reply('Done.')], {
      hooks: {
        SessionStart: atOnce(
          sandbox.says({
            systemMessage: 'It is Monday.',
            hookSpecificOutput: { additionalContext: 'Context of the session.' },
          }),
        ),
        BeforeAgent: atOnce(
          sandbox.says({ hookSpecificOutput: { additionalContext: 'Context of the prompt.' } }),
        ),
      },
    });
    expect(textsOf(sent[0]?.contents)).toEqual([
      [
        'Write a note.',
        asHookContext('Context of the session.'),
        '[System] It is Monday.',
        asHookContext('Context of the prompt.'),
      ].join('|'),
    ]);
  });

  it('BeforeAgent hooks in sequence see the context of those before them', async () => {
    const last = sandbox.says({ hookSpecificOutput: { additionalContext: 'Two.' } });
    const first = sandbox.says({ hookSpecificOutput: { additionalContext: 'One.' } });
    const { sent } = await runToEnd([reply('Done.')], {
      hooks: { BeforeAgent: inSequence(first, last) },
    });
    expect(last.inputs()).toMatchObject([{ prompt: 'Write a note.\n\nOne.' }]);
    expect(textsOf(sent[0]?.contents)).toEqual([`Write a note.|${asHookContext('One.\nTwo.')}`]);
  });

  it('BeforeAgent may deny the prompt: the model never sees it', async () => {
    const end = sandbox.says({});
    const after = sandbox.says({});
    const { result, sent } = await runToEnd([reply('never')], {
      hooks: {
        BeforeAgent: atOnce(sandbox.says({ decision: 'deny', reason: 'Not that.' })),
        AfterAgent: atOnce(after),
        SessionEnd: atOnce(end),
      },
    });
    expect(sent).toEqual([]);
    expect(result).toMatchObject({
      response: '',
      turns: 0,
      stopped: { event: BeforeAgent, reason: 'Not that.' },
    });
    expect(after.inputs()).toEqual([]);
    expect(end.inputs()).toHaveLength(1);
  });

  it.each([SessionStart, BeforeAgent])('%s may stop the agent at once', async (event) => {
    const { result, sent } = await runToEnd([reply('never')], {
      hooks: { [event]: atOnce(sandbox.says({ continue: false, stopReason: 'Enough.' })) },
    });
    expect(sent).toEqual([]);
    expect(result.stopped).toMatchObject({ event, reason: 'Enough.' });
  });

  it('AfterAgent may send the agent back to work with the reason', async () => {
    const hook = sandbox.computes<HookEventName.AfterAgent>(({ prompt_response }) =>
      prompt_response === 'Draft.' ? { decision: 'block', reason: 'Write it out.' } : {},
    );
    const { result, sent } = await runToEnd([reply('Draft.'), reply('Final.')], {
      hooks: { AfterAgent: atOnce(hook) },
    });
    expect(textsOf(sent[1]?.contents)).toEqual([
      'Write a note.',
      'Draft.',
      asHookContext('Write it out.'),
    ]);
    expect(hook.inputs()).toMatchObject([
      { prompt_response: 'Draft.', stop_hook_active: false },
      { prompt_response: 'Final.', stop_hook_active: true },
    ]);
    expect(result).toMatchObject({ response: 'Final.', stopped: null });
  });

  it.each([
    { maxStopHookRetries: undefined, sendsBack: 3 },
    { maxStopHookRetries: 1, sendsBack: 1 },
    { maxStopHookRetries: 0, sendsBack: 0 },
  ])(
    'AfterAgent sends it back $sendsBack times at most (maxStopHookRetries: $maxStopHookRetries)',
    async ({ maxStopHookRetries, sendsBack }) => {
      const hook = sandbox.says({ decision: 'deny', reason: 'Again.' });
      const { result, sent, told } = await runToEnd(
        Array.from({ length: 5 }, (_, index) => reply(`Answer ${index}.`)),
        { hooks: { AfterAgent: atOnce(hook) }, maxStopHookRetries },
      );
      expect(sent).toHaveLength(1 + sendsBack);
      const stopped = {
        event: AfterAgent,
        reason: `Blocked, and maxStopHookRetries (${sendsBack}) is used up: Again.`,
        hooks: [hook.config.name],
      };
      expect(result).toEqual(
        expect.objectContaining({ response: `Answer ${sendsBack}.`, stopped }),
      );
      expect(told).toContainEqual({ type: 'stopped', ...stopped });
      const active = hook
        .inputs<HookEventName.AfterAgent>()
        .map(({ stop_hook_active }) => stop_hook_active);
      expect(active).toEqual([false, ...Array.from({ length: sendsBack }, () => true)]);
    },
  );

  it('AfterAgent reads the answer that AfterModel keeps from the user', async () => {
    const hook = sandbox.says({});
    const { result } = await runToEnd([reply('Secret.')], {
      hooks: {
        AfterModel: atOnce(sandbox.says({ suppressOutput: true })),
        AfterAgent: atOnce(hook),
      },
    });
    expect(hook.inputs()).toMatchObject([{ prompt_response: 'Secret.' }]);
    expect(result.response).toBe('');
  });

  it('AfterAgent that stops does not send the agent back', async () => {
    const hook = sandbox.says({ decision: 'block', reason: 'Again.', continue: false });
    const { result, sent } = await runToEnd([reply('Done.'), reply('never')], {
      hooks: { AfterAgent: atOnce(hook) },
    });
    expect(sent).toHaveLength(1);
    expect(result).toMatchObject({
      response: 'Done.',
      stopped: { event: AfterAgent, reason: 'Again.' },
    });
  });

  it('SessionEnd can neither block nor stop what is over', async () => {
    const hook = sandbox.says({ decision: 'block', continue: false, stopReason: 'No.' });
    const { result } = await runToEnd([reply('Done.')], { hooks: { SessionEnd: atOnce(hook) } });
    expect(result).toMatchObject({ response: 'Done.', stopped: null });
  });
});
