import { enter, holdContest, toRow } from './contests.mjs';
import { quartilesOf, runRounds } from './rounds.mjs';

/**
 * The latency of what is drawn at one size of the host.
 *
 * @typedef {object} Point
 * @property {keyof import('./contests.mjs').Hosts} name
 * @property {number} residentMiB as it was
 * @property {import('./rounds.mjs').Quartiles} ms
 */

/**
 * Measures hooks in hosts that grow.
 *
 * @param {readonly import('./rows.mjs').AtSize[]} sizes
 * @param {import('./contests.mjs').Hosts} hosts
 * @param {number} rounds
 * @param {(title: string) => void} onProgress
 * @returns {Promise<{ rows: import('./rows.mjs').Row[], points: Point[] }>}
 */
export async function measureLatencyByMemory(sizes, hosts, rounds, onProgress) {
  const rows = [];
  const points = [];
  for (const { size, drawn, without = [], contests = [] } of sizes) {
    onProgress(drawn.title);
    const taking = Object.entries(hosts).filter(([name]) => !without.includes(name));
    const { samples, resident } = await measureAt(size, drawn, taking, rounds);
    for (const [name, ms] of Object.entries(samples)) {
      points.push({ name, residentMiB: resident[name], ms: quartilesOf(ms) });
    }
    const { peer: theirs, floor } = samples;
    const ours = samples[drawn.ours?.host ?? 'warm'];
    if (theirs) rows.push(toRow(drawn, { ours, theirs, floor }));
    for (const contest of contests) {
      onProgress(contest.title);
      rows.push(await holdContest(contest, hosts, rounds));
    }
  }
  return { rows, points };
}

/** Events come first, and then the ballast: a host grows while it becomes warm. */
async function measureAt(size, contest, hosts, rounds) {
  const contenders = {};
  const resident = {};
  for (const [name, host] of hosts) {
    contenders[name] = await enter(contest, name, host);
    resident[name] = await host.ask('fill', size);
  }
  const samples = await runRounds(contenders, Math.ceil(rounds * (contest.share ?? 1)));
  return { samples, resident };
}
