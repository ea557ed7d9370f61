import '../hostsFromHere.mjs';
import { AIMessage, createAgent, fakeModel, tool } from 'langchain';
import { Config } from '../../../dist/index.js';

const { hooksMiddleware } = await import('../../../dist/langchain.js');

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const read = tool(({ path }) => `The text of ${path}`, { name: 'read', schema });
const input = { messages: [{ role: 'user', content: 'Go.' }] };
const calls = [{ name: 'read', args: { path: 'notes.txt' } }];

/** A turn of the agent: a tool call, and an answer. */
export function rows() {
  const elsewhere = [{ matcher: '^write$', hooks: [{ type: 'command', command: 'exit 0' }] }];
  const hooks = { BeforeTool: elsewhere, AfterTool: elsewhere };
  const hooked = hooksMiddleware(new Config({ enableHooks: true, hooks }));
  // What is measured for a tool call is what hooks add to it alone.
  const toolsOnly = { ...hooked, wrapModelCall: undefined };
  return [
    {
      title: 'LangChain: a turn with a tool call, its tools wrapped',
      isToolCall: true,
      bare: turn([]),
      hooked: turn([toolsOnly]),
    },
    {
      title: 'LangChain: the same, with a middleware that does nothing, and no hooks',
      bare: turn([]),
      hooked: turn([{ name: 'nothing', wrapToolCall: (request, handler) => handler(request) }]),
    },
    { title: 'LangChain: the same, its model wrapped too', bare: turn([]), hooked: turn([hooked]) },
  ];
}

function turn(middleware) {
  const model = fakeModel();
  const agent = createAgent({ model, tools: [read], middleware });
  return () => {
    model.respondWithTools(calls).respond(new AIMessage('Done.'));
    return agent.invoke(input);
  };
}
