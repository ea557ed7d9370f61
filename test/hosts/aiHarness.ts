import * as ai7 from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import * as ai6 from 'ai6';
import { MockLanguageModelV3 } from 'ai6/test';
import { aiHooks } from 'hookstack/ai';
import type {
  Difference,
  Harness,
  ModelAnswer,
  SentRequest,
  Turn,
} from '../conformance/conformance.js';
import { NO_SUBAGENTS } from './noMoments.js';

type Params = Parameters<MockLanguageModelV4['doGenerate']>[0];
type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;

/** What scenarios use is the same in both versions; `ai.types.ts` is about their types. */
const VERSIONS = {
  6: {
    sdk: ai6 as unknown as typeof ai7,
    Model: MockLanguageModelV3 as unknown as typeof MockLanguageModelV4,
  },
  7: { sdk: ai7, Model: MockLanguageModelV4 },
};

const CHANGE_IS_LOST: Difference = {
  instead: 'shown as it came, and kept so: a warning says so',
  isSeen: ({ shown, text, warnings }) =>
    shown.join('') === text && warnings.some((each) => each.includes('the change was lost')),
};

export function aiHarness(version: keyof typeof VERSIONS): Harness {
  return {
    host: `AI SDK ${version}`,
    run: (turn) => run(turn, version),
    differences: { redactShown: CHANGE_IS_LOST, ...NO_SUBAGENTS },
  };
}

const repairName: ai7.ToolCallRepairFunction<ai7.ToolSet> = async ({ toolCall, tools }) => {
  const toolName = toolCall.toolName.toLowerCase();
  return Object.hasOwn(tools, toolName) ? { ...toolCall, toolName } : null;
};

async function run(turn: Turn, version: keyof typeof VERSIONS) {
  const { sdk, Model } = VERSIONS[version];
  const hooks = aiHooks(turn.config, { session: turn.session });
  const mock = new Model({
    doGenerate: async (params) => toGenerated(await turn.model(toSent(params), params.abortSignal)),
    doStream: async (params) => ({
      stream: ReadableStream.from(
        toStreamParts(await turn.model(toSent(params), params.abortSignal)),
      ),
    }),
  });
  const tools = turn.tools.map(({ name, description, parameters, execute }) => [
    name,
    sdk.tool({
      description,
      inputSchema: sdk.jsonSchema<Record<string, unknown>>(parameters as never),
      execute: (input, { abortSignal }) => execute(input, abortSignal),
    }),
  ]);
  const options = {
    model: sdk.wrapLanguageModel({ model: mock, middleware: hooks.middleware }),
    tools: hooks.wrapTools(Object.fromEntries(tools) as ai7.ToolSet),
    stopWhen: [sdk.stepCountIs(5), hooks.isStopped],
    system: turn.systemInstruction,
    prompt: turn.prompt,
    abortSignal: turn.signal,
    maxRetries: 0,
    // As hosts do for models that get names nearly right.
    experimental_repairToolCall: repairName,
  };
  if (!turn.stream) {
    const result = await sdk.generateText(options);
    return { text: result.text, stopped: hooks.stopReason(result) };
  }
  const result = sdk.streamText(options);
  for await (const text of result.textStream) turn.show(text);
  return { text: await result.text, stopped: hooks.stopReason({ steps: await result.steps }) };
}

function toSent({ prompt, tools, toolChoice, temperature }: Params): SentRequest {
  const messages = prompt.map(({ role, content }) => ({
    role,
    text:
      typeof content === 'string'
        ? content
        : content.map((part) => ('text' in part ? part.text : JSON.stringify(part))).join(''),
  }));
  const names = toolChoice?.type === 'none' ? [] : (tools ?? []).map(({ name }) => name);
  return { messages, tools: names, temperature };
}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function toContent({ text, calls }: ModelAnswer): Generated['content'] {
  const content = calls.map(({ id, name, args }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: JSON.stringify(args),
  }));
  return text === '' ? content : [{ type: 'text', text }, ...content];
}

function toFinish({ calls }: ModelAnswer) {
  const unified = calls.length > 0 ? ('tool-calls' as const) : ('stop' as const);
  return { finishReason: { unified, raw: unified }, usage: USAGE };
}

export function toGenerated(answer: ModelAnswer): Generated {
  return { content: toContent(answer), ...toFinish(answer), warnings: [] };
}

async function* toStreamParts(answer: ModelAnswer): AsyncGenerator<StreamPart, void> {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: '1' };
  for await (const delta of answer.chunks) yield { type: 'text-delta', id: '1', delta };
  yield { type: 'text-end', id: '1' };
  for (const part of toContent(answer)) if (part.type === 'tool-call') yield part;
  yield { type: 'finish', ...toFinish(answer) };
}
