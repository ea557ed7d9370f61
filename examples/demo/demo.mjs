// An agent at work, and what its hooks make of it. The model is recorded; everything else is real.
//
//   node examples/demo/demo.mjs [--persistent] [WORKSPACE]
//
// WORKSPACE is the directory to work on, a copy of it rather; without it, ./workspace. With --persistent, the hooks in
// JavaScript and Python stay for the session.

import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  Config,
  formatProblem,
  loadSettings,
  readRecordedModel,
  referenceTools,
  runAgent,
} from '../../dist/index.js';
import { Account } from './account.mjs';
import { reportEffects } from './effects.mjs';

const PROMPT = 'I am ada@example.com. Sum up the orders of today in summary.md.';

const PACKAGE = path.join(import.meta.dirname, '../..');

const words = process.argv.slice(2);
const isPersistent = words.includes('--persistent');
const prepared =
  words.find((word) => word !== '--persistent') ?? path.join(import.meta.dirname, 'workspace');
const temporary = await realpath(await mkdtemp(path.join(os.tmpdir(), 'hookstack-demo-')));
const model = await readRecordedModel(path.join(import.meta.dirname, 'conversation.responses'));
try {
  const workingDir = path.join(temporary, 'shop');
  await cp(prepared, workingDir, { recursive: true });
  if (isPersistent) await keepHooks(path.join(workingDir, '.llxprt/settings.json'));
  // Where a project finds what it has installed.
  await mkdir(path.join(temporary, 'node_modules'));
  await symlink(PACKAGE, path.join(temporary, 'node_modules/hookstack'));
  const account = new Account();
  const result = await work(workingDir, account);
  const { requests } = model;
  process.exitCode = reportEffects({ prompt: PROMPT, workingDir, result, requests, account });
} finally {
  await rm(temporary, { recursive: true });
}

/** One key for each hook whose script can. */
async function keepHooks(file) {
  const settings = await readFile(file, 'utf8');
  const command = /("command": "(?:node|python3) [^"]*")/g;
  await writeFile(file, settings.replaceAll(command, '$1, "persistent": true'));
}

async function work(workingDir, account) {
  const { settings, problems } = await loadSettings({
    workingDir,
    // The prepared hooks only: neither those of the user nor those of the system.
    home: temporary,
    systemPath: path.join(temporary, 'none'),
    trustProject: true,
  });
  for (const problem of problems) console.error(formatProblem(problem));

  const config = new Config({ ...settings, workingDir, trustedFolder: true });
  account.watch(config);
  console.log(`The user says: ${PROMPT}`);
  return runAgent({
    config,
    models: model.models,
    model: 'gemini-2.5-flash',
    prompt: PROMPT,
    tools: referenceTools,
    onEvent: (event) => account.tell(event),
  });
}
