import {
  Agent,
  run,
  setTracingDisabled,
  tool,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type StreamEvent,
} from '@openai/agents';
import {
  assistantMessage,
  functionCall,
  modelResponder,
  modelStreamResponder,
  ScriptedModel,
} from '@openai/agents/testing';
import { withHooks } from 'hookstack/openai';
import type { Harness, ModelAnswer, SentRequest, Turn } from '../conformance/conformance.js';

setTracingDisabled(true);

export const openaiHarness: Harness = { host: 'OpenAI Agents SDK 0.20', run: runTurn };

async function runTurn(turn: Turn) {
  const { prompt, session, signal, stream } = turn;
  let stopped: string | undefined;
  const agent = withHooks(turn.config, makeAgent(turn), {
    session,
    onStop: (reason) => (stopped = reason),
  });
  if (!stream) {
    const { finalOutput = '' } = await run(agent, prompt, { signal });
    return { text: finalOutput, stopped };
  }
  const result = await run(agent, prompt, { signal, stream: true });
  for await (const piece of result.toTextStream()) turn.show(piece);
  await result.completed;
  return { text: result.finalOutput ?? '', stopped };
}

function makeAgent(turn: Turn) {
  const tools = turn.tools.map(({ name, description, parameters, execute }) =>
    tool({
      name,
      description,
      parameters: {
        ...parameters,
        properties: { ...parameters.properties },
        required: [...parameters.required],
      },
      strict: true,
      // Without it, the model would read that something went wrong, and nobody what.
      errorFunction: null,
      execute: (args, _context, details) =>
        execute(args as Record<string, unknown>, details?.signal),
    }),
  );
  const model = mockModel(async (request) => {
    const { calls, ...answer } = await turn.model(toSent(request), request.signal);
    return { ...answer, calls: calls.map(asInput) };
  }, turn.stream);
  const { systemInstruction: instructions, subagent: name, config, session } = turn;
  const agent = { instructions, model };
  if (name === undefined) return new Agent({ ...agent, name: 'writer', tools });
  const helper = withHooks(config, new Agent({ ...agent, name, tools }), { session });
  const helping = helper.asTool({ toolName: name, toolDescription: 'Helps.' });
  return new Agent({ ...agent, name: 'writer', tools: [...tools, helping] });
}

/** Agents of the SDK that are tools have an argument of their own. */
function asInput<C extends ModelAnswer['calls'][number]>(call: C): C {
  const { request } = call.args;
  return request === undefined ? call : { ...call, args: { input: request } };
}

/** A model that answers every request in the way in which it is asked. */
export function mockModel(
  answer: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>,
  stream = false,
): Model {
  const steps = Array.from({ length: 20 }, () =>
    stream
      ? modelStreamResponder(async ({ request }) => streamOf(await answer(request)))
      : modelResponder(async ({ request }) => outputOf(await answer(request))),
  );
  return new ScriptedModel(steps);
}

function outputOf({ text, calls }: ModelAnswer) {
  if (calls.length === 0) return [assistantMessage(text)];
  return calls.map(({ id, name, args }) => functionCall(name, { ...args }, { callId: id }));
}

async function* streamOf(answer: ModelAnswer): AsyncGenerator<StreamEvent> {
  yield { type: 'response_started' };
  for await (const delta of answer.chunks) yield { type: 'output_text_delta', delta };
  const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const response = { id: 'response', usage, output: outputOf(answer) };
  yield { type: 'response_done', response };
}

function toSent({ systemInstructions, input, tools, modelSettings }: ModelRequest): SentRequest {
  const items = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  return {
    messages: [
      { role: 'system', text: systemInstructions ?? '' },
      ...items.map((item) => ({ role: roleOf(item), text: textOf(item) })),
    ],
    tools: tools.map(({ name }) => name),
    temperature: modelSettings.temperature,
  };
}

function textOf(item: AgentInputItem): string {
  const said = 'output' in item ? item.output : 'content' in item ? item.content : item;
  return typeof said === 'string' ? said : JSON.stringify(said);
}

function roleOf(item: AgentInputItem): SentRequest['messages'][number]['role'] {
  if (item.type === 'function_call_result') return 'tool';
  return 'role' in item ? item.role : 'assistant';
}
