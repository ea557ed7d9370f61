import { Agent, run, tool as openAiTool } from '@openai/agents';
import { AgentTool, FunctionTool, InMemoryRunner, LlmAgent } from '@google/adk';
import * as ai from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { createAgent, fakeModel, AIMessage, tool as langchainTool } from 'langchain';
import { Config, type ConfigOptions } from 'hookstack';
import { HooksPlugin } from 'hookstack/adk';
import { aiHooks } from 'hookstack/ai';
import { claudeHooks } from 'hookstack/claude';
import { hooksMiddleware } from 'hookstack/langchain';
import { withHooks } from 'hookstack/openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MockLlm } from './adkHarness.js';
import { toGenerated } from './aiHarness.js';
import { mockModel } from './openaiHarness.js';

type Hooks = NonNullable<ConfigOptions['hooks']>;

function makeConfig(hooks: Hooks): Config {
  // A logger that writes all would have each call of a model looked at.
  return new Config({ enableHooks: true, hooks });
}

function command(line: string, settings: object) {
  return { type: 'command' as const, command: `cat >/dev/null; ${line}`, ...settings };
}

const SAYS_LATE: Hooks = {
  AfterTool: [{ matcher: 'look', hooks: [command('echo LATE >&2; exit 2', { async: true })] }],
};

const red = () => command('echo RED >&2; exit 2', { asyncRewake: true });

const TOOLS = ['look', 'wait', 'go'] as const;

/** What the tools do: one waits until async hooks have said what they have to say. */
function runTool(config: Config, name: string): Promise<string> {
  const waiting = name === 'wait' ? config.getHookSystem()?.untilAsyncEnded() : undefined;
  return Promise.resolve(waiting).then(() => 'ok');
}

/** Calls these tools one after the other, and says `Done.` in the end. */
function calling(...names: readonly string[]) {
  const left = [...names];
  return () => {
    const name = left.shift();
    const calls = name === undefined ? [] : [{ id: `call_${name}`, name, args: {} }];
    const text = name === undefined ? 'Done.' : '';
    return { text, chunks: ReadableStream.from([text]), calls };
  };
}

const isRead = (requests: readonly string[]) => requests.map((each) => each.includes('LATE'));

