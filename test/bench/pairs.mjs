import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { enter, toRow } from './contests.mjs';
import { runRounds } from './rounds.mjs';
import { startHost } from './startHost.mjs';
import { withProcesses } from './withHosts.mjs';

/**
 * What V8 compiles, and where memory lies, differs from one process to the next, and stays for its life: of one pair
 * alone, that would be taken for a difference of the builds. Of two such pairs each build is opened first in one, so
 * 20 and 100 rounds give both as often.
 */
const ROUNDS_OF_A_PROCESS = 5;

/**
 * Measures two builds of the package in one row, each in processes of its own.
 *
 * @param {import('./rows.mjs').Pair} pair
 * @param {{ old: string, new: string }} checkouts that are built
 * @param {number} rounds
 * @param {number} limit the ratio of new to old that is still good
 * @returns {Promise<import('./rows.mjs').Row>} the new build is ours
 */
export async function measurePair(pair, checkouts, rounds, limit) {
  const samples = { old: [], new: [] };
  const names = Object.keys(samples);
  for (let left = rounds; left > 0; left -= ROUNDS_OF_A_PROCESS) {
    const starts = names.map((name) => [name, (within) => startBuild(name, checkouts, within)]);
    const measured = await withProcesses(Object.fromEntries(starts), (hosts) =>
      runPair(pair, hosts, Math.min(left, ROUNDS_OF_A_PROCESS)),
    );
    for (const name of names) samples[name].push(...measured[name]);
    names.reverse();
  }
  return toRow({ title: pair.title, goal: limit }, { ours: samples.new, theirs: samples.old });
}

/** A home of its own: what one build keeps there is nothing to the other. */
async function startBuild(name, checkouts, within) {
  const home = path.join(within, name);
  await mkdir(home);
  return startHost('hookstack', home, checkouts[name]);
}

/** Events come first, and then the ballast: a host grows while it becomes warm. */
async function runPair(pair, hosts, rounds) {
  const contenders = {};
  for (const [name, host] of Object.entries(hosts)) {
    contenders[name] = await enter(pair, pair.isCold ? 'cold' : 'warm', host);
    if (pair.size) await host.ask('fill', pair.size);
  }
  return runRounds(contenders, rounds);
}
