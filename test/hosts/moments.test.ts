import { Agent, run } from '@openai/agents';
import {
  AgentTool,
  createEvent,
  InMemoryRunner,
  LlmAgent,
  type BaseContextCompactor,
  type InvocationContext,
} from '@google/adk';
import * as ai from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import {
  AIMessage,
  createAgent,
  fakeModel,
  HumanMessage,
  summarizationMiddleware,
  type BaseMessage,
} from 'langchain';
import { Config, type ConfigOptions } from 'hookstack';
import { HooksPlugin } from 'hookstack/adk';
import { aiHooks } from 'hookstack/ai';
import { claudeHooks } from 'hookstack/claude';
import { hooksMiddleware } from 'hookstack/langchain';
import { withHooks } from 'hookstack/openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { MockLlm } from './adkHarness.js';
import { toGenerated } from './aiHarness.js';
import { mockModel } from './openaiHarness.js';
import { answering } from './scriptedHooks.js';

type Hooks = NonNullable<ConfigOptions['hooks']>;
type Event = keyof Hooks;

const GUARD = { type: 'command' as const, command: 'exit 1', onFailure: 'deny' as const };

/** A `Config` with one hook for each of these events, and how often each ran. */
function setUp(hooks: Partial<Record<Event, ReturnType<typeof answering> | typeof GUARD>>) {
  const entries = Object.entries(hooks).map(([event, hook]) => [event, [{ hooks: [hook] }]]);
  const config = new Config({
    enableHooks: true,
    hooks: Object.fromEntries(entries) as Hooks,
    debugLogger: new RecordingLogger(),
  });
  const ran: string[] = [];
  const onHooks = (event: string) => void ran.push(event);
  return { config, ran, onHooks };
}

interface Said {
  readonly text?: string;
  readonly call?: { readonly name: string; readonly args: object };
}

/** Says these one after the other, and in the end `Done.` */
function script(...answers: Said[]) {
  let count = 0;
  return () => {
    const { text = '', call } = answers.shift() ?? { text: 'Done.' };
    const id = `call_${(count += 1)}`;
    const calls = call ? [{ id, name: call.name, args: { ...call.args } }] : [];
    return { text, chunks: ReadableStream.from([text]), calls };
  };
}

describe('a sub-agent of the OpenAI Agents SDK', () => {
  const HELP = { call: { name: 'helper', args: { input: 'Look it up.' } } };

  async function ask(setting: ReturnType<typeof setUp>, ...inside: Said[]) {
    const { config, onHooks } = setting;
    const asked: string[] = [];
    const say = script(...inside);
    const inner = mockModel((request) => {
      asked.push(JSON.stringify(request.input));
      return say();
    });
    const agent = new Agent({ name: 'reviewer', model: inner });
    const helper = withHooks(config, agent, { onHooks }).asTool({
      toolName: 'helper',
      toolDescription: 'Helps.',
    });
    const read: string[] = [];
    const sayOuter = script(HELP);
    const model = mockModel((request) => {
      read.push(JSON.stringify(request.input));
      return sayOuter();
    });
    const outer = new Agent({ name: 'writer', model, tools: [helper] });
    const { finalOutput } = await run(withHooks(config, outer, { onHooks }), 'Go.');
    return { finalOutput, asked, read: read.at(-1) ?? '' };
  }

  it('does not begin where a guard fails', async () => {
    const { asked, read } = await ask(setUp({ SubagentStart: GUARD }), { text: 'Found it.' });
    expect(asked).toEqual([]);
    expect(read).toContain('exit 1');
  });

  it('gives no answer where a guard fails at its end, and was asked again three times', async () => {
    const setting = setUp({ SubagentStop: GUARD });
    const { asked, read } = await ask(
      setting,
      ...Array.from({ length: 9 }, () => ({ text: 'Secret.' })),
    );
    expect(asked).toHaveLength(4);
    expect(read).not.toContain('Secret.');
    expect(read).toContain('after 3 more tries');
  });

  it('reads what hooks add behind its prompt', async () => {
    const added = answering({ hookSpecificOutput: { additionalContext: 'Be brief.' } });
    const setting = setUp({ SubagentStart: added });
    const { asked } = await ask(setting, { text: 'Found it.' });
    expect(asked).toEqual([expect.stringMatching(/Look it up\..*Be brief\./)]);
  });

  it('has its name as kind, against which matchers are tested', async () => {
    const hook = answering({ decision: 'block', reason: 'Not that one.' });
    const hooks = { SubagentStart: [{ matcher: 'reviewer', hooks: [hook] }] };
    const config = new Config({ enableHooks: true, hooks });
    const { asked } = await ask({ ...setUp({}), config }, { text: 'Found it.' });
    expect(asked).toEqual([]);
  });
});

