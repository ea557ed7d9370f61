import '../hostsFromHere.mjs';
import {
  BaseLlm,
  BasePlugin,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  LogLevel,
  setLogLevel,
} from '@google/adk';
import { Config } from '../../../dist/index.js';

const { HooksPlugin } = await import('../../../dist/adk.js');
setLogLevel(LogLevel.ERROR);

class MockLlm extends BaseLlm {
  async *generateContentAsync({ contents }) {
    const isAnswered = contents.at(-1).parts[0].functionResponse;
    const functionCall = { name: 'read', args: { path: 'notes.txt' } };
    yield {
      content: { role: 'model', parts: [isAnswered ? { text: 'Done.' } : { functionCall }] },
    };
  }
}

const parameters = { type: 'OBJECT', properties: { path: { type: 'STRING' } } };
const execute = ({ path }) => `The text of ${path}`;
const read = new FunctionTool({ name: 'read', description: 'Reads a file.', parameters, execute });
const agent = new LlmAgent({ name: 'a', model: new MockLlm({ model: 'mock' }), tools: [read] });
const newMessage = { role: 'user', parts: [{ text: 'Go.' }] };

/** What is measured for a tool call is what hooks add to it alone. */
class ToolsOnly extends HooksPlugin {
  async beforeModelCallback() {}
  async afterModelCallback() {}
}

/** A turn of the agent: a tool call, and an answer. */
export function rows() {
  const elsewhere = [{ matcher: '^write$', hooks: [{ type: 'command', command: 'exit 0' }] }];
  const hooks = { BeforeTool: elsewhere, AfterTool: elsewhere };
  const config = new Config({ enableHooks: true, hooks });
  return [
    {
      title: 'Google ADK: a turn with a tool call, its tools wrapped',
      isToolCall: true,
      bare: turn([]),
      hooked: turn([new ToolsOnly(config)]),
    },
    {
      title: 'Google ADK: the same, with a plugin that does nothing, and no hooks',
      bare: turn([]),
      hooked: turn([new BasePlugin('nothing')]),
    },
    {
      title: 'Google ADK: the same, its model wrapped too',
      bare: turn([]),
      hooked: turn([new HooksPlugin(config)]),
    },
  ];
}

function turn(plugins) {
  const runner = new InMemoryRunner({ agent, plugins });
  return async () => {
    for await (const event of runner.runEphemeral({ userId: 'ada', newMessage })) void event;
  };
}
