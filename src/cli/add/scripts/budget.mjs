#!/usr/bin/env node
// Stops the agent once a session has used up its calls, tokens or seconds, which "env" of the hook names.
// Each event is a line of a private file, so that events at the same time do not overwrite each other.
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

const KEPT_MS = 30 * 24 * 3600 * 1000;

const event = await json(process.stdin);
const folder = join(homedir(), '.llxprt', 'budget');
const file = join(folder, createHash('sha256').update(String(event.session_id)).digest('hex'));

mkdirSync(folder, { recursive: true, mode: 0o700 });
const calls = event.hook_event_name === 'BeforeTool' ? 1 : 0;
const usage = event.llm_response?.usageMetadata ?? {};
const tokens =
  usage.totalTokenCount ?? (usage.promptTokenCount ?? 0) + (usage.candidatesTokenCount ?? 0);
appendFileSync(file, `${Date.now()} ${calls} ${tokens}\n`, { mode: 0o600 });

const lines = readFileSync(file, 'utf8').trim().split('\n');
if (lines.length === 1) removeOld();
const events = lines.map((line) => line.split(' ').map(Number));
const used = {
  calls: sum(events.map((each) => each[1])),
  tokens: sum(events.map((each) => each[2])),
  seconds: Math.round((Date.now() - events[0][0]) / 1000),
};
for (const [what, amount] of Object.entries(used)) {
  const name = `HOOK_BUDGET_${what.toUpperCase()}`;
  const limit = Number(process.env[name] || Infinity);
  if (Number.isNaN(limit)) throw new Error(`${name} is no number: ${process.env[name]}`);
  if (amount <= limit) continue;
  const stopReason = `The budget of this session is used up: ${amount} ${what} of ${limit}. To go on, start a new session, or raise ${name} in the settings.`;
  console.log(JSON.stringify({ continue: false, stopReason }));
  break;
}

function sum(numbers) {
  return numbers.reduce((total, each) => total + (each || 0), 0);
}

function removeOld() {
  for (const name of readdirSync(folder)) {
    const old = join(folder, name);
    // Another session that starts now may have removed it.
    const { mtimeMs = Infinity } = statSync(old, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(old, { force: true });
  }
}
