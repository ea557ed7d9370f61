import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { Command, interrupt, MemorySaver, Send } from '@langchain/langgraph';
import {
  AIMessage,
  createAgent,
  createMiddleware,
  fakeModel,
  HumanMessage,
  providerStrategy,
  tool,
  ToolMessage,
  type BaseMessage,
  type CreateAgentParams,
} from 'langchain';
import { Config, type ConfigOptions } from 'hookstack';
import { hooksMiddleware, type HooksMiddlewareOptions } from 'hookstack/langchain';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { answering, nothing } from './scriptedHooks.js';

const logger = new RecordingLogger();
beforeEach(() => void logger.records.splice(0));

const BLOCK = answering({ decision: 'block', reason: 'No.' });
const NOTE = answering({ hookSpecificOutput: { additionalContext: 'Lint it.' } });
const REDACT = answering({ hookSpecificOutput: { llm_response: { text: '[redacted]' } } });
const STOP = answering({ continue: false, stopReason: 'Enough.' });
const INPUT = { messages: [{ role: 'user' as const, content: 'Go.' }] };

function middlewareOf(
  hooks: ConfigOptions['hooks'],
  options?: HooksMiddlewareOptions,
  config?: ConfigOptions,
) {
  const settings = { enableHooks: true, debugLogger: logger, hooks: hooks ?? {}, ...config };
  return hooksMiddleware(new Config(settings), options);
}

type Agent = Omit<CreateAgentParams, 'middleware'> & Parameters<typeof createAgent>[0];

/** An agent of LangChain with a mock model of LangChain. */
function agentOf(
  model: ReturnType<typeof fakeModel>,
  middleware: ReturnType<typeof hooksMiddleware>,
  others: Partial<Agent> = {},
) {
  return createAgent({ ...others, model, middleware: [middleware] } as Agent);
}

const schema = { type: 'object', properties: { path: { type: 'string' } } } as const;

function toolOf(name: string, work: (args: unknown) => unknown = () => `${name} ran`) {
  return tool(work as never, { name, schema, description: name });
}

function calling(...names: string[]) {
  const calls = names.map((name) => ({ name, args: {}, id: `id-${name}` }));
  return fakeModel().respondWithTools(calls).respond(new AIMessage('Done.'));
}

function toolTexts(messages: readonly BaseMessage[]): string[] {
  return messages.filter(({ type }) => type === 'tool').map(({ text }) => text);
}

function unmarked({ id, content, tool_calls: calls }: AIMessage): AIMessage {
  return new AIMessage({ id, content, tool_calls: calls });
}

