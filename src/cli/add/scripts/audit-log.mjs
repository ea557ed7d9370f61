#!/usr/bin/env node
// Appends a line of JSON for each call of a tool to ~/.llxprt/audit.jsonl, which only you can read.
import { appendFileSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

/** Longer texts are cut, as contents of files would fill the log. */
const MAX_LENGTH = 500;

const event = await json(process.stdin);
const folder = join(homedir(), '.llxprt');
mkdirSync(folder, { recursive: true });
const entry = {
  time: event.timestamp,
  session: event.session_id,
  agent: event.agent,
  cwd: event.cwd,
  tool: event.tool_name,
  input: event.tool_input,
};
const line = JSON.stringify(entry, (_key, value) =>
  typeof value === 'string' && value.length > MAX_LENGTH
    ? `${value.slice(0, MAX_LENGTH)}… (${value.length} characters)`
    : value,
);
appendFileSync(join(folder, 'audit.jsonl'), `${line}\n`, { mode: 0o600 });
