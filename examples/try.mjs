// One example at work: its settings and hooks in a scratch project, with a recorded model.
//
//   node examples/try.mjs NAME           shows the agent at work
//   node examples/try.mjs NAME --json    prints what happened, as the tests read it
//   node examples/try.mjs NAME --test    fires its recorded events, without the agent
//
// With --persistent its hooks stay for the session, where their scripts can.
//
// A folder of examples/ holds `settings.json` and `hooks/`, as they belong into a project's `.llxprt/`; `workspace/`,
// the files of the project; `service.mjs`, a service that its hooks talk to; and `scenario.json`, what the user says,
// which recorded calls of the model answer, what a person answers to questions of hooks, and what is expected to come
// of it.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const PACKAGE = path.join(import.meta.dirname, '..');
const CLI = path.join(PACKAGE, 'dist/cli.cjs');
const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const asJson = process.argv.includes('--json');
const isTest = process.argv.includes('--test');
const isPersistent = process.argv.includes('--persistent');

const folder = path.join(import.meta.dirname, names[0] ?? '');
if (names.length !== 1 || !existsSync(path.join(folder, 'scenario.json'))) {
  console.error(`Name one of the examples: ${(await listExamples()).join(', ')}`);
  process.exit(2);
}

const scratch = await realpath(await mkdtemp(path.join(os.tmpdir(), 'hookstack-example-')));
const project = path.join(scratch, 'shop');
const env = makeEnvironment();
try {
  await prepareProject();
  const service = await startService();
  if (isTest) {
    process.exitCode = await fireRecordedEvents();
    await service.stop();
  } else {
    await play(service);
  }
} finally {
  await rm(scratch, { recursive: true });
}

/** Lets the agent do what the scenario says, and tells what comes of it. */
async function play(service) {
  const { runs: scenes } = JSON.parse(await readFile(path.join(folder, 'scenario.json'), 'utf8'));
  const runs = [];
  for (const scene of scenes) runs.push(await (asJson ? record(scene) : show(scene)));
  const log = await service.stop();
  if (asJson) console.log(JSON.stringify({ runs, files: await readFiles(), service: log }));
  else showAftermath(log);
}