describe('an answer that does not say what it may call', () => {
  const LOOK = answering({
    hookSpecificOutput: { toolConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
  });

  /** An answer in which another middleware has put this in place of what ours left. */
  async function ranAfter(hook: typeof LOOK, replace: (answer: AIMessage) => AIMessage) {
    const ran: string[] = [];
    const del = toolOf('del', () => ran.push('del'));
    const other = createMiddleware({
      name: 'other',
      afterModel: ({ messages }) => {
        const last = messages.at(-1);
        const calls = AIMessage.isInstance(last) && (last.tool_calls ?? []).length > 0;
        return calls ? { messages: [replace(last)] } : undefined;
      },
    });
    const middleware = [middlewareOf({ BeforeToolSelection: [{ hooks: [hook] }] }), other];
    const agent = createAgent({ model: calling('del'), tools: [del, toolOf('look')], middleware });
    const { messages } = await agent.invoke(INPUT);
    return { ran, said: toolTexts(messages).join() };
  }

  it('runs nothing where hooks may restrict the tools', async () => {
    const { ran, said } = await ranAfter(LOOK, unmarked);
    expect(ran).toEqual([]);
    expect(said).toContain('it is not known any more whether this call is allowed');
  });

  it('is none where hooks have left it, and did not restrict it', async () => {
    expect((await ranAfter(nothing, (answer) => answer)).ran).toEqual(['del']);
  });
});

describe('the middleware and tools', () => {
  it('tells the model of a tool that throws, as LangChain does without middleware', async () => {
    const broken = toolOf('read', () => {
      throw new Error('The disk is full.');
    });
    const bare = createAgent({ model: calling('read'), tools: [broken] });
    const seen: string[] = [];
    const onHooks = (event: string) => void seen.push(event);
    const hooks = { AfterTool: [{ hooks: [nothing] }] };
    const agent = agentOf(calling('read'), middlewareOf(hooks, { onHooks }), { tools: [broken] });
    const { messages } = await agent.invoke(INPUT);
    expect(toolTexts(messages)).toEqual(toolTexts((await bare.invoke(INPUT)).messages));
    expect(toolTexts(messages)[0]).toContain('The disk is full.');
    expect(seen).toEqual(['AfterTool']);
  });

  it('lets what other middleware throws end the agent, as without hooks', async () => {
    const refusing = createMiddleware({
      name: 'refusing',
      wrapToolCall: () => {
        throw new Error('Not this one.');
      },
    });
    const ends = (...others: ReturnType<typeof hooksMiddleware>[]) => {
      const middleware = [...others, refusing];
      const options = { model: calling('look'), tools: [toolOf('look')], middleware };
      return createAgent(options as unknown as Agent).invoke(INPUT);
    };
    await expect(ends(middlewareOf({ BeforeTool: [{ hooks: [nothing] }] }))).rejects.toThrow(
      'Not this one.',
    );
    await expect(ends()).rejects.toThrow('Not this one.');
  });

  it('lets a tool that asks a person interrupt the agent', async () => {
    const asking = toolOf('ask', () => `They said ${String(interrupt('Sure?'))}.`);
    const checkpointer = new MemorySaver();
    const agent = agentOf(calling('ask'), middlewareOf({}), { tools: [asking], checkpointer });
    const thread = { configurable: { thread_id: 'one' } };
    const paused = await agent.invoke(INPUT, thread);
    expect(paused).toMatchObject({ __interrupt__: [{ value: 'Sure?' }] });
    const { messages } = await agent.invoke(new Command({ resume: 'yes' }), thread);
    expect(toolTexts(messages)).toEqual(['They said yes.']);
  });

  it('adds to the message in a command, and keeps the rest of it', async () => {
    const command = toolOf('read', () => {
      const message = new ToolMessage({ content: 'It ran.', tool_call_id: 'id-read' });
      return new Command({ update: { messages: [message] }, goto: [] });
    });
    const hooks = { AfterTool: [{ hooks: [NOTE] }] };
    const agent = agentOf(calling('read'), middlewareOf(hooks), { tools: [command] });
    const { messages } = await agent.invoke(INPUT);
    expect(toolTexts(messages)[0]).toMatch(/^It ran\.\n\n[^]*Lint it\./);
  });

  /** What the agent's model reads after a tool that gives this, and what an AfterTool hook reads of it. */
  async function afterCommand(given: ConstructorParameters<typeof Command>[0], answer?: object) {
    const replace = answering(answer ?? {});
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'hookstack-langchain-')), 'read');
    const command = `tee "$READ" > /dev/null; ${replace.command}`;
    const hook = { ...replace, command, env: { ...replace.env, READ: file } };
    const dialect = answer === SECRET ? ('claude' as const) : undefined;
    const model = calling('read').respond(new AIMessage('Done.'));
    const others = { tools: [toolOf('read', () => new Command(given))] };
    const hooks = { AfterTool: [{ ...(dialect && { dialect }), hooks: [hook] }] };
    await agentOf(model, middlewareOf(hooks), others).invoke(INPUT);
    const read = await readFile(file, 'utf8');
    await rm(path.dirname(file), { recursive: true });
    return { read, texts: model.calls[1]?.messages.slice(2).map(({ text }) => text), model };
  }

  const SECRET = { hookSpecificOutput: { updatedToolOutput: 'It is secret.' } };
  const OWN = new ToolMessage({ content: 'It ran.', tool_call_id: 'id-read' });
  const BESIDE = [
    ['a message', new HumanMessage('The password is hunter2.')],
    ['blocks', new HumanMessage({ content: [{ type: 'text', text: 'It is hunter2.' }] })],
    ['plain data', { role: 'user', content: 'The password is hunter2.' }],
    ['a pair', ['human', 'The password is hunter2.']],
    ['a text', 'The password is hunter2.'],
    [
      'calls',
      new AIMessage({ content: '', tool_calls: [{ name: 'a', args: { b: 'hunter2' }, id: 'c' }] }),
    ],
  ] as const;

  it.each(BESIDE)('shows hooks what a command says beside the tool: %s', async (_form, said) => {
    const list = [OWN, said];
    const kept = await afterCommand({ update: { messages: list } });
    expect(kept.read).toContain('hunter2');
    expect(kept.texts).toHaveLength(2);
    for (const update of [{ messages: list }, [['messages', list]] as [string, unknown][]]) {
      const { texts, read } = await afterCommand({ update }, SECRET);
      expect(read).toContain('hunter2');
      expect(texts).toEqual(['It is secret.']);
    }
  });

  it('withholds what a command says beside the tool, where a guard fails', async () => {
    const list = [OWN, new HumanMessage('The password is hunter2.')];
    const tools = [toolOf('read', () => new Command({ update: { messages: list } }))];
    const broken = { type: 'command' as const, command: 'exit 1', onFailure: 'deny' as const };
    const hooks = { AfterTool: [{ hooks: [broken] }] };
    const { messages } = await agentOf(calling('read'), middlewareOf(hooks), { tools }).invoke(
      INPUT,
    );
    expect(JSON.stringify(messages)).toContain('withheld');
    expect(JSON.stringify(messages)).not.toContain('hunter2');
  });

  it('shows what a command sends to a node, and does not send what a hook replaces', async () => {
    const messages = [OWN, new HumanMessage('The password is hunter2.')];
    const given = { update: { messages: [OWN] }, goto: [new Send('model_request', { messages })] };
    expect((await afterCommand(given)).read).toContain('hunter2');
    const { model } = await afterCommand(given, SECRET);
    expect(JSON.stringify(model.calls.slice(1))).not.toContain('hunter2');
  });

  it('adds to the message of the tool, where a command says more', async () => {
    const list = [OWN, new HumanMessage('Now look.')];
    const note = { hookSpecificOutput: { additionalContext: 'Lint it.' } };
    const { texts } = await afterCommand({ update: { messages: list } }, note);
    expect(texts).toEqual([expect.stringMatching(/^It ran\.\n\n[^]*Lint it\./), 'Now look.']);
  });

  it('shows hooks nothing that the conversation holds already', async () => {
    const { read, texts } = await afterCommand({ update: { messages: [OWN] } });
    expect(JSON.parse(read)).toMatchObject({ tool_response: { llmContent: 'It ran.' } });
    expect(texts).toEqual(['It ran.']);
  });

  it('keeps images of a result, and adds to its text', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
    const message = new ToolMessage({
      content: [{ type: 'text', text: 'See:' }, image],
      tool_call_id: 'id-read',
      artifact: { raw: 1 },
    });
    const hooks = { AfterTool: [{ hooks: [NOTE] }] };
    const tools = [toolOf('read', () => message)];
    const agent = agentOf(calling('read'), middlewareOf(hooks), { tools });
    const { messages } = await agent.invoke(INPUT);
    const given = messages.find((each) => ToolMessage.isInstance(each));
    expect(given?.artifact).toEqual({ raw: 1 });
    expect(given?.content).toEqual([
      { type: 'text', text: 'See:' },
      image,
      { type: 'text', text: expect.stringContaining('Lint it.') as string },
    ]);
  });

  it('ends a stopped agent with the reason, and goes on with the next message', async () => {
    const hooks = { BeforeTool: [{ matcher: 'read', hooks: [STOP] }] };
    const others = { tools: [toolOf('read')], checkpointer: new MemorySaver() };
    const model = calling('read');
    const agent = agentOf(model, middlewareOf(hooks), others);
    const thread = { configurable: { thread_id: 'one' } };
    const { messages } = await agent.invoke(INPUT, thread);
    expect(messages.at(-1)).toMatchObject({
      type: 'ai',
      text: 'Enough.',
      response_metadata: { hookstack: { stopped: 'Enough.' } },
    });
    expect(model.callCount).toBe(1);
    const next = await agent.invoke(INPUT, thread);
    expect(next.messages.at(-1)?.text).toBe('Done.');
  });

  it('gives hooks the thread as their session', async () => {
    const show = answering({}, `jq -j .session_id >&2; exit 2`);
    const hooks = { BeforeTool: [{ hooks: [show] }] };
    const agent = agentOf(calling('read'), middlewareOf(hooks), { tools: [toolOf('read')] });
    const { messages } = await agent.invoke(INPUT, { configurable: { thread_id: 'thread-7' } });
    expect(toolTexts(messages)).toEqual(['thread-7']);
  });
});

