import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { toRow } from './contests.mjs';
import { runRounds } from './rounds.mjs';

const MAIN = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const CLIENT = fileURLToPath(new URL('../../dist/hookstack-hook.sh', import.meta.url));
const EVENT = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } };
const SILENT = 'cat >/dev/null';
const OWN_PROCESS = [process.execPath, MAIN, 'hook', '--from', 'claude'];
const RESIDENT = ['/bin/sh', CLIENT, 'claude'];

/** What an agent waits for at an event, and what it is compared with. */
const CONTESTS = [
  {
    title: '`hookstack hook`, none configured, to `node -e 0`',
    goal: 1.6,
    ours: OWN_PROCESS,
    theirs: [process.execPath, '-e', '0'],
  },
  {
    title: '`hookstack hook`, a silent hook, to `node -e 0`',
    goal: 1.6,
    hooks: true,
    ours: OWN_PROCESS,
    theirs: [process.execPath, '-e', '0'],
  },
  {
    title: '`hookstack-hook`, a silent hook, to `bash -c "cat >/dev/null"`',
    goal: 4,
    hooks: true,
    ours: RESIDENT,
    theirs: ['bash', '-c', SILENT],
  },
];

const PROJECTS = 10;
const SESSIONS = 16;
const EVENTS = 1_600;

/**
 * How long an agent waits for the answer to an event; what the process that stays takes for ten projects; and how many
 * events it answers.
 *
 * @param {number} rounds
 * @returns {Promise<import('./rows.mjs').Row[]>}
 */
export async function measureHookStart(rounds) {
  const rows = [];
  for (const contest of CONTESTS) {
    rows.push(await inHome(contest.hooks, (place) => hold(contest, place, rounds)));
  }
  rows.push(...(await inHome(true, loadResident)));
  return rows;
}

async function inHome(hasHook, work) {
  const home = await mkdtemp(path.join(tmpdir(), 'hookstack-bench-'));
  const cwd = path.join(home, 'project');
  const place = { home, cwd, env: { HOME: home, PATH: process.env.PATH } };
  for (const folder of [cwd, path.join(home, '.llxprt')]) mkdirSync(folder);
  const hooks = hasHook ? { BeforeTool: [{ hooks: [{ type: 'command', command: SILENT }] }] } : {};
  const settings = JSON.stringify({ enableHooks: true, hooks });
  writeFileSync(path.join(home, '.llxprt/settings.json'), settings, { mode: 0o600 });
  try {
    return await work(place);
  } finally {
    stop(place);
    await rm(home, { recursive: true, force: true });
  }
}

async function hold(contest, place, rounds) {
  const { ours, theirs } = contest;
  if (ours === RESIDENT) startResident(place);
  // Files are read from the disk once.
  for (const words of [ours, theirs]) time(words, place);
  const samples = await runRounds(
    { ours: async () => time(ours, place), theirs: async () => time(theirs, place) },
    rounds,
  );
  return toRow(contest, samples);
}

function time([program, ...args], { cwd, env }) {
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
    input: eventIn(cwd),
    encoding: 'utf8',
  });
  const elapsedMs = performance.now() - startedAt;
  if (status !== 0 || !['', '{}\n'].includes(stdout))
    throw new Error(`${args.join(' ')}: ${stderr}`);
  return elapsedMs;
}

function eventIn(cwd, session = 's') {
  return JSON.stringify({ ...EVENT, session_id: session, cwd });
}

/** Asks until there is one. */
function startResident(place) {
  for (let tries = 0; tries < 100; tries += 1) {
    if (statusOf(place)) return;
    time(RESIDENT, place);
  }
  throw new Error('no resident has started');
}

function statusOf({ cwd, env }) {
  const { status, stdout } = spawnSync('/bin/sh', [CLIENT, 'status'], {
    cwd,
    env,
    encoding: 'utf8',
  });
  return status === 0 ? JSON.parse(stdout) : undefined;
}

function stop({ cwd, env }) {
  spawnSync('/bin/sh', [CLIENT, 'stop'], { cwd, env });
}

function only(value) {
  return { ours: [value], theirs: [value] };
}

async function loadResident(place) {
  startResident(place);
  const projects = Array.from({ length: PROJECTS }, (_, number) =>
    path.join(place.home, `p${number}`),
  );
  for (const cwd of projects) mkdirSync(cwd);
  const { events: before } = statusOf(place);
  const startedAt = performance.now();
  const numbers = Array.from({ length: EVENTS }, (_, number) => number).values();
  const session = async (name) => {
    for (const _number of numbers) await ask(projects[name % PROJECTS], `s${name}`, place);
  };
  await Promise.all(Array.from({ length: SESSIONS }, (_, name) => session(name)));
  const seconds = (performance.now() - startedAt) / 1000;
  const { events, memoryMiB } = statusOf(place);
  if (events - before !== EVENTS) throw new Error(`${events - before} of ${EVENTS} were answered`);
  return [
    {
      ...toRow({ title: `the process that stays, ${PROJECTS} projects` }, only(memoryMiB), 'MB'),
      goalAmount: 90,
    },
    {
      ...toRow(
        { title: `an event of ${SESSIONS} sessions at once, per event` },
        only(1000 / (EVENTS / seconds)),
      ),
      goalAmount: 1000 / 300,
    },
  ];
}

async function ask(cwd, session, { env }) {
  const client = spawn('/bin/sh', [CLIENT, 'claude'], {
    cwd,
    env,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  client.stdin.end(eventIn(cwd, session));
  const [code] = await once(client, 'exit');
  if (code !== 0) throw new Error(`exit code ${code}`);
}
