import { Agent, run, setTracingDisabled, tool } from '@openai/agents';
import { assistantMessage, functionCall } from '@openai/agents/testing';
import { Config } from '../../../dist/index.js';
import { withHooks } from '../../../dist/openai.js';

setTracingDisabled(true);

const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const details = { inputTokensDetails: [], outputTokensDetails: [] };
const CALL = functionCall('read', { path: 'notes.txt' }, { callId: '1' });

/** A turn of the agent: a tool call, and an answer. */
export function rows() {
  const elsewhere = [{ matcher: '^write$', hooks: [{ type: 'command', command: 'exit 0' }] }];
  const config = new Config({
    enableHooks: true,
    hooks: { BeforeTool: elsewhere, AfterTool: elsewhere },
  });
  const model = {
    getResponse: async ({ input }) => {
      const isCalled = Array.isArray(input) && input.at(-1).type === 'function_call_result';
      const output = [isCalled ? assistantMessage('Done.') : CALL];
      return { usage: { ...usage, ...details }, output };
    },
  };
  const properties = { path: { type: 'string' } };
  const read = tool({
    name: 'read',
    description: 'Reads a file.',
    parameters: { type: 'object', properties, required: ['path'], additionalProperties: false },
    execute: async ({ path }) => `The text of ${path}`,
  });
  const agent = new Agent({ name: 'reader', model, tools: [read] });
  const hooked = withHooks(config, agent);
  const bare = turn(agent);
  return [
    {
      title: 'OpenAI Agents SDK: a turn with a tool call, its tools with hooks',
      isToolCall: true,
      bare,
      hooked: turn(agent.clone({ tools: hooked.tools })),
    },
    { title: 'OpenAI Agents SDK: the same, its model too', bare, hooked: turn(hooked) },
  ];
}

function turn(agent) {
  return async () => {
    await run(agent, 'Go.');
  };
}
