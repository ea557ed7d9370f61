import { enter, holdContest, toRow } from './contests.mjs';
import { quartilesOf, runRounds } from './rounds.mjs';
import { BY_MEMORY } from './rows.mjs';

/** A host that has grown by this much, in MiB, is of another size. */
const TOLERANCE_MIB = 25;

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
  for (const { residentMiB, oneCommand, contests } of BY_MEMORY) {
    onProgress(oneCommand.title);
    const { samples, resident } = await measureAt(residentMiB, oneCommand, hosts, rounds);
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

async function measureAt(residentMiB, contest, hosts, rounds) {
  const contenders = {};
  const resident = {};
  for (const [name, host] of Object.entries(hosts)) {
    const measure = await enter(contest, name, host);
    resident[name] = await host.ask('fill', { residentMiB });
    if (resident[name] <= residentMiB + TOLERANCE_MIB) contenders[name] = measure;
  }
  return { samples: await runRounds(contenders, rounds), resident };
}