/** @returns the exit code of `hookstack test` */
async function fireRecordedEvents() {
  const child = spawn(process.execPath, [CLI, 'test', '--trust'], {
    cwd: project,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = await once(child, 'close');
  return code ?? 1;
}

/** The user's own hooks, keys and repositories have no part in an example. */
function makeEnvironment() {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(inherited), HOME: scratch, GIT_CONFIG_NOSYSTEM: '1' };
}

/** A repository with the example's files, committed, and its hooks. */
async function prepareProject() {
  await mkdir(path.join(project, '.llxprt'), { recursive: true });
  const workspace = path.join(folder, 'workspace');
  if (existsSync(workspace)) await cp(workspace, project, { recursive: true });
  for (const name of ['settings.json', 'hooks', ...(isTest ? ['tests'] : [])]) {
    await cp(path.join(folder, name), path.join(project, '.llxprt', name), { recursive: true });
  }
  if (isPersistent) await keepHooks(path.join(project, '.llxprt/settings.json'));
  // Where a project finds what it has installed.
  await mkdir(path.join(scratch, 'node_modules'));
  await symlink(PACKAGE, path.join(scratch, 'node_modules/hookstack'));
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  git(...author, 'commit', '--quiet', '--message=Open the shop');
}

async function keepHooks(file) {
  const settings = await readFile(file, 'utf8');
  const type = '"type": "command",';
  await writeFile(file, settings.replaceAll(type, `${type} "persistent": true,`));
}

function git(...args) {
  return execFileSync('git', args, { cwd: project, env, encoding: 'utf8' });
}

/** Starts the example's service, if it has one. The first line that it prints names the variable with its address. */
async function startService() {
  const program = path.join(folder, 'service.mjs');
  if (!existsSync(program)) return { stop: async () => [] };
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const log = [];
  const lines = createInterface({ input: child.stdout });
  const [address] = await once(lines, 'line');
  const [, name, url] = /^(\w+)=(.*)$/.exec(address);
  env[name] = url;
  lines.on('line', (line) => log.push(line));
  const stop = async () => {
    child.kill();
    await closed;
    return log;
  };
  return { stop };
}

function startAgent({ prompt, responses }, stdio, ...options) {
  const recorded = path.join(folder, responses);
  const args = ['run', prompt, '--responses', recorded, '--trust', ...options];
  return spawn(process.execPath, [CLI, ...args], { cwd: project, env, stdio });
}

/** A reader at a terminal is asked. Else questions are answered as the scenario says. */
async function show(scene) {
  console.log(`The user says: ${scene.prompt}`);
  if (scene.answers && !process.stdin.isTTY) {
    await converse(scene, tellEvent);
  } else {
    const stdio = [scene.answers ? 'inherit' : 'ignore', 'inherit', 'inherit'];
    await once(startAgent(scene, stdio), 'close');
  }
  console.log();
}

function tellEvent({ type, ...event }) {
  if (type === 'text') console.log(event.text);
  if (type === 'tool_result') console.log(`${event.name}: ${event.llmContent}`);
  if (type === 'awaiting_approval') {
    const { reason, toolName, input } = event.request;
    console.log(`A person is asked: ${reason} ${toolName} ${JSON.stringify(input)}`);
  }
  if (type === 'approval') console.log(`${event.by} says: ${event.reason ?? event.decision}`);
}

/**
 * Runs the agent, and answers its questions as the scenario says. Those that it does not know of are denied.
 *
 * @param onEvent is told at once
 */
async function converse(scene, onEvent = () => {}) {
  const answers = [...(scene.answers ?? [])];
  const options = scene.answers ? ['--approvals', 'stdin'] : [];
  const stdio = [scene.answers ? 'pipe' : 'ignore', 'pipe', 'pipe'];
  const agent = startAgent(scene, stdio, '--output-format', 'stream-json', ...options);
  const closed = once(agent, 'close');
  const warnings = text(agent.stderr);
  const events = [];
  for await (const line of createInterface({ input: agent.stdout })) {
    const event = JSON.parse(line);
    events.push(event);
    onEvent(event);
    if (event.type !== 'awaiting_approval') continue;
    const { id, sessionId } = event.request;
    const approval = answers.shift() ?? { decision: 'deny', reason: 'The scenario has no answer' };
    agent.stdin.write(`${JSON.stringify({ type: 'approval', id, sessionId, approval })}\n`);
  }
  await closed;
  return { events, warnings: await warnings, exitCode: agent.exitCode };
}

function showAftermath(log) {
  for (const line of log) console.log(`The service was sent: ${line}`);
  const changes = git('status', '--short', '--untracked-files=all').trimEnd();
  console.log(changes === '' ? 'No file was changed.' : `Changed files:\n${changes}`);
}

/** Runs the agent, and tells what the user was shown, what the model was sent, and what became of the calls. */
async function record(scene) {
  const { events, warnings, exitCode } = await converse(scene);
  const shown = events.filter(({ type }) => type === 'text').map((event) => event.text);
  const { hooks, modelCalls, ...result } = events.at(-1);
  return {
    ...result,
    modelCalls,
    exitCode,
    asked: events
      .filter(({ type }) => type === 'awaiting_approval')
      .map(({ request }) => {
        const { hooks: asking, reason, input } = request;
        return { hooks: asking.map(({ name }) => name), reason, input };
      }),
    warnings: warnings.split('\n').filter(Boolean),
    shown: shown.join(''),
    sent: modelCalls.filter((call) => !call.blocked).map(({ request }) => textsOf(request)),
    verdicts: hooks.map(({ event, hook, ...said }) => `${event} ${hook}: ${verdictOf(said)}`),
  };
}

function textsOf({ contents }) {
  return contents.flatMap(({ parts }) =>
    parts.map(({ text: said, functionCall, functionResponse }) => {
      if (functionCall) return `calls ${functionCall.name}`;
      return said ?? functionResponse.response.output ?? functionResponse.response.error;
    }),
  );
}

function verdictOf({ success, exitCode, decision }) {
  if (!success && exitCode !== 2) return 'failed';
  return decision ?? 'silent';
}

/** What is in the project now, by path; without the repository's own files. */
async function readFiles() {
  const entries = await readdir(project, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(project, path.join(entry.parentPath, entry.name)))
    .filter((file) => !/^\.(?:git|llxprt\/hooks)\//.test(file));
  const contents = files.map(async (file) => [
    file,
    await readFile(path.join(project, file), 'utf8'),
  ]);
  return Object.fromEntries(await Promise.all(contents));
}

async function listExamples() {
  const entries = await readdir(import.meta.dirname);
  return entries.filter((name) =>
    existsSync(path.join(import.meta.dirname, name, 'scenario.json')),
  );
}
