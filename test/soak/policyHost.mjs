// node policyHost.mjs REPLACEMENTS: replaces the policy of a server again and again while agents ask it, looks whether
// each answer is that of one policy, the one that its mark names, and prints as JSON what the server is left with. Started
// by launchHost.mjs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atMost, exactly } from './figures.mjs';
import { waitUntil } from './processes.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const ASKERS = 8;
/** So many replacements come before anything is measured. */
const WARM_UP = 100;
/** Ms within which a policy counts. */
const SOON_MS = 5000;
/** Ms that the server keeps its answers for who asks again. */
const KEPT_MS = 5000;
/** In the server: collects what can be, at a signal, and says how many KiB of heap are left. */
const HEAP = `data:text/javascript,process.on('SIGUSR2',()=>{gc();gc();console.error('heap',Math.round(process.memoryUsage().heapUsed/1024))})`;

/** A persistent hook that says of which policy it is. */
const KEPT = `echo '{"hookstack":1}'
while read -r event; do
  id=\${event#'{"id":'}; id=\${id%%,*}
  printf '{"id":%s,"exitCode":2,"stderr":"kept of %s"}\\n' "$id" "$1"
done
`;

let said = '';
const replacements = Number(process.argv[2]);
const home = mkdtempSync(path.join(tmpdir(), 'hookstack-soak-'));
const file = path.join(home, 'policy.json');
const { server, url } = await start();
const agent = new Agent({ keepAlive: true, maxSockets: ASKERS + 1 });
const versions = new Map();
const figures = { asked: 0, lost: 0, mixed: 0, late: 0 };

await replaceUnderLoad(1, WARM_UP);
const before = await take();
const startedAt = performance.now();
await replaceUnderLoad(WARM_UP + 1, WARM_UP + replacements);
const seconds = Math.round((performance.now() - startedAt) / 1000);
const after = await take();
const metrics = await ask('/metrics');
agent.destroy();
server.kill('SIGTERM');
const [code] = await once(server, 'exit');
await waitUntil(() => childrenOf(server.pid) === 0, 5000);
const remark = `${figures.asked} questions in ${seconds} s`;
console.log(
  JSON.stringify([
    exactly(
      'Policies that were replaced under load, and did not count soon',
      0,
      figures.late,
      remark,
    ),
    exactly('Questions without an answer', 0, figures.lost),
    exactly('Answers of another policy than their mark names', 0, figures.mixed),
    exactly(
      'Policies that have answered, one version each',
      replacements + WARM_UP + 1,
      versions.size,
    ),
    exactly(
      'Policies that could not be read',
      0,
      Number(/^hookstack_policy_reload_failures_total (\d+)/mu.exec(metrics.body)?.[1]),
    ),
    atMost(
      'Resident memory of the server, growth in MiB',
      24,
      after.memoryMiB - before.memoryMiB,
      `${before.memoryMiB} → ${after.memoryMiB}`,
    ),
    atMost(
      'Its heap, growth in KiB',
      512,
      after.heapKiB - before.heapKiB,
      `${before.heapKiB} → ${after.heapKiB}`,
    ),
    atMost('Its descriptors, growth', 4, after.descriptors - before.descriptors),
    atMost('Its processes, growth', 2, after.children - before.children),
    exactly('Its exit code', 0, code),
  ]),
);
rmSync(home, { recursive: true, force: true });

function policyOf(number) {
  const rule = (name) => ({
    type: 'rule',
    name,
    decision: 'deny',
    reason: `${name} of ${number}`,
  });
  const shell = { type: 'command', command: `echo 'slow of ${number}' >&2; sleep 0.01; exit 2` };
  const kept = { type: 'command', command: `sh ./kept.sh ${number}`, persistent: true };
  const hooks = {
    BeforeTool: [
      { matcher: '^quick$', hooks: [rule('one'), rule('two')] },
      { matcher: '^slow$', hooks: [rule('one'), shell] },
      { matcher: '^kept$', hooks: [rule('one'), kept] },
    ],
    AfterTool: [{ hooks: [{ type: 'command', command: 'echo late', async: true }] }],
  };
  return JSON.stringify({ enableHooks: true, hooks });
}