describe('the end of the tools of an answer', () => {
  const look = ai.tool({ inputSchema: z.object({}), execute: async () => 'It is there.' });

  it('is told once where the AI SDK sends a request again, and so is what hooks say', async () => {
    const added = answering({ hookSpecificOutput: { additionalContext: 'Be brief.' } });
    const { config, ran, onHooks } = setUp({ ToolBatchEnd: added });
    const hooks = aiHooks(config, { onHooks });
    const say = script({ call: { name: 'look', args: {} } });
    const prompts: string[] = [];
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => {
        prompts.push(JSON.stringify(prompt));
        if (prompts.length === 2) throw busy();
        return toGenerated(say());
      },
    });
    const { text } = await ai.generateText({
      model: ai.wrapLanguageModel({ model, middleware: hooks.middleware }),
      tools: hooks.wrapTools({ look }),
      stopWhen: ai.stepCountIs(5),
      prompt: 'Go.',
      maxRetries: 1,
    });
    expect(text).toBe('Done.');
    expect(ran).toEqual(['ToolBatchEnd']);
    expect(prompts.map((prompt) => prompt.includes('Be brief.'))).toEqual([false, true, true]);
  });

  it('ends the agent where a guard fails', async () => {
    const { config } = setUp({ ToolBatchEnd: GUARD });
    const hooks = aiHooks(config);
    const say = script({ call: { name: 'look', args: {} } });
    const model = new MockLanguageModelV4({ doGenerate: async () => toGenerated(say()) });
    const result = await ai.generateText({
      model: ai.wrapLanguageModel({ model, middleware: hooks.middleware }),
      tools: hooks.wrapTools({ look }),
      stopWhen: [ai.stepCountIs(5), hooks.isStopped],
      prompt: 'Go.',
    });
    expect(model.doGenerateCalls).toHaveLength(1);
    expect(hooks.stopReason(result)).toContain('exit 1');
  });
});

describe('a summary', () => {
  it('of LangChain is told once, also to a later run with what was stored', async () => {
    const added = answering({ hookSpecificOutput: { additionalContext: 'Be brief.' } });
    const { messages, ran, model, again } = await converse(added);
    expect(ran).toEqual(['PostCompress']);
    expect(messages[0]?.text).toContain('They spoke of fish.');
    expect(JSON.stringify(model.calls[0])).toContain('Be brief.');
    await again();
    expect(ran).toEqual(['PostCompress']);
  });

  it('of LangChain ends the agent where a guard fails', async () => {
    const { messages, model } = await converse(GUARD);
    expect(model.calls).toHaveLength(0);
    expect(messages.at(-1)?.text).toContain('exit 1');
  });

  it('of ADK is told with its text, and the model reads what hooks add', async () => {
    const added = answering({ hookSpecificOutput: { additionalContext: 'Be brief.' } });
    const { config, ran, onHooks } = setUp({ PostCompress: added });
    const requests: string[] = [];
    const say = script();
    const model = new MockLlm((request) => {
      requests.push(JSON.stringify(request.contents));
      return say();
    });
    let isDone = false;
    const compactor: BaseContextCompactor = {
      shouldCompact: () => !isDone,
      compact({ session }: InvocationContext) {
        isDone = true;
        const compactedContent = 'They spoke of fish.';
        const fields = { isCompacted: true, startTime: 0, endTime: 1, compactedContent };
        session.events.push(Object.assign(createEvent({ author: 'agent' }), fields));
      },
    };
    const agent = new LlmAgent({ name: 'agent', model, contextCompactors: [compactor] });
    await runAdk(agent, config, onHooks);
    expect(ran).toEqual(['PostCompress']);
    expect(requests[0]).toContain('Be brief.');
  });
});

async function runAdk(agent: LlmAgent, config: Config, onHooks: (event: string) => void) {
  const plugin = new HooksPlugin(config, { onHooks });
  const runner = new InMemoryRunner({ agent, appName: 'test', plugins: [plugin] });
  const { id } = await runner.sessionService.createSession({ appName: 'test', userId: 'ada' });
  const newMessage = { role: 'user', parts: [{ text: 'Go.' }] };
  const errors: string[] = [];
  for await (const { errorMessage } of runner.runAsync({
    userId: 'ada',
    sessionId: id,
    newMessage,
  })) {
    if (errorMessage) errors.push(errorMessage);
  }
  expect(errors).toEqual([]);
}

it('an agent that is a tool of ADK gives no answer where a guard fails at its end', async () => {
  const { config, ran, onHooks } = setUp({ SubagentStop: GUARD });
  const requests: string[] = [];
  const sayOuter = script({ call: { name: 'helper', args: { request: 'Look.' } } });
  const inner = new MockLlm(() => ({
    text: 'Secret.',
    chunks: ReadableStream.from([]),
    calls: [],
  }));
  const helper = new AgentTool({ agent: new LlmAgent({ name: 'helper', model: inner }) });
  const model = new MockLlm((request) => {
    requests.push(JSON.stringify(request.contents));
    return sayOuter();
  });
  await runAdk(new LlmAgent({ name: 'agent', model, tools: [helper] }), config, onHooks);
  expect(ran).toEqual(Array.from({ length: 4 }, () => 'SubagentStop'));
  expect(requests.at(-1)).toContain('after 3 more tries');
  expect(requests.at(-1)).not.toContain('Secret.');
});

