// A secret that arrives in two chunks, and what is left of it. The model is recorded; everything else is real.
//
//   node examples/middleware-redaction/demo.mjs

import path from 'node:path';
import { Config, GeminiChat, readRecordedModel } from '../../dist/index.js';
import { redaction } from './redaction.mjs';

const SECRET = 'sk-7Hq2ZpL9';

const config = new Config();
config.use('model', redaction([SECRET]), { after: 'afterModel' });

const { models } = await readRecordedModel(
  path.join(import.meta.dirname, 'conversation.responses'),
);
const chat = new GeminiChat({ config, models, model: 'gemini-2.5-flash' });

for await (const event of chat.sendMessageStream('Which key does the shop use?')) {
  if (event.type === 'chunk') console.log('chunk   ', JSON.stringify(event.value.text ?? ''));
  if (event.type === 'response') console.log('history ', JSON.stringify(event.turn.response.text));
}
