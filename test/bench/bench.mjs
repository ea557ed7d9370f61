// node test/bench/bench.mjs [--quick] [--json FILE] [--plot FILE] [--docs FILE]: measures the built package (dist)
// against @google/gemini-cli-core, which it installs here at the first run, and prints the result as Markdown. --docs
// also puts it between the marks in a document. Needs bash, 5 GiB of memory, and a machine that has nothing else to do.
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { measureConsentCheck } from './consentCheck.mjs';
import { holdContest } from './contests.mjs';
import { measureImport } from './importTime.mjs';
import { measureHookStart } from './hookStart.mjs';
import { installPeer } from './installPeer.mjs';
import { measureKeptMemory } from './keptMemory.mjs';
import { measureMcpProxy } from './mcpProxy.mjs';
import { measureLatencyByMemory } from './latencyByMemory.mjs';
import { drawLatency } from './plot.mjs';
import { describeMachine, formatResult, meetsGoal, replaceResult } from './report.mjs';
import { IN_PROCESS, PRESTART } from './rows.mjs';
import { withHosts } from './withHosts.mjs';

const FULL = { rounds: 150, importRounds: 50 };
const QUICK = { rounds: 4, importRounds: 1 };

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    plot: { type: 'string' },
    docs: { type: 'string' },
  },
});
const { rounds, importRounds } = values.quick ? QUICK : FULL;

const peer = installPeer();
const machine = describeMachine();
const startedAt = performance.now();
const { rows, points } = await measureEverything();
const result = {
  machine,
  peer,
  seconds: Math.round((performance.now() - startedAt) / 1000),
  rows: rows.map((row) => ({ ...row, met: meetsGoal(row) })),
  latencyByMemory: points,
};
const markdown = formatResult(result);
console.log(markdown);
if (values.json) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
if (values.plot) await writeFile(values.plot, drawLatency(points));
if (values.docs) {
  await writeFile(values.docs, replaceResult(await readFile(values.docs, 'utf8'), markdown));
}

async function measureEverything() {
  const inProcess = await withHosts(async (hosts) => {
    const measured = [];
    for (const contest of [...IN_PROCESS, PRESTART]) {
      report(contest.title);
      measured.push(await holdContest(contest, hosts, rounds));
    }
    report('memory kept');
    return [...measured, await measureKeptMemory(hosts)];
  });
  const byMemory = await withHosts((hosts) => measureLatencyByMemory(hosts, rounds, report));
  report('check of consent');
  const consentCheck = await measureConsentCheck(rounds);
  report('MCP proxy');
  const mcpProxy = await measureMcpProxy(rounds);
  report('import');
  const importTime = await measureImport(importRounds);
  report('answer of `hookstack hook`');
  const hookStart = await measureHookStart(importRounds);
  return {
    rows: [...inProcess, ...byMemory.rows, ...consentCheck, ...mcpProxy, importTime, hookStart],
    points: byMemory.points,
  };
}

function report(step) {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.error(`${String(seconds).padStart(4)} s: ${step} …`);
}
