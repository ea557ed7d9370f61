import type { Content } from '@google/genai';
import { callModelWithHooks, executeToolWithHooks } from '../../src/index.js';
import { createResponse, textResponse } from '../../src/protocol/response.js';
import type { Harness, ModelAnswer, SentRequest, Turn } from './conformance.js';

/** A small agent on the API itself, without a host. */
export const plainHarness: Harness = { host: 'the API', run };

async function run(turn: Turn) {
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
    const results = calls.map(async ({ id, name = '', args = {} }) => {
      const { execute } = tools.find((tool) => tool.name === name) ?? tools[0]!;
      if (!allowed.includes(name)) return { name, output: 'That tool is not allowed.' };
      const { llmContent, stopReason } = await executeToolWithHooks(
        config,
        name,
        args,
        async (input) => ({ llmContent: await execute(input, signal), returnDisplay: '' }),
        { ...options, ...(id !== undefined && { callId: id }) },
      );
      return { name, output: JSON.stringify(llmContent), stopReason };
    });
    const done = await Promise.all(results);
    signal.throwIfAborted();
    const stopped = done.find(({ stopReason }) => stopReason !== undefined);
    if (stopped) return { text: '', stopped: stopped.stopReason };
    contents.push({
      role: 'user',
      parts: done.map(({ name, output }) => ({ functionResponse: { name, response: { output } } })),
    });
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
