import { generateText, jsonSchema, stepCountIs, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { aiHooks } from '../../../dist/ai.js';
import { Config } from '../../../dist/index.js';

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const answer = (unified, ...content) => ({
  content,
  finishReason: { unified, raw: unified },
  usage,
  warnings: [],
});
const call = {
  type: 'tool-call',
  toolCallId: '1',
  toolName: 'read',
  input: '{"path":"notes.txt"}',
};
const stopWhen = stepCountIs(5);

/** A turn of the agent: a tool call, and an answer. */
export function rows() {
  const elsewhere = [{ matcher: '^write$', hooks: [{ type: 'command', command: 'exit 0' }] }];
  const hooks = aiHooks(
    new Config({ enableHooks: true, hooks: { BeforeTool: elsewhere, AfterTool: elsewhere } }),
  );
  const answers = {
    begin: answer('tool-calls', call),
    end: answer('stop', { type: 'text', text: 'Done.' }),
  };
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => (prompt.at(-1).role === 'tool' ? answers.end : answers.begin),
  });
  const inputSchema = jsonSchema({ type: 'object', properties: { path: { type: 'string' } } });
  const tools = { read: tool({ inputSchema, execute: async ({ path }) => `The text of ${path}` }) };
  const hookedTools = hooks.wrapTools(tools);
  const hookedModel = wrapLanguageModel({ model, middleware: hooks.middleware });
  const turn = (given) => async () => {
    // The mock model remembers all its calls.
    model.doGenerateCalls.length = 0;
    await generateText({ prompt: 'Go.', stopWhen, ...given });
  };
  const bare = turn({ model, tools });
  return [
    {
      title: 'AI SDK: a turn with a tool call, its tools wrapped',
      isToolCall: true,
      bare,
      hooked: turn({ model, tools: hookedTools }),
    },
    {
      title: 'AI SDK: the same, its model wrapped too',
      bare,
      hooked: turn({ model: hookedModel, tools: hookedTools }),
    },
  ];
}
