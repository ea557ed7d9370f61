// npm run bench:agents [-- claude|gemini] [--rounds N]: whole runs of the agents' own programs, 20 calls of a shell each,
// in turns: without hooks, with hooks of their own, and with hookstack. Prints each time, and what it is to a run without
// hookstack: what counts is that ratio, as the machine decides the rest.
import { parseArgs } from 'node:util';
import { mkdtempSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load } from './load.mjs';
import { withAgents } from './path.mjs';

process.env.PATH = withAgents();
const { Stage } = await load('src/cli/doctor/live/stage.ts');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const agents = positionals.length > 0 ? positionals : ['claude', 'gemini'];

const CALLS = 20;
const SILENT = 'cat >/dev/null';
/** Answers at once, event after event. */
const PERSISTENT = `echo '{"hookstack":1}'; while IFS= read -r line; do id=\${line#*:}; echo "{\\"id\\":\${id%%,*}}"; done`;

function hooksOf(command, more = {}) {
  const hook = [{ hooks: [{ type: 'command', command, ...more }] }];
  return { BeforeTool: hook, AfterTool: hook };
}

/** In the format of each agent. */
const OWN = {
  claude: (hook) => ({ PreToolUse: [{ hooks: [hook] }], PostToolUse: [{ hooks: [hook] }] }),
  gemini: (hook) => ({ BeforeTool: [{ hooks: [hook] }], AfterTool: [{ hooks: [hook] }] }),
};

const cache = mkdtempSync(path.join(tmpdir(), 'hookstack-cache-'));

async function stageOf(agent, { settings, own }) {
  const stage = await Stage.open(agent, cache);
  if (own) {
    stage.write(stage.project, `.${agent}/settings.json`, { hooks: OWN[agent](own) });
  }
  if (settings) {
    stage.write(stage.home, '.llxprt/settings.json', settings);
    await stage.hookstack('install', '--into', agent);
  }
  return stage;
}

/** Answers all events itself from now on, in the place of hookstack's process that stays, and looks at none. */
async function answerAtOnce(stage, agent) {
  const options = { cwd: stage.project, env: stage.env, encoding: 'utf8', input: '{}' };
  let socket;
  // The first event starts the process that listens there.
  for (let tries = 0; tries < 100 && socket === undefined; tries += 1) {
    const { status, stdout } = spawnSync('hookstack-hook', ['status'], options);
    if (status === 0) ({ socket } = JSON.parse(stdout));
    else spawnSync('hookstack-hook', [agent], options);
  }
  await stage.hookstack('resident', 'stop');
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => client.destroy());
    client.resume().on('end', () => client.end('=0 3 0\n{}\n'));
  });
  await new Promise((resolve) => server.listen(socket, resolve));
  return server;
}

/** What is compared: `to` is the row that a ratio is to, and `goal` what it may be. */
const ROWS = [
  { name: 'no hooks' },
  // The least that any hook costs there: a process that does nothing at all.
  { name: 'own hooks: exit', own: { type: 'command', command: 'exit 0' }, to: 'no hooks' },
  // The least that a client costs which is a script and needs no Node: it starts, and asks nobody.
  {
    name: 'own hooks: sh and Perl',
    own: { type: 'command', command: 'exec /usr/bin/perl -e 0' },
    to: 'no hooks',
  },
  { name: 'own hooks: cat', own: { type: 'command', command: SILENT }, to: 'no hooks' },
  // The least that any process costs which stays and answers over a socket: it looks at nothing.
  {
    name: 'the client, answered at once',
    settings: { enableHooks: false },
    answersAtOnce: true,
    to: 'no hooks',
  },
  { name: 'hookstack, hooks off', settings: { enableHooks: false }, to: 'no hooks', goal: 1.15 },
  {
    name: 'hookstack, none matches',
    settings: {
      enableHooks: true,
      hooks: {
        BeforeTool: [{ matcher: '^no_such_tool$', hooks: [{ type: 'command', command: SILENT }] }],
      },
    },
    to: 'no hooks',
    goal: 1.15,
  },
  {
    name: 'hookstack, a silent hook',
    settings: { enableHooks: true, hooks: hooksOf(SILENT) },
    to: 'own hooks: cat',
    goal: 1.3,
  },
  {
    name: 'hookstack, a persistent hook',
    settings: { enableHooks: true, hooks: hooksOf(PERSISTENT, { persistent: true }) },
    to: 'own hooks: cat',
    goal: 1.2,
  },
  {
    name: 'hookstack, a silent hook, cold',
    settings: { enableHooks: true, hooks: hooksOf(SILENT) },
    env: { HOOKSTACK_RESIDENT: '0' },
    to: 'own hooks: cat',
  },
];

for (const agent of agents) {
  const rows = ROWS.map((row) => ({ ...row, times: [], stage: undefined }));
  const servers = [];
  for (const row of rows) row.stage = await stageOf(agent, row);
  for (const { stage, answersAtOnce } of rows) {
    if (answersAtOnce) servers.push(await answerAtOnce(stage, agent));
  }
  // Never the same twice: Gemini CLI takes that for a loop.
  const steps = Array.from({ length: CALLS }, (_, number) => [
    rows[0].stage.program.shell(`echo MARK-$((${number} + 1000))`),
  ]);
  for (let round = 0; round <= rounds; round += 1) {
    for (const row of rows) {
      const { ms, exitCode, requests, err } = await row.stage.run(steps, { env: row.env });
      const results = JSON.stringify(requests.at(-1)?.body).match(/MARK-1\d{3}/gu) ?? [];
      if (exitCode !== 0 || new Set(results).size !== CALLS) {
        throw new Error(
          `${agent}, ${row.name}: exit code ${exitCode}, ${results.length} results\n${err}`,
        );
      }
      // The first one fills caches.
      if (round > 0) row.times.push(ms);
    }
  }
  print(agent, rows);
  for (const server of servers) server.close();
  for (const { stage } of rows) await stage.remove();
}
rmSync(cache, { recursive: true, force: true });

function print(agent, rows) {
  console.log(`\n## ${agent}, ${CALLS} calls, ${rounds} rounds: median (least), in s\n`);
  console.log(
    '| | whole run | to | ratio | of the least | goal |\n| --- | --: | --- | --: | --: | --: |',
  );
  for (const { name, times, to, goal } of rows) {
    const base = rows.find((row) => row.name === to);
    const ratio = (of) => (base ? (of(times) / of(base.times)).toFixed(2) : '');
    const seconds = `${(median(times) / 1000).toFixed(2)} (${(least(times) / 1000).toFixed(2)})`;
    const cells = [name, seconds, to ?? '', ratio(median), ratio(least), goal ? `≤ ${goal}` : ''];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function median(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}

function least(times) {
  return Math.min(...times);
}
