import { AIMessage, AIMessageChunk, createAgent, tool, type BaseMessage } from 'langchain';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import type { Harness, ModelAnswer, SentRequest, Turn } from '../conformance/conformance.js';
import { hooksMiddleware, type MessageMark } from 'hookstack/langchain';
import { NO_SUBAGENTS } from './noMoments.js';

/** LangChain with the middleware, and a model that says what a scenario wants. */
export const langchainHarness: Harness = {
  host: 'LangChain JS 1.5',
  run,
  differences: NO_SUBAGENTS,
};

interface Options extends BaseChatModelCallOptions {
  tools?: readonly { name: string }[];
  temperature?: number;
}

type Say = (messages: readonly BaseMessage[], options: Options) => Promise<ModelAnswer>;

/** Unlike LangChain's own mock model, it streams, and is told with what it is called. */
class MockModel extends BaseChatModel<Options> {
  readonly #say: Say;

  constructor(say: Say) {
    super({});
    this.#say = say;
  }

  override _llmType() {
    return 'mock';
  }

  override bindTools(tools: BindToolsInput[], options?: Partial<Options>) {
    return this.withConfig({ ...options, tools: tools as { name: string }[] });
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']) {
    const { text, calls } = await this.#say(messages, options);
    return { generations: [{ text, message: new AIMessage(toFields(text, calls)) }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ) {
    const { chunks, calls } = await this.#say(messages, options);
    for await (const text of calls.length > 0 ? [''] : chunks) {
      const message = new AIMessageChunk(toFields(text, calls));
      const chunk = new ChatGenerationChunk({ text, message });
      yield chunk;
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

function toFields(content: string, calls: ModelAnswer['calls']) {
  const toolCalls = calls.map(({ args, ...call }) => ({ ...call, args: { ...args } }));
  return { content, tool_calls: toolCalls };
}

async function run({ config, session, tools, ...turn }: Turn) {
  const agent = createAgent({
    model: new MockModel((messages, options) =>
      turn.model(toSent(messages, options), options.signal),
    ),
    systemPrompt: turn.systemInstruction,
    tools: tools.map(({ name, description, parameters, execute }) =>
      tool((args, { signal }) => execute(args as Record<string, unknown>, signal), {
        name,
        description,
        schema: parameters as never,
      }),
    ),
    middleware: [hooksMiddleware(config, { session })],
  });
  const input = { messages: [{ role: 'user' as const, content: turn.prompt }] };
  const messages: BaseMessage[] = [];
  if (turn.stream) {
    const streamMode: ('messages' | 'values')[] = ['messages', 'values'];
    for await (const [mode, given] of await agent.stream(input, {
      streamMode,
      signal: turn.signal,
    })) {
      if (mode === 'values') messages.splice(0, Infinity, ...given.messages);
      else if (AIMessage.isInstance(given[0]) && given[0].text) turn.show(given[0].text);
    }
  } else {
    const given = await agent.invoke(input, { signal: turn.signal });
    messages.push(...given.messages);
  }
  const last = messages.at(-1);
  const { hookstack }: { hookstack?: MessageMark } = last?.response_metadata ?? {};
  return { text: last?.text ?? '', stopped: hookstack?.stopped };
}

function toSent(messages: readonly BaseMessage[], options: Options): SentRequest {
  const roles = { system: 'system', ai: 'assistant', tool: 'tool' } as const;
  return {
    messages: messages.map(({ type, text }) => ({
      role: roles[type as keyof typeof roles] ?? 'user',
      text,
    })),
    tools: (options.tools ?? []).map(({ name }) => name),
    temperature: options.temperature,
  };
}
