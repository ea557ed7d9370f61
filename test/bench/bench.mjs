// node test/bench/bench.mjs [--quick] [--json FILE] [--plot FILE]: measures the built package (dist) against
// @google/gemini-cli-core, which it installs here at the first run, and prints the result as Markdown. Needs bash,
// 3 GiB of memory, and a machine that has nothing else to do.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { holdContest } from './contests.mjs';
import { measureImport } from './importTime.mjs';
import { installPeer } from './installPeer.mjs';
import { measureKeptMemory } from './keptMemory.mjs';
import { measureLatencyByMemory } from './latencyByMemory.mjs';
import { drawLatency } from './plot.mjs';
import { describeMachine, formatTable, meetsGoal } from './report.mjs';
import { IN_PROCESS, PRESTART } from './rows.mjs';
import { startHost } from './startHost.mjs';

const FULL = { rounds: 150, importRounds: 50 };
const QUICK = { rounds: 12, importRounds: 3 };

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    plot: { type: 'string' },
  },
});
const { rounds, importRounds } = values.quick ? QUICK : FULL;

installPeer();
const startedAt = performance.now();
const { rows, points } = await measureEverything();
const result = {
  machine: describeMachine(),
  seconds: Math.round((performance.now() - startedAt) / 1000),
  rows: rows.map((row) => ({ ...row, met: meetsGoal(row) })),
  latencyByMemory: points,
};
if (values.json) await writeFile(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
if (values.plot) await writeFile(values.plot, drawLatency(points));

const goals = result.rows.filter(({ met }) => met !== undefined);
console.log(`${Object.values(result.machine).join(', ')}\n\n${formatTable(rows)}\n`);
console.log(
  `${goals.filter(({ met }) => met).length} of ${goals.length} goals met, measured in ${result.seconds} s`,
);

async function measureEverything() {
  const contests = await withHosts(async (hosts) => {
    const measured = [];
    for (const contest of [...IN_PROCESS, PRESTART]) {
      report(contest.title);
      measured.push(await holdContest(contest, hosts, rounds));
    }
    return measured;
  });
  const byMemory = await withHosts((hosts) => measureLatencyByMemory(hosts, rounds, report));
  report('memory kept');
  const keptMemory = await withHosts(measureKeptMemory);
  report('import');
  const importTime = await measureImport(importRounds);
  return { rows: [...contests, ...byMemory.rows, importTime, keptMemory], points: byMemory.points };
}

async function withHosts(use) {
  const directory = await mkdtemp(path.join(tmpdir(), 'hookstack-bench-'));
  const started = await Promise.allSettled([
    startHost('hookstack', directory),
    startHost('hookstack', directory),
    startHost('geminiCliCore', directory),
  ]);
  try {
    const [warm, cold, peer] = started.map(({ value, reason }) => {
      if (reason) throw reason;
      return value;
    });
    return await use({ warm, cold, peer });
  } finally {
    for (const { value } of started) await value?.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function report(step) {
  console.error(`${step} …`);
}
