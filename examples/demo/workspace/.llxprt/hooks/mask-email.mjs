// BeforeModel: no e-mail address leaves this machine.
import { defineHook } from 'hookstack/author';

await defineHook('BeforeModel', ({ llm_request: request }) => {
  const messages = request.messages.map(({ role, content }) => ({
    role,
    content: content.replaceAll(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[e-mail address]'),
  }));
  return { hookSpecificOutput: { llm_request: { messages } } };
});
