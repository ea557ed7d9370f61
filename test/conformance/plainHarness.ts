import { randomUUID } from 'node:crypto';
import type { Content, Part } from '@google/genai';
import { callModelWithHooks, executeToolWithHooks, HookEventName } from '../../src/index.js';
import { createResponse, textResponse } from '../../src/protocol/response.js';
import type {
  Harness,
  ModelAnswer,
  ScenarioTool,
  SentRequest,
  Turn,
  TurnResult,
} from './conformance.js';

/** A small agent on the API itself, without a host. */
export const plainHarness: Harness = { host: 'the API', run };

async function run(turn: Turn): Promise<TurnResult> {
  const { subagent: name } = turn;
  if (name === undefined) return converse(turn);
  let stopped: string | undefined;
  const helper: ScenarioTool = {
    name,
    description: 'Helps.',
    parameters: {
      type: 'object',
      properties: { request: { type: 'string' } },
      required: ['request'],
      additionalProperties: false,
    },
    async execute({ request }) {
      const { text, ...ended } = await help(turn, name, String(request));
      stopped = ended.stopped;
      return text;
    },
  };
  return converse({ ...turn, tools: [...turn.tools, helper] }, () => stopped);
}

/** Runs a sub-agent between its two events. */
async function help(turn: Turn, agentType: string, prompt: string): Promise<TurnResult> {
  const agent = { agentId: randomUUID(), agentType };
  const { sessionId: parentSessionId = '' } = turn.session;
  const session = { ...turn.session, ...agent, sessionId: randomUUID(), parentSessionId };
  const handler = turn.config.getHookSystem()?.getEventHandler();
  const payload = { ...agent, prompt };
  const fired = await handler?.fire(HookEventName.SubagentStart, payload, turn.signal, session);
  const start = fired?.finalOutput;
  if (start?.shouldStopExecution()) return { text: '', stopped: start.getStopReason() };
  if (start?.isBlockingDecision()) return { text: start.getBlockReason() };
  const further: string[] = [];
  for (let isSentBack = false; ; isSentBack = true) {
    const asked = [prompt, ...further].join('\n\n');
    const { text } = await converse({ ...turn, session, prompt: asked });
    const done = { ...payload, promptResponse: text, stopHookActive: isSentBack };
    const end = await handler?.fire(HookEventName.SubagentStop, done, turn.signal, session);
    if (!end?.finalOutput?.isBlockingDecision()) return { text };
    further.push(end.finalOutput.getBlockReason());
  }
}

async function converse(
  turn: Turn,
  wasStopped = () => undefined as string | undefined,
): Promise<TurnResult> {
  const { config, prompt, session, signal, tools } = turn;
  const options = { session, signal };
  const contents: Content[] = [{ role: 'user', parts: [{ text: prompt }] }];
  for (;;) {
    const declarations = tools.map(({ name, description }) => ({ name, description }));
    const request = {
      model: 'mock',
      contents,
      config: {
        systemInstruction: turn.systemInstruction,
        tools: [{ functionDeclarations: declarations }],
      },
    };
    let allowed: readonly string[] = [];
    const chunks = callModelWithHooks(
      config,
      request,
      async (changed, given) => {
        const sent = toSent(changed);
        allowed = sent.tools;
        return toChunks(await turn.model(sent, given), turn.stream);
      },
      options,
    );
    let step;
    while (!(step = await chunks.next()).done) turn.show(step.value.text ?? '');
    const { response, verdict, synthetic } = step.value;
    const text = response.text ?? '';
    if (verdict.kind === 'stop') return { text, stopped: verdict.reason };
    if (verdict.kind === 'block' && !synthetic) return { text: verdict.reason };
    const calls = response.functionCalls ?? [];
    if (calls.length === 0) return { text };
    contents.push(response.candidates?.[0]?.content ?? {});
    const running = calls.map(async ({ id, name = '', args = {} }) => {
      const { execute } = tools.find((tool) => tool.name === name) ?? tools[0]!;
      if (!allowed.includes(name)) return { id, name, args, output: 'That tool is not allowed.' };
      const { llmContent, stopReason } = await executeToolWithHooks(
        config,
        name,
        args,
        async (input) => ({ llmContent: await execute(input, signal), returnDisplay: '' }),
        { ...options, ...(id !== undefined && { callId: id }) },
      );
      const stop = stopReason ?? wasStopped();
      return { id, name, args, output: JSON.stringify(llmContent), stopReason: stop };
    });
    const done = await Promise.all(running);
    signal.throwIfAborted();
    const stopped = done.find(({ stopReason }) => stopReason !== undefined);
    if (stopped) return { text: '', stopped: stopped.stopReason };
    const toolCalls = done.map(({ id: call_id = '', name, args, output }) => ({
      call_id,
      tool_name: name,
      tool_input: args,
      tool_response: { llmContent: output },
    }));
    const handler = config.getHookSystem()?.getEventHandler();
    const batch = await handler?.fire(HookEventName.ToolBatchEnd, { toolCalls }, signal, session);
    const said = batch?.finalOutput;
    if (said?.shouldStopExecution()) return { text: '', stopped: said.getStopReason() };
    const results: Part[] = done.map(({ name, output }) => ({
      functionResponse: { name, response: { output } },
    }));
    contents.push({ role: 'user', parts: results });
    const context = said?.getAdditionalContext();
    if (context) contents.push({ role: 'user', parts: [{ text: context }] });
  }
}

async function* toChunks({ text, chunks, calls }: ModelAnswer, stream: boolean) {
  if (calls.length > 0) {
    const parts = calls.map((functionCall) => ({
      functionCall: { ...functionCall, args: { ...functionCall.args } },
    }));
    yield createResponse({ candidates: [{ content: { role: 'model', parts } }] });
  } else for await (const piece of stream ? chunks : [text]) yield textResponse(piece);
}

function toSent({ contents, config }: Parameters<typeof callModelWithHooks>[1]): SentRequest {
  const { toolConfig, tools, systemInstruction, temperature } = config ?? {};
  const names = (tools ?? []).flatMap((tool) =>
    'functionDeclarations' in tool
      ? (tool.functionDeclarations ?? []).map(({ name }) => name ?? '')
      : [],
  );
  const allowed = toolConfig?.functionCallingConfig?.allowedFunctionNames ?? names;
  const messages = (contents as Content[]).map(({ role, parts = [] }) => {
    const output = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    if (output.length > 0) return { role: 'tool' as const, text: JSON.stringify(output) };
    const text = parts.map((part) => part.text ?? '').join('');
    return { role: role === 'model' ? ('assistant' as const) : ('user' as const), text };
  });
  return {
    messages: [{ role: 'system', text: JSON.stringify(systemInstruction) }, ...messages],
    tools: names.filter((name) => allowed.includes(name)),
    temperature,
  };
}
