// A secret that arrives in two chunks, and what is left of it. The model is recorded; everything else is real.
//
//   node examples/middleware-redaction/demo.mjs

import path from 'node:path';
import { GoogleGenAI } from '@google/genai';
import { Config, GeminiChat, startRecordedModel } from '../../dist/index.js';
import { redaction } from './redaction.mjs';

const SECRET = 'sk-7Hq2ZpL9';

const config = new Config();
config.use('model', redaction([SECRET]), { after: 'afterModel' });

const model = await startRecordedModel(path.join(import.meta.dirname, 'conversation.responses'));
const ai = new GoogleGenAI({ apiKey: model.apiKey, httpOptions: { baseUrl: model.baseUrl } });
const chat = new GeminiChat({ config, models: ai.models, model: 'gemini-2.5-flash' });

for await (const event of chat.sendMessageStream('Which key does the shop use?')) {
  if (event.type === 'chunk') console.log('chunk   ', JSON.stringify(event.value.text ?? ''));
  if (event.type === 'response') console.log('history ', JSON.stringify(event.turn.response.text));
}
await model.close();
