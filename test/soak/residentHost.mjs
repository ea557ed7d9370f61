// node residentHost.mjs EVENTS: hands events of several sessions to `hookstack-hook`, looks whether each has its own
// answer, and prints as JSON what is left behind by the process that stays. Started by launchHost.mjs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, exactly } from './figures.mjs';
import { waitUntil } from './processes.mjs';

const CLIENT = fileURLToPath(new URL('../../dist/hookstack-hook.sh', import.meta.url));
const SESSIONS = 8;
/** So many events come before anything is measured. */
const WARM_UP = 500;
/** Says the number of its event, as the reason of a denial. */
const ECHO = `sed 's/.*"command":"\\([0-9]*\\)".*/\\1/' >&2; exit 2`;

const events = Number(process.argv[2]);
const home = mkdtempSync(path.join(tmpdir(), 'hookstack-soak-'));
const env = { HOME: home, PATH: process.env.PATH };
const hooks = { BeforeTool: [{ hooks: [{ type: 'command', command: ECHO, onFailure: 'deny' }] }] };
mkdirSync(path.join(home, '.llxprt'));
const settings = JSON.stringify({ enableHooks: true, hooks });
writeFileSync(path.join(home, '.llxprt/settings.json'), settings, { mode: 0o600 });

for (let tries = 0; tries < 100 && !look(); tries += 1) await ask(0, 0);
await askAll(WARM_UP);
const before = take();
const startedAt = performance.now();
const asExpected = await askAll(events);
const seconds = Math.round((performance.now() - startedAt) / 1000);
const after = take();
const { pid } = look();
spawnSync('/bin/sh', [CLIENT, 'stop'], { cwd: home, env });
await waitUntil(() => !isAlive(pid), 20_000);
console.log(
  JSON.stringify([
    exactly('Events of agents with their own answer', events, asExpected, `${seconds} s`),
    exactly('of them answered by the process that stays', events, after.events - before.events),
    atMost(
      'Its resident memory, growth in MiB',
      24,
      after.memoryMiB - before.memoryMiB,
      `${before.memoryMiB} → ${after.memoryMiB}`,
    ),
    atMost('Its descriptors, growth', 4, after.descriptors - before.descriptors),
    exactly(
      'Sockets left',
      0,
      readdirSync(path.join(home, '.llxprt/run')).filter((name) => name.endsWith('.sock')).length,
    ),
    exactly('Processes left', 0, isAlive(pid) ? 1 : 0),
  ]),
);
rmSync(home, { recursive: true, force: true });

async function askAll(count) {
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  let own = 0;
  const work = async (session) => {
    for (const number of numbers) if (await ask(number, session)) own += 1;
  };
  await Promise.all(Array.from({ length: SESSIONS }, (_, session) => work(session)));
  return own;
}

/** @returns whether the answer is that of this event */
async function ask(number, session) {
  const client = spawn('/bin/sh', [CLIENT, 'claude'], {
    cwd: home,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let out = '';
  client.stdout.on('data', (chunk) => (out += chunk));
  client.stdin.end(
    JSON.stringify({
      session_id: `s${session}`,
      cwd: home,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: String(number) },
    }),
  );
  const [code] = await once(client, 'close');
  return code === 0 && out.includes(`"permissionDecisionReason":"${number}"`);
}

function look() {
  const { status, stdout } = spawnSync('/bin/sh', [CLIENT, 'status'], {
    cwd: home,
    env,
    encoding: 'utf8',
  });
  return status === 0 ? JSON.parse(stdout) : undefined;
}

function take() {
  const { pid: of, memoryMiB, events: answered } = look();
  return { memoryMiB, events: answered, descriptors: readdirSync(`/proc/${of}/fd`).length };
}

function isAlive(of) {
  try {
    process.kill(of, 0);
    return true;
  } catch {
    return false;
  }
}