describe('what an async hook says late is read by the next model call, once', () => {
  it('in the AI SDK', async () => {
    const config = makeConfig(SAYS_LATE);
    const hooks = aiHooks(config);
    const prompts: string[] = [];
    const say = calling(...TOOLS);
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }) => {
        prompts.push(JSON.stringify(prompt));
        return toGenerated(say());
      },
    });
    const entries = TOOLS.map((name) => [
      name,
      ai.tool({ inputSchema: z.object({}), execute: () => runTool(config, name) }),
    ]);
    await ai.generateText({
      model: ai.wrapLanguageModel({ model, middleware: hooks.middleware }),
      tools: hooks.wrapTools(Object.fromEntries(entries) as ai.ToolSet),
      stopWhen: ai.stepCountIs(9),
      prompt: 'Go.',
    });
    expect(isRead(prompts)).toEqual([false, false, true, false]);
  });

  it('in LangChain', async () => {
    const config = makeConfig(SAYS_LATE);
    let model = fakeModel();
    for (const name of TOOLS) {
      const tool_calls = [{ name, args: {}, id: `call_${name}` }];
      model = model.respond(new AIMessage({ content: '', tool_calls }));
    }
    model = model.respond(new AIMessage('Done.'));
    const tools = TOOLS.map((name) =>
      langchainTool(() => runTool(config, name), { name, description: name, schema: z.object({}) }),
    );
    const agent = createAgent({ model, tools, middleware: [hooksMiddleware(config)] });
    await agent.invoke({ messages: 'Go.' } as never);
    expect(isRead(model.calls.map((call) => JSON.stringify(call)))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('in ADK', async () => {
    const config = makeConfig(SAYS_LATE);
    const requests: string[] = [];
    const say = calling(...TOOLS);
    const model = new MockLlm((request) => {
      requests.push(JSON.stringify(request.contents));
      return say();
    });
    const tools = TOOLS.map(
      (name) =>
        new FunctionTool({
          name,
          description: name,
          parameters: z.object({}) as never,
          execute: () => runTool(config, name),
        }),
    );
    await runAdk(new LlmAgent({ name: 'agent', model, tools }), config);
    expect(isRead(requests)).toEqual([false, false, true, false]);
  });

  it('in the OpenAI Agents SDK', async () => {
    const config = makeConfig(SAYS_LATE);
    const requests: string[] = [];
    const say = calling(...TOOLS);
    const model = mockModel((request) => {
      requests.push(JSON.stringify(request.input));
      return say();
    });
    const agent = new Agent({ name: 'a', model, tools: openAiTools(config) });
    await run(withHooks(config, agent), 'Go.');
    expect(isRead(requests)).toEqual([false, false, true, false]);
  });

  it('in Claude Code, where its model reads context', async () => {
    const config = makeConfig(SAYS_LATE);
    const say = claude(config);
    expect(await say('PostToolUse', looked)).toEqual({});
    await config.getHookSystem()?.untilAsyncEnded();
    expect(JSON.stringify(await say('UserPromptSubmit', { prompt: 'p' }))).toContain('LATE');
    expect(await say('UserPromptSubmit', { prompt: 'p' })).toEqual({});
  });
});

const looked = { tool_name: 'look', tool_input: {}, tool_response: 'x', tool_use_id: 'u' };

function claude(config: Config) {
  const hooks = claudeHooks(config);
  const { signal } = new AbortController();
  return (name: keyof typeof hooks, fields: object) =>
    hooks[name][0]!.hooks[0]!(
      { hook_event_name: name, session_id: 's', transcript_path: '/t', cwd: '/', ...fields },
      undefined,
      { signal },
    );
}

function openAiTools(config: Config) {
  return TOOLS.map((name) =>
    openAiTool({
      name,
      description: name,
      parameters: z.object({}),
      execute: () => runTool(config, name),
    }),
  );
}

async function runAdk(agent: LlmAgent, config: Config): Promise<void> {
  const plugins = [new HooksPlugin(config)];
  const runner = new InMemoryRunner({ agent, appName: 'test', plugins });
  const { id } = await runner.sessionService.createSession({ appName: 'test', userId: 'ada' });
  const newMessage = { role: 'user', parts: [{ text: 'Go.' }] };
  for await (const event of runner.runAsync({ userId: 'ada', sessionId: id, newMessage })) {
    expect(event.errorMessage).toBeUndefined();
  }
}

describe('asyncRewake sends back to work', () => {
  it('an agent of Claude Code, which waits for it', async () => {
    const config = makeConfig({
      AfterTool: [{ hooks: [command('sleep 0.3; echo RED >&2; exit 2', { asyncRewake: true })] }],
    });
    const say = claude(config);
    await say('PostToolUse', looked);
    expect(await say('Stop', {})).toMatchObject({ decision: 'block', reason: 'RED' });
    expect(await say('Stop', {})).toEqual({});
  });

  it('a sub-agent of Claude Code, whose other hooks end with it', async () => {
    const slow = command('exec sleep 300', { async: true });
    const config = makeConfig({ AfterTool: [{ hooks: [red(), slow] }] });
    const say = claude(config);
    const who = { agent_id: '1', agent_type: 'x' };
    await say('PostToolUse', { ...looked, ...who });
    expect(await say('SubagentStop', who)).toMatchObject({ decision: 'block', reason: 'RED' });
    expect(await say('SubagentStop', { ...who, stop_hook_active: true })).toEqual({});
    await config.getHookSystem()?.untilAsyncEnded();
  });

  it('a sub-agent of the OpenAI Agents SDK, whose other hooks end with it', async () => {
    const slow = command('exec sleep 300', { async: true });
    const config = makeConfig({
      AfterTool: [{ matcher: 'look', hooks: [red(), slow] }],
    });
    const asked: string[] = [];
    const sayInside = calling('look');
    const inner = mockModel((request) => {
      asked.push(JSON.stringify(request.input));
      return sayInside();
    });
    const inside = new Agent({ name: 'reviewer', model: inner, tools: openAiTools(config) });
    const helper = withHooks(config, inside).asTool({
      toolName: 'helper',
      toolDescription: 'Helps.',
    });
    const say = calling('helper');
    const model = mockModel(() => {
      const said = say();
      return { ...said, calls: said.calls.map((call) => ({ ...call, args: { input: 'Look.' } })) };
    });
    const outer = new Agent({ name: 'writer', model, tools: [helper] });
    await run(withHooks(config, outer), 'Go.');
    expect(asked.length).toBeGreaterThanOrEqual(2);
    expect(asked.at(-1)).toContain('RED');
    await config.getHookSystem()?.untilAsyncEnded();
  });

  it('a sub-agent of ADK, so many times', async () => {
    const config = makeConfig({ SubagentStop: [{ hooks: [red()] }] });
    const asked: string[] = [];
    const inner = new MockLlm((request) => {
      asked.push(JSON.stringify(request.contents));
      return { text: 'Done.', chunks: ReadableStream.from([]), calls: [] };
    });
    const helper = new AgentTool({ agent: new LlmAgent({ name: 'helper', model: inner }) });
    const say = calling('helper');
    const model = new MockLlm(() => {
      const said = say();
      return {
        ...said,
        calls: said.calls.map((call) => ({ ...call, args: { request: 'Look.' } })),
      };
    });
    await runAdk(new LlmAgent({ name: 'agent', model, tools: [helper] }), config);
    expect(asked.map((each) => each.includes('RED'))).toEqual([false, true, true, true]);
  });
});
