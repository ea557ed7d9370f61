// A server of MCP 2026-07-28, without an SDK: there is none for servers of that version here.
import { createInterface } from 'node:readline';

const VERSION = '2026-07-28';
const cached = { ttlMs: 0, cacheScope: 'private' };
const capabilities = { tools: {}, resources: {}, prompts: {} };
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const NUMBERS = { a: { type: 'number' }, b: { type: 'number' } };
const tools = [
  { name: 'sum', inputSchema: { type: 'object', properties: NUMBERS } },
  { name: 'secret', inputSchema: { type: 'object' } },
  { name: 'confirm', inputSchema: { type: 'object' } },
];
const question = {
  method: 'elicitation/create',
  params: {
    message: 'Really?',
    requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } },
  },
};

const calls = {
  sum: ({ a, b }) => text(String(a + b)),
  secret: () => ({ ...text('{"key":"SECRET"}'), structuredContent: { key: 'SECRET' } }),
  confirm: (_args, { requestState, inputResponses }) =>
    requestState === 'mine'
      ? text(JSON.stringify(inputResponses.q))
      : { resultType: 'input_required', inputRequests: { q: question }, requestState: 'mine' },
};

const methods = {
  'server/discover': () => ({ ...cached, supportedVersions: [VERSION], capabilities }),
  'tools/list': () => ({ ...cached, tools }),
  'tools/call': (params) => calls[params.name](params.arguments ?? {}, params),
  'resources/list': () => ({ ...cached, resources: [{ uri: 'test://a', name: 'a' }] }),
  'resources/read': ({ uri }) => ({ ...cached, contents: [{ uri, text: 'A' }] }),
  'prompts/list': () => ({ ...cached, prompts: [{ name: 'p' }] }),
  'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'P' } }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = methods[method]?.(params);
  const said = result
    ? { result: { resultType: 'complete', ...result } }
    : { error: { code: -32_601, message: `There is no ${method}` } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
});
