// Notification: tells a chat that the agent waits. Nobody waits for the chat: a failure is a warning, and no more.
import path from 'node:path';
import { json } from 'node:stream/consumers';

const TIME_LIMIT_MS = 3000;
const LONGEST_QUOTE = 300;

const { cwd, message, details } = await json(process.stdin);

// The address of a webhook is a secret, so it is in the environment and not in the settings.
const url = process.env.CHAT_WEBHOOK_URL;
if (!url) throw new Error('Set CHAT_WEBHOOK_URL to the address of the webhook');

const quote = details.response ? `\n> ${details.response.slice(0, LONGEST_QUOTE)}` : '';
const response = await fetch(url, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text: `${path.basename(cwd)}: ${message}${quote}` }),
  signal: AbortSignal.timeout(TIME_LIMIT_MS),
});
if (!response.ok) throw new Error(`The chat answered with status ${response.status}`);
