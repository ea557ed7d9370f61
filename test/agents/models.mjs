// Loopback stand-ins for the APIs of two models. A prompt carries a script, `SCRIPT:[…]:END`: its entry n is what the
// model says after n answers of its own, a text or calls of tools.
import { createServer } from 'node:http';
import { once } from 'node:events';

const SCRIPT = /SCRIPT:(\[[^]*\]):END/;

/** What a prompt says for `steps`, each a list of `{ text }` and `{ name, input }`. */
export function promptFor(steps) {
  return `SCRIPT:${JSON.stringify(steps)}:END`;
}

/** @returns the parts of the next answer */
function nextOf(messages, modelRole) {
  let script;
  let since = 0;
  for (const [index, message] of messages.entries()) {
    const found = message.role === 'user' && SCRIPT.exec(textIn(message));
    if (found) [script, since] = [JSON.parse(found[1]), index];
  }
  const said = messages.slice(since).filter(({ role }) => role === modelRole).length;
  return script?.[said] ?? [{ text: 'Done.' }];
}

function textIn({ content, parts }) {
  if (typeof content === 'string') return content;
  return (content ?? parts ?? []).map(({ text = '' }) => text).join('\n');
}

async function listen(answer) {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      answer(request.url, text === '' ? {} : JSON.parse(text), response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Answers as Anthropic's API does. Requests without tools are for titles. */
export function anthropicModel() {
  let id = 0;
  return listen((url, body, response) => {
    if (url.includes('count_tokens')) return sendJson(response, 200, { input_tokens: 1 });
    if (!url.startsWith('/v1/messages')) return sendJson(response, 404, {});
    const parts = body.tools?.length ? nextOf(body.messages, 'assistant') : [{ text: 'A title' }];
    const content = parts.map((part) =>
      part.text === undefined
        ? { type: 'tool_use', id: `toolu_${(id += 1)}`, ...part }
        : { type: 'text', text: part.text },
    );
    const usesTools = content.some(({ type }) => type === 'tool_use');
    const message = {
      id: `msg_${(id += 1)}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content,
      stop_reason: usesTools ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    if (!body.stream) return sendJson(response, 200, message);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type, fields) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    send('message_start', { message: { ...message, content: [], stop_reason: null } });
    for (const [index, block] of content.entries()) {
      const isText = block.type === 'text';
      const start = isText ? { ...block, text: '' } : { ...block, input: {} };
      send('content_block_start', { index, content_block: start });
      const delta = isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
      send('content_block_delta', { index, delta });
      send('content_block_stop', { index });
    }
    const { stop_reason } = message;
    send('message_delta', {
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 1 },
    });
    send('message_stop', {});
    response.end();
  });
}

/** What Gemini CLI asks a model besides the prompt: who speaks next, and how hard the task is. */
const ROUTING = {
  reasoning: '-',
  next_speaker: 'user',
  complexity_reasoning: '-',
  complexity_score: 1,
  model_choice: 'flash',
};

/** Answers as Gemini's API does. */
export function geminiModel() {
  return listen((url, body, response) => {
    if (url.includes('countTokens')) return sendJson(response, 200, { totalTokens: 1 });
    if (!/generateContent/i.test(url)) return sendJson(response, 404, {});
    const { responseMimeType, responseJsonSchema } = body.generationConfig ?? {};
    const isRouting = responseMimeType === 'application/json' || responseJsonSchema;
    const said = isRouting ? [{ text: JSON.stringify(ROUTING) }] : nextOf(body.contents, 'model');
    const parts = said.map(({ text, name, input }) =>
      text === undefined ? { functionCall: { name, args: input } } : { text },
    );
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    if (!url.includes('stream')) return sendJson(response, 200, answer);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(answer)}\n\n`);
  });
}
