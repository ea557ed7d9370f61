// node test/bench/bench.mjs [events] [turns] [fleet] [rules] [--quick] [--json FILE] [--plots DIRECTORY]: measures the
// built package (dist) against @google/gemini-cli-core, which it installs here at the first run, and prints the result as
// Markdown: of single events, of whole turns, of questions to policy servers (against bare servers, without the peer), of
// rules (against the engine of Cedar), or of all. Needs bash, jq, python3, nats-server, 5 GiB of memory, and a machine that
// has nothing else to do.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { measureConsentCheck } from './consentCheck.mjs';
import { holdContest } from './contests.mjs';
import { measureFleet } from './fleet.mjs';
import { brokerVersion } from './fleet/startBroker.mjs';
import { measureImport } from './importTime.mjs';
import { measureHookStart } from './hookStart.mjs';
import { installPeer } from './installPeer.mjs';
import { measureKeptMemory } from './keptMemory.mjs';
import { measureMcpProxy } from './mcpProxy.mjs';
import { measureLatencyByMemory } from './latencyByMemory.mjs';
import { drawLatency } from './plot.mjs';
import { measureRules } from './rules.mjs';
import { describeMachine, formatResult, meetsGoal, reportStep } from './report.mjs';
import {
  BY_MEMORY,
  IN_PROCESS,
  PERSISTENT,
  PRESTART,
  STARTS,
  TURNS,
  TURNS_OF_OBJECTS,
} from './rows.mjs';
import { withHosts } from './withHosts.mjs';

const FULL = { rounds: 150, importRounds: 50 };
const QUICK = { rounds: 4, importRounds: 1 };

const PARTS = {
  events: {
    measure: measureEvents,
    plot: 'performance.svg',
    plotted: 'One command hook: ms from event to answer',
  },
  turns: {
    measure: measureTurns,
    plot: 'performance.turn.svg',
    plotted: 'A turn with five bash scripts: ms that the agent waits',
  },
  fleet: {
    measure: (onProgress) => measureFleet(rounds, onProgress),
    findPeer: () => `bare servers of Node and ${brokerVersion()}`,
  },
  rules: {
    measure: (onProgress) => measureRules(rounds, onProgress),
    findPeer: () => installPeer('@cedar-policy/cedar-wasm'),
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    plots: { type: 'string' },
  },
});
const { rounds, importRounds } = values.quick ? QUICK : FULL;
const parts = positionals.length > 0 ? positionals : Object.keys(PARTS);
const unknown = parts.find((part) => !Object.hasOwn(PARTS, part));
if (unknown) throw new Error(`There is no ${unknown}: name ${Object.keys(PARTS).join(' or ')}`);

const results = {};
for (const part of parts) {
  const { measure, plot, plotted, findPeer = installPeer } = PARTS[part];
  const peer = findPeer();
  const machine = describeMachine();
  const startedAt = performance.now();
  const { rows, points, tables } = await measure((step) => reportStep(step, startedAt));
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const measured = rows.map((row) => ({ ...row, met: meetsGoal(row) }));
  results[part] = { machine, peer, seconds, rows: measured, tables, latencyByMemory: points };
  console.log(`${formatResult(results[part])}\n`);
  if (values.plots && plot)
    await writeFile(path.join(values.plots, plot), drawLatency(plotted, points));
}
if (values.json) await writeFile(values.json, `${JSON.stringify(results, undefined, 2)}\n`);

async function measureEvents(onProgress) {
  const inProcess = await withHosts(async (hosts) => {
    const measured = await holdContests([...IN_PROCESS, PRESTART], hosts, onProgress);
    onProgress('memory kept');
    return [...measured, await measureKeptMemory(hosts)];
  });
  const byMemory = await measureSizes(BY_MEMORY, onProgress);
  const starts = await measureSizes(STARTS, onProgress);
  onProgress('check of consent');
  const consentCheck = await measureConsentCheck(rounds);
  onProgress('MCP proxy');
  const mcpProxy = await measureMcpProxy(rounds);
  onProgress('import');
  const importTime = await measureImport(importRounds);
  onProgress('answer of `hookstack hook`');
  const hookStarts = await measureHookStart(importRounds);
  return {
    rows: [
      ...inProcess,
      ...byMemory.rows,
      ...starts.rows,
      ...consentCheck,
      ...mcpProxy,
      importTime,
      ...hookStarts,
    ],
    points: byMemory.points,
  };
}

async function measureTurns(onProgress) {
  const persistent = await withHosts((hosts) => holdContests(PERSISTENT, hosts, onProgress));
  const byMemory = await measureSizes(TURNS, onProgress);
  const ofObjects = await measureSizes(TURNS_OF_OBJECTS, onProgress);
  return { rows: [...byMemory.rows, ...ofObjects.rows, ...persistent], points: byMemory.points };
}

function measureSizes(sizes, onProgress) {
  return withHosts((hosts) => measureLatencyByMemory(sizes, hosts, rounds, onProgress));
}

async function holdContests(contests, hosts, onProgress) {
  const measured = [];
  for (const contest of contests) {
    onProgress(contest.title);
    measured.push(await holdContest(contest, hosts, rounds));
  }
  return measured;
}
