// A chat's webhook: takes messages, and prints them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const server = createServer((request, response) => void take(request, response));
await once(server.listen(0, '127.0.0.1'), 'listening');
console.log(`CHAT_WEBHOOK_URL=http://127.0.0.1:${server.address().port}/`);

async function take(request, response) {
  const { text } = await json(request);
  console.log(JSON.stringify(text));
  response.writeHead(204).end();
}
