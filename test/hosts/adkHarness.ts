import {
  AgentTool,
  BaseLlm,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  StreamingMode,
  version,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk';
import type { Content, Tool } from '@google/genai';
import type { Harness, ModelAnswer, SentRequest, Turn } from '../conformance/conformance.js';
import { HooksPlugin, type HooksMark } from 'hookstack/adk';
import { ONLY_TOLD } from './noMoments.js';

/** Google ADK with the plugin, and a model that says what a scenario wants. */
export const adkHarness: Harness = {
  host: `Google ADK ${version.split('.', 2).join('.')}`,
  run,
  differences: {
    modelRetry: ONLY_TOLD,
    modelRetryStream: ONLY_TOLD,
    subagentInside: {
      instead: 'hooks do not see into it: a warning says so',
      isSeen: ({ read, warnings }) =>
        !read.some((input) => input['tool_name'] === 'read') &&
        warnings.some((each) => each.includes('without plugins')),
    },
  },
};

type Say = (request: LlmRequest, signal?: AbortSignal) => ModelAnswer | Promise<ModelAnswer>;

/** What ADK's own Gemini model gives: in a stream, pieces first, and the whole in the end. */
export class MockLlm extends BaseLlm {
  readonly #say: Say;

  constructor(say: Say) {
    super({ model: 'mock' });
    this.#say = say;
  }

  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    const { text, chunks, calls } = await this.#say(request, signal);
    if (calls.length > 0) {
      const parts = calls.map((functionCall) => ({
        functionCall: { ...functionCall, args: { ...functionCall.args } },
      }));
      yield { content: { role: 'model', parts } };
      return;
    }
    if (stream) for await (const piece of chunks) yield { content: textOf(piece), partial: true };
    yield { content: textOf(text) };
  }

  override async connect(): Promise<never> {
    throw new Error('This model has no connection');
  }
}

function textOf(text: string): Content {
  return { role: 'model', parts: [{ text }] };
}

async function run(turn: Turn) {
  const tools = turn.tools.map(
    ({ name, description, parameters, execute }) =>
      new FunctionTool({
        name,
        description,
        parameters: parameters as never,
        execute: (args, context) => execute(args, context?.abortSignal),
      }),
  );
  const model = new MockLlm((request, signal) => turn.model(toSent(request), signal));
  const { subagent, systemInstruction: instruction } = turn;
  const helper =
    subagent === undefined
      ? []
      : [new AgentTool({ agent: new LlmAgent({ name: subagent, model, instruction, tools }) })];
  const agent = new LlmAgent({ name: 'agent', model, instruction, tools: [...tools, ...helper] });
  const plugin = new HooksPlugin(turn.config, { session: turn.session });
  const runner = new InMemoryRunner({ agent, appName: 'test', plugins: [plugin] });
  const session = await runner.sessionService.createSession({ appName: 'test', userId: 'user' });
  const events = runner.runAsync({
    userId: 'user',
    sessionId: session.id,
    newMessage: { role: 'user', parts: [{ text: turn.prompt }] },
    abortSignal: turn.signal,
    ...(turn.stream && { runConfig: { streamingMode: StreamingMode.SSE } }),
  });
  const last: { text: string; stopped?: string } = { text: '' };
  let isShown = false;
  for await (const { content, partial, errorMessage, customMetadata } of events) {
    if (errorMessage) throw new Error(errorMessage);
    const text = content?.parts?.map((part) => part.text ?? '').join('') ?? '';
    // As user interfaces do: the whole is not shown again after its pieces.
    if (text && !(isShown && !partial)) turn.show(text);
    isShown = Boolean(partial);
    if (!partial && text) last.text = text;
    const mark = customMetadata?.['hookstack'] as HooksMark | undefined;
    if (mark?.stopped !== undefined) last.stopped = mark.stopped;
  }
  return last;
}

function toSent({ contents, config }: LlmRequest): SentRequest {
  const messages = contents.map(({ role, parts = [] }) => {
    const given = parts.flatMap(({ functionResponse }) => functionResponse?.response ?? []);
    if (given.length > 0) return { role: 'tool' as const, text: JSON.stringify(given) };
    const text = parts.map((part) => part.text ?? '').join('');
    return { role: role === 'model' ? ('assistant' as const) : ('user' as const), text };
  });
  const declarations = ((config?.tools ?? []) as Tool[]).flatMap(
    ({ functionDeclarations = [] }) => functionDeclarations,
  );
  return {
    messages: [{ role: 'system', text: JSON.stringify(config?.systemInstruction) }, ...messages],
    tools: declarations.map(({ name = '' }) => name),
    temperature: config?.temperature,
  };
}
