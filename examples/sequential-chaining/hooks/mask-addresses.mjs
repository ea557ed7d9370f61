// BeforeModel, first of the chain: e-mail addresses do not leave the house.
import { json } from 'node:stream/consumers';

const { llm_request: request } = await json(process.stdin);

const messages = request.messages.map((message) => ({
  ...message,
  content: message.content.replaceAll(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[e-mail address]'),
}));

console.log(JSON.stringify({ hookSpecificOutput: { llm_request: { messages } } }));
