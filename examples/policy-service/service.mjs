// A policy service that lets nobody write to prod/. After two decisions it goes down.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

let decisions = 0;

const server = createServer((request, response) => void decide(request, response));
await once(server.listen(0, '127.0.0.1'), 'listening');
console.log(`POLICY_URL=http://127.0.0.1:${server.address().port}/`);

async function decide(request, response) {
  const { tool_name, tool_input } = await json(request);
  const isProduction = tool_input.file_path.startsWith('prod/');
  const verdict = isProduction
    ? { decision: 'deny', reason: 'Changes of production need a ticket.' }
    : { decision: 'allow' };
  console.log(`${tool_name} ${tool_input.file_path}: ${verdict.decision}`);
  decisions++;
  if (decisions === 2) server.close();
  response.writeHead(200, { connection: 'close' }).end(JSON.stringify(verdict));
}
