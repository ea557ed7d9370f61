// A server whose tools answer events of hooks, and one that does not behave: `node toolServer.mjs LOG`.
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const [, , log = '/dev/null'] = process.argv;
const note = (what) => appendFileSync(log, `${what}\n`);
note(`start ${process.pid}`);
process.on('exit', () => note(`end ${process.pid}`));

const server = new McpServer({ name: 'tools', version: '1' });
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const json = (value) => text(JSON.stringify(value));

server.registerTool(
  'scan',
  { inputSchema: { path: z.string(), note: z.string().optional() } },
  ({ path, note: more }) =>
    json({
      decision: 'deny',
      reason: `${path} ${more ?? ''} in ${process.cwd()} ${process.env.MODE ?? ''}`,
    }),
);
server.registerTool('pid', {}, () => json({ decision: 'deny', reason: String(process.pid) }));
server.registerTool('context', {}, () =>
  json({ hookSpecificOutput: { additionalContext: 'Seen.' } }),
);
server.registerTool('words', {}, () => text('Looks fine.'));
server.registerTool('silent', {}, () => text(''));
server.registerTool('fail', {}, () => ({ ...text('The disk is full.'), isError: true }));
server.registerTool('hang', {}, () => new Promise(() => {}));
server.registerTool('die', {}, () => process.exit(3));
server.registerTool('huge', {}, () => text('x'.repeat(20 * 1024 * 1024)));
server.registerTool(
  'structured',
  { outputSchema: { decision: z.string(), reason: z.string() } },
  () => ({
    content: [],
    structuredContent: { decision: 'deny', reason: 'structured' },
  }),
);
server.registerTool('broken', {}, () => {
  process.stdout.write('{"jsonrpc": "2.0", "id": \n');
  return new Promise(() => {});
});
server.registerTool('chatty', {}, () => {
  process.stdout.write('Listening…\n\n');
  return text('{}');
});
server.registerTool('change', {}, () => {
  server.registerTool('later', {}, () => json({ decision: 'deny', reason: 'later' }));
  return text('{}');
});
server.registerTool('deaf', {}, () => {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
  return text('{}');
});

const DENIAL = '{"decision": "deny", "reason": "denied"}';
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
const resource = { type: 'resource', resource: { uri: 'file:///a', text: DENIAL } };
server.registerTool('empty', {}, () => ({ content: [] }));
server.registerTool('image', {}, () => ({ content: [image] }));
server.registerTool('resource', {}, () => ({ content: [image, resource] }));
server.registerTool('two', {}, () => ({
  content: [...text(DENIAL).content, ...text('I looked at all of it.').content],
}));
server.registerTool('torn', { outputSchema: z.looseObject({}) }, () => ({
  ...text('{"decision": "allow"}'),
  structuredContent: JSON.parse(`{"__proto__": {"decision": "allow"}, ${DENIAL.slice(1)}`),
}));
server.registerTool('long', {}, () =>
  json({ reason: 'x'.repeat(5 * 1024 * 1024), decision: 'deny' }),
);
server.registerTool('elicits', {}, async () => {
  await server.server.elicitInput({
    message: 'Sure?',
    requestedSchema: { type: 'object', properties: {} },
  });
  return text('{}');
});
server.registerTool('samples', {}, async () => {
  const messages = [{ role: 'user', content: { type: 'text', text: 'Safe?' } }];
  await server.server.createMessage({ messages, maxTokens: 10 });
  return text('{}');
});
server.registerTool('task', {}, (extra) => {
  const result = { task: { taskId: 't', status: 'working' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: extra.requestId, result })}\n`);
  return new Promise(() => {});
});
server.registerTool('closes', {}, () => {
  process.stdout.end();
  return new Promise(() => {});
});
server.registerTool('late', {}, async () => {
  await new Promise((resolve) => void setTimeout(resolve, 1000));
  return text('{}');
});

await server.connect(new StdioServerTransport());
