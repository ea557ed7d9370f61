// BeforeModel: no e-mail address leaves this machine.
import { json } from 'node:stream/consumers';

const { llm_request: request } = await json(process.stdin);

const messages = request.messages.map(({ role, content }) => ({
  role,
  content: content.replaceAll(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[e-mail address]'),
}));

console.log(JSON.stringify({ hookSpecificOutput: { llm_request: { messages } } }));
