import { enter, holdContest, toRow } from './contests.mjs';
import { quartilesOf, runRounds } from './rounds.mjs';
import { BY_MEMORY } from './rows.mjs';

/**
 * The latency of one command hook at one size of the host.
 *
 * @typedef {object} Point
 * @property {'warm' | 'cold' | 'peer'} name
 * @property {number} residentMiB as it was
 * @property {import('./rounds.mjs').Quartiles} ms
 */

/**
 * Measures command hooks in hosts that grow.
 *
 * @param {import('./contests.mjs').Hosts} hosts
 * @param {number} rounds
 * @param {(title: string) => void} onProgress
 * @returns {Promise<{ rows: import('./rows.mjs').Row[], points: Point[] }>}
 */
export async function measureLatencyByMemory(hosts, rounds, onProgress) {
  const rows = [];
  const points = [];
  for (const { residentMiB, oneCommand, without = [], contests = [] } of BY_MEMORY) {
    onProgress(oneCommand.title);
    const taking = Object.entries(hosts).filter(([name]) => !without.includes(name));
    const { samples, resident } = await measureAt(residentMiB, oneCommand, taking, rounds);
    for (const [name, ms] of Object.entries(samples)) {
      points.push({ name, residentMiB: resident[name], ms: quartilesOf(ms) });
    }
    if (samples.peer) rows.push(toRow(oneCommand, { ours: samples.warm, theirs: samples.peer }));
    for (const contest of contests) {
      onProgress(contest.title);
      rows.push(await holdContest(contest, hosts, rounds));
    }
  }
  return { rows, points };
}

/** Events come first, and then the ballast: a host grows while it becomes warm. */
async function measureAt(residentMiB, contest, hosts, rounds) {
  const contenders = {};
  const resident = {};
  for (const [name, host] of hosts) {
    contenders[name] = await enter(contest, name, host);
    resident[name] = await host.ask('fill', { residentMiB });
  }
  return { samples: await runRounds(contenders, rounds), resident };
}