/** @returns whether it counts soon */
async function replaceBy(number) {
  writeFileSync(`${file}.next`, policyOf(number));
  renameSync(`${file}.next`, file);
  server.kill('SIGHUP');
  const until = performance.now() + SOON_MS;
  while (performance.now() < until) {
    if ((await askTool('quick')) === number) return true;
    await setTimeout(2);
  }
  return false;
}

async function replaceUnderLoad(first, last) {
  const over = new AbortController();
  await askTool('quick');
  const asking = Array.from({ length: ASKERS }, (_, number) => keepAsking(number, over.signal));
  for (let number = first; number <= last; number += 1) {
    if (!(await replaceBy(number))) figures.late += 1;
  }
  over.abort();
  await Promise.all(asking);
}

async function keepAsking(number, over) {
  const tool = ['slow', 'quick', 'kept', 'quick'][number % 4];
  while (!over.aborted) {
    await askTool(tool);
    if (tool === 'kept') await ask('/v1/events/AfterTool', { ...callOf(tool), tool_response: {} });
    // The rest of the two cores is for replacing.
    if (tool === 'quick') await setTimeout(1);
  }
}

/** @returns the number of the policy that has answered */
async function askTool(tool) {
  figures.asked += 1;
  try {
    const { status, body } = await ask('/v1/events/BeforeTool', callOf(tool));
    const { reason = '', decision, hookstack } = JSON.parse(body);
    const numbers = new Set(
      Array.from(reason.matchAll(/(?:one|two|slow|kept) of (\d+)/gu), ([, each]) => each),
    );
    const [number] = numbers;
    const isWhole = status === 200 && numbers.size === 1 && hookstack.hooks.length === 2;
    const version = versions.get(number) ?? hookstack.policy;
    versions.set(number, version);
    const isOf = version === hookstack.policy && /deny|block/u.test(decision);
    if (!isWhole || !isOf) {
      figures.mixed += 1;
      console.error(status, body);
    }
    return Number(number);
  } catch (error) {
    figures.lost += 1;
    console.error(String(error));
    return undefined;
  }
}

function callOf(tool) {
  return { tool_name: tool, tool_input: {}, session_id: tool };
}

function ask(place, body) {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Hookstack-Timeout': String(KEPT_MS) };
    const options = { agent, headers };
    const sent = request(url + place, { ...options, method: body ? 'POST' : 'GET' }, (response) => {
      const { statusCode: status } = response;
      textOf(response).then((read) => resolve({ status, body: read }), reject);
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

async function start() {
  writeFileSync(file, policyOf(0));
  writeFileSync(path.join(home, 'kept.sh'), KEPT);
  // Code that is compiled again and again would be seen as growth.
  const options = ['--expose-gc', '--no-opt', '--no-sparkplug', '--import', HEAP, CLI];
  const args = ['--settings', file, '--shadow', file, '--listen', '127.0.0.1:0', '--no-watch'];
  const child = spawn(process.execPath, [...options, 'serve', ...args], {
    cwd: home,
    env: { HOME: home, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-4096)));
  const [line] = await once(child.stdout, 'data');
  return { server: child, url: /http:\S+/u.exec(String(line))[0] };
}

/** What it has in the end of a load; its heap once nothing is asked, and no answer is kept any more. */
async function take() {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  await setTimeout(KEPT_MS + 1000);
  said = '';
  server.kill('SIGUSR2');
  await waitUntil(() => /^heap \d+$/mu.test(said), 10_000);
  return {
    heapKiB: Number(/^heap (\d+)$/mu.exec(said)[1]),
    memoryMiB: Math.round(Number(/^VmRSS:\s+(\d+)/mu.exec(status)[1]) / 1024),
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
    children: childrenOf(server.pid),
  };
}

function childrenOf(parent) {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(parent)], {
    encoding: 'utf8',
  });
  return stdout.split('\n').filter((line) => line.trim() !== '').length;
}