/** What a stream of messages shows of an answer that a hook redacts. */
async function shown(config?: ConfigOptions) {
  const hooks = { AfterModel: [{ hooks: [REDACT] }] };
  const model = fakeModel().respond(new AIMessage('The password is hunter2.'));
  const agent = agentOf(model, middlewareOf(hooks, {}, config));
  const texts: string[] = [];
  for await (const [message] of await agent.stream(INPUT, { streamMode: 'messages' })) {
    texts.push(message.text);
  }
  return texts;
}

/** An answer with its words in all places where providers repeat them. */
function repeating() {
  const said = 'The password is hunter2.';
  const message = new AIMessage({
    content: [
      { type: 'thinking', thinking: said, signature: 'x' },
      { type: 'text', text: said },
    ],
    additional_kwargs: { reasoning_content: said, audio: { transcript: said } },
    response_metadata: { model_name: 'mock', output: [{ text: said }], logprobs: { said } },
  });
  return Object.assign(message, { usage_metadata: undefined });
}

describe('the middleware and models', () => {
  it('cannot keep an answer from a stream of messages, unless it is held', async () => {
    expect(await shown()).toEqual(['The password is hunter2.']);
    expect(await shown({ afterModelDisplay: 'hold' })).toEqual(['[redacted]']);
  });

  it('keeps blocks without words where they are', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
    const content = [image, { type: 'text', text: 'The password is hunter2.' }];
    const model = fakeModel().respond(new AIMessage({ content }));
    const agent = agentOf(model, middlewareOf({ AfterModel: [{ hooks: [REDACT] }] }));
    const { messages } = await agent.invoke(INPUT);
    expect(messages.at(-1)?.content).toEqual([image, { type: 'text', text: '[redacted]' }]);
  });

  it('withholds reasoning and metadata of an answer that a hook has redacted', async () => {
    const answer = repeating();
    const model = fakeModel().respond(answer).respond(new AIMessage('Done.'));
    const others = { checkpointer: new MemorySaver() };
    const agent = agentOf(model, middlewareOf({ AfterModel: [{ hooks: [REDACT] }] }), others);
    const thread = { configurable: { thread_id: 'one' } };
    const { messages } = await agent.invoke(INPUT, thread);
    expect(messages.at(-1)?.content).toEqual([{ type: 'text', text: '[redacted]' }]);
    expect(messages.at(-1)?.response_metadata).toEqual({ model_name: 'mock' });
    expect(JSON.stringify(messages)).not.toContain('hunter2');
    expect(inspect(messages, { depth: 9 })).not.toContain('hunter2');
    await agent.invoke(INPUT, thread);
    expect(inspect(model.calls[1]?.messages, { depth: 9 })).not.toContain('hunter2');
  });

  it('leaves reasoning and metadata where no hook changes the answer', async () => {
    const answer = repeating();
    const model = fakeModel().respond(answer);
    const agent = agentOf(model, middlewareOf({ AfterModel: [{ hooks: [nothing] }] }));
    const { messages } = await agent.invoke(INPUT);
    expect(messages.at(-1)).toBe(answer);
  });

  it('gives answers and requests on as they are, where no hook changes them', async () => {
    const answer = new AIMessage({
      content: [
        { type: 'text', text: 'A' },
        { type: 'text', text: 'B' },
      ],
    });
    const model = fakeModel().respond(answer);
    const hooks = { BeforeModel: [{ hooks: [nothing] }], AfterModel: [{ hooks: [nothing] }] };
    const { messages } = await agentOf(model, middlewareOf(hooks)).invoke(INPUT);
    expect(messages.at(-1)).toBe(answer);
    expect(model.calls[0]?.messages.at(-1)).toBe(messages[0]);
  });

  it('lets other middleware change the messages of the agent in place, as without hooks', async () => {
    const editing = createMiddleware({
      name: 'editing',
      wrapModelCall: (request, handler) => {
        request.messages[0] = new HumanMessage('Edited.');
        return handler(request);
      },
    });
    const first = async (...others: ReturnType<typeof hooksMiddleware>[]) => {
      const model = fakeModel().respond(new AIMessage('Done.'));
      const options = { model, middleware: [...others, editing] };
      const agent = createAgent(options as unknown as Agent);
      const { messages } = await agent.invoke(INPUT);
      return messages[0]?.text;
    };
    const hooks = middlewareOf({ BeforeModel: [{ hooks: [nothing] }] });
    expect(await first(hooks)).toBe('Edited.');
    expect(await first()).toBe('Edited.');
  });

  it('drops structured output whose text hooks have changed', async () => {
    const responseFormat = providerStrategy(z.object({ city: z.string() }));
    const answer = async (hooks: ConfigOptions['hooks']) => {
      const model = fakeModel().respond(new AIMessage('{"city": "Bergen"}'));
      const agent = createAgent({ model, responseFormat, middleware: [middlewareOf(hooks)] });
      const { structuredResponse, messages } = await agent.invoke(INPUT);
      return [structuredResponse, messages.at(-1)?.text];
    };
    expect(await answer({})).toEqual([{ city: 'Bergen' }, '{"city": "Bergen"}']);
    const redacted = await answer({ AfterModel: [{ hooks: [REDACT] }] });
    expect(redacted).toEqual([undefined, '[redacted]']);
  });

  it('has the model read what hooks say after its answer with the next request', async () => {
    const hooks = { AfterModel: [{ hooks: [answering({ systemMessage: 'Be brief.' })] }] };
    const model = calling('read');
    await agentOf(model, middlewareOf(hooks), { tools: [toolOf('read')] }).invoke(INPUT);
    const texts = model.calls.map(({ messages }) => messages.at(-1)?.text);
    expect(texts).toEqual(['Go.', expect.stringContaining('Be brief.')]);
  });

  it('names the tools that may be called when it refuses another', async () => {
    const only = answering({
      hookSpecificOutput: { toolConfig: { allowedFunctionNames: ['read'] } },
    });
    const hooks = { BeforeToolSelection: [{ hooks: [only] }], BeforeTool: [{ hooks: [BLOCK] }] };
    const tools = [toolOf('read'), toolOf('write')];
    const agent = agentOf(calling('write'), middlewareOf(hooks), { tools });
    const { messages } = await agent.invoke(INPUT);
    expect(toolTexts(messages)[0]).toMatch(/"write" was not run.*only these may be called: read\./);
  });
});

describe('what the middleware cannot cover', () => {
  it('is a tool of the provider: a warning once, an error with strict', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    const middleware = middlewareOf({});
    for (let turn = 0; turn < 2; turn += 1) {
      const model = fakeModel().respond(new AIMessage('Done.'));
      await agentOf(model, middleware, { tools }).invoke(INPUT);
    }
    expect(logger.warnings).toEqual([expect.stringContaining('"web_search"')]);
    const strict = agentOf(fakeModel(), middlewareOf({}, { strict: true }), { tools });
    await expect(strict.invoke(INPUT)).rejects.toThrow('hooks do not see the tool "web_search"');
  });

  it('is another model: a warning', async () => {
    const other = answering({ hookSpecificOutput: { llm_request: { model: 'other' } } });
    const model = fakeModel().respond(new AIMessage('Done.'));
    await agentOf(model, middlewareOf({ BeforeModel: [{ hooks: [other] }] })).invoke(INPUT);
    expect(logger.warnings).toEqual([expect.stringContaining('a hook wants the model "other"')]);
  });

  it('an option that does not exist is an error', () => {
    const options = { strikt: true } as HooksMiddlewareOptions;
    expect(() => hooksMiddleware(new Config(), options)).toThrow('strict');
  });
});
