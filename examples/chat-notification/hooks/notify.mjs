// Notification: tells a chat that the agent waits. A chat that is down is worth a warning, and no more.
import path from 'node:path';
import { json } from 'node:stream/consumers';

const TIME_LIMIT_MS = 3000;
const LONGEST_QUOTE = 300;

const { cwd, message, details } = await json(process.stdin);
const quote = details.response ? `\n> ${details.response.slice(0, LONGEST_QUOTE)}` : '';

try {
  await post(`${path.basename(cwd)}: ${message}${quote}`);
} catch (error) {
  // The first line of stderr is in the warning.
  console.error(`The chat was not told: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}

async function post(text) {
  // The address of a webhook is a secret, so it is in the environment and not in the settings.
  const url = process.env.CHAT_WEBHOOK_URL;
  if (!url) throw new Error('set CHAT_WEBHOOK_URL to the address of the webhook');
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
  });
  if (!response.ok) throw new Error(`it answered with status ${response.status}`);
}
