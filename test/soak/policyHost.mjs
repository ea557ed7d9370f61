// node policyHost.mjs REPLACEMENTS: replaces the policy of a server again and again while agents ask it, looks whether
// each answer is that of one policy, the one that its mark names, and prints as JSON what the server is left with. Started
// by launchHost.mjs.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { exactly } from './figures.mjs';
import { compare, startServer } from './policyServer.mjs';

const ASKERS = 8;
/** So many replacements come before anything is measured. */
const WARM_UP = 100;
/** Ms within which a policy counts. */
const SOON_MS = 5000;
/** Ms that the server keeps its answers for who asks again. */
const KEPT_MS = 5000;

/** A persistent hook that says of which policy it is. */
const KEPT = `echo '{"hookstack":1}'
while read -r event; do
  id=\${event#'{"id":'}; id=\${id%%,*}
  printf '{"id":%s,"exitCode":2,"stderr":"kept of %s"}\\n' "$id" "$1"
done
`;

const replacements = Number(process.argv[2]);
const home = mkdtempSync(path.join(tmpdir(), 'hookstack-soak-'));
const file = path.join(home, 'policy.json');
const server = await startServer(
  home,
  { 'policy.json': policyOf(0), 'kept.sh': KEPT },
  ['--shadow', file],
  { isInterpreted: true },
);
const agent = new Agent({ keepAlive: true, maxSockets: ASKERS + 1 });
const versions = new Map();
const figures = { asked: 0, lost: 0, mixed: 0, late: 0 };

await replaceUnderLoad(1, WARM_UP);
const before = await server.take();
const startedAt = performance.now();
await replaceUnderLoad(WARM_UP + 1, WARM_UP + replacements);
const seconds = Math.round((performance.now() - startedAt) / 1000);
const after = await server.take();
const metrics = await ask('/metrics');
agent.destroy();
const code = await server.end();
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
    ...compare(before, after, 512),
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
  server.hangUp();
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
    const sent = request(
      server.url + place,
      { ...options, method: body ? 'POST' : 'GET' },
      (response) => {
        const { statusCode: status } = response;
        textOf(response).then((read) => resolve({ status, body: read }), reject);
      },
    );
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}