describe('a sub-agent of Claude Code that was not to start', () => {
  const options = { signal: new AbortController().signal };
  const common = { session_id: 's', transcript_path: '/t', cwd: '/' };
  const bash = {
    ...common,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: 'u',
  };

  it('is denied its tools; others are not', async () => {
    const block = answering({ decision: 'block', reason: 'No helpers.' });
    const { config } = setUp({ SubagentStart: block });
    const hooks = claudeHooks(config);
    const [start] = hooks.SubagentStart[0]!.hooks;
    const [before] = hooks.PreToolUse[0]!.hooks;
    const who = { agent_id: 'a-1', agent_type: 'Explore' };
    await start!({ ...common, hook_event_name: 'SubagentStart', ...who }, undefined, options);
    const denied = await before!({ ...bash, ...who }, 'u', options);
    expect(denied.hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('No helpers.'),
    });
    expect(
      await before!({ ...bash, agent_id: 'a-2', agent_type: 'Explore' }, 'u', options),
    ).toEqual({});
    expect(await before!(bash, 'u', options)).toEqual({});
  });

  /** What a session tells, and what is answered. */
  function open(hooks: Parameters<typeof setUp>[0]) {
    const all = claudeHooks(setUp(hooks).config);
    return (hook_event_name: keyof typeof all & string, fields: object, given = options) => {
      const [hook] = all[hook_event_name]![0]!.hooks;
      return hook!({ ...bash, ...fields, hook_event_name }, undefined, given);
    };
  }
  const block = { SubagentStart: answering({ decision: 'block', reason: 'No helpers.' }) };
  const deny = { hookSpecificOutput: { permissionDecision: 'deny' } };
  const first = { agent_id: 'a-0', agent_type: 'Explore' };

  it('is denied them however many there were since, up to its end', async () => {
    const stop = { SubagentStop: answering({ decision: 'block', reason: 'Go on.' }) };
    const tell = open({ ...block, ...stop });
    await tell('SubagentStart', first);
    // Nobody waits for its hooks, so that none has to run.
    const over = { signal: AbortSignal.abort() };
    for (let at = 1; at <= 1500; at += 1) {
      await tell('SubagentStart', { ...first, agent_id: `a-${at}`, session_id: 's2' }, over);
    }
    expect(await tell('PreToolUse', first)).toMatchObject(deny);
    await tell('SubagentStop', { ...first, stop_hook_active: false });
    expect(await tell('PreToolUse', first)).toMatchObject(deny);
  });

  it.each<['SubagentStop' | 'SessionEnd', object]>([
    ['SubagentStop', first],
    ['SessionEnd', { reason: 'other' }],
  ])('is forgotten at its end, and at that of its session alone: %s', async (event, fields) => {
    const tell = open(block);
    await tell('SubagentStart', first);
    await tell(event, { ...fields, session_id: 's2' });
    expect(await tell('PreToolUse', first)).toMatchObject(deny);
    await tell(event, fields);
    expect(await tell('PreToolUse', first)).toEqual({});
  });

  it('is any of its session where nobody knows which one it is', async () => {
    const tell = open(block);
    await tell('SubagentStart', { agent_type: 'Explore' });
    await tell('SubagentStop', { ...first, stop_hook_active: false });
    await tell('UserPromptSubmit', { ...first, prompt: 'Look.' });
    expect(await tell('PreToolUse', first)).toMatchObject(deny);
    expect(await tell('PreToolUse', {})).toEqual({});
    expect(await tell('PreToolUse', { ...first, session_id: 's2' })).toEqual({});
    await tell('UserPromptSubmit', { prompt: 'Go on.' });
    expect(await tell('PreToolUse', first)).toEqual({});
  });

  it.each([
    ['no guard', {}, {}],
    ['a guard', { SubagentStart: GUARD }, deny],
  ])('may work though its start cannot be read, where there is %s', async (_name, hooks, told) => {
    const tell = open(hooks as Parameters<typeof setUp>[0]);
    await tell('SubagentStart', { ...first, agent_type: 1 });
    expect(await tell('PreToolUse', first)).toMatchObject(told);
  });
});

function busy() {
  const fields = { message: 'busy', url: '', requestBodyValues: {}, isRetryable: true };
  return new ai.APICallError({ ...fields, statusCode: 529 });
}

async function converse(hook: ReturnType<typeof answering> | typeof GUARD) {
  const { config, ran, onHooks } = setUp({ PostCompress: hook });
  const said = ['One.', 'Two.'].map((text) => new AIMessage(text));
  const model = fakeModel().respond(said[0]!).respond(said[1]!);
  const summing = fakeModel().respond(new AIMessage('They spoke of fish.'));
  const agent = createAgent({
    model,
    middleware: [
      hooksMiddleware(config, { onHooks }),
      summarizationMiddleware({
        model: summing,
        trigger: { messages: 5 },
        keep: { messages: 1 },
      }),
    ],
  });
  const asked = ['a', 'b', 'c', 'd', 'e'].map((text) => new HumanMessage(text));
  const first = await agent.invoke({ messages: asked });
  const messages: BaseMessage[] = first.messages;
  const again = async () => {
    await agent.invoke({ messages: [...messages, new HumanMessage('f')] });
  };
  return { messages, ran, model, again };
}
