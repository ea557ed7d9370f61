import { toRow } from '../contests.mjs';
import { toDigits } from '../report.mjs';
import { quartilesOf, runRounds } from '../rounds.mjs';
import { readCpu } from './cpu.mjs';
import { RULED, UNGUARDED } from './question.mjs';

const WARM_UP_MS = 1500;

/** What nobody can be faster than, what is asked of a server, and how many times as long that may take. */
const WAYS = [
  { title: 'HTTP', bare: 'bareHttp', ours: 'http', goals: { 1: 1.3, 8: 1.5, 64: 1.5 } },
  { title: 'NATS', bare: 'bareNats', ours: 'natsRequest', goals: { 1: 1.2, 8: 1.2, 64: 1.2 } },
];

const SIDES = [
  { title: 'no hook matches', side: 'ours', tool: UNGUARDED },
  { title: 'a rule denies', side: 'ours', tool: RULED },
  { side: 'bare', tool: UNGUARDED },
];

/**
 * A server against a bare one, by questions in flight: over HTTP each has a connection of its own.
 *
 * @param {import('../fleet.mjs').Fleet} fleet
 * @param {import('../startProcess.mjs').Host} asker
 * @param {number} rounds
 * @param {(step: string) => void} onProgress
 * @returns {Promise<{ rows: import('../rows.mjs').Row[], table: string[][] }>}
 */
export async function measureRatios({ servers, bare }, asker, rounds, onProgress) {
  const pids = { bare: [bare.pid], ours: [servers.ONE[0].pid] };
  const rows = [];
  const table = [['µs of the processor of a server for a question', 'bare', 'ours', 'ratio']];
  for (const way of WAYS) {
    for (const side of ['bare', 'ours']) {
      await asker.ask('open', { name: way[side], scenario: way[side], warmUpMs: WARM_UP_MS });
    }
    for (const [inFlight, goal] of Object.entries(way.goals)) {
      onProgress(`${way.title}, ${inFlight} in flight`);
      const contenders = SIDES.map(({ side, tool }, index) => {
        const flood = { name: way[side], inFlight: Number(inFlight), tool };
        return [index, (forMs = 300) => measureFlood(asker, flood, pids[side], forMs)];
      });
      for (const [, measure] of contenders) await measure(WARM_UP_MS);
      const measured = await runRounds(Object.fromEntries(contenders), rounds < 10 ? 4 : 20);
      const all = Object.values(measured);
      const [theirs] = all.slice(-1);
      for (const [index, { title }] of SIDES.slice(0, -1).entries()) {
        const name = `question over ${way.title}, ${inFlight} in flight, ${title}, to a bare server`;
        const times = { ours: timesOf(all[index]), theirs: timesOf(theirs) };
        rows.push(toRow({ title: name, goal }, times));
        const cpu = [theirs, all[index]].map(
          (each) => quartilesOf(each.map((s) => s.cpuMs)).median,
        );
        const digits = cpu.map((ms) => toDigits(ms * 1000));
        table.push([
          `${way.title}, ${inFlight} in flight, ${title}`,
          ...digits,
          toDigits(cpu[1] / cpu[0]),
        ]);
      }
    }
  }
  return { rows, table };
}

async function measureFlood(asker, flood, pids, forMs) {
  const before = readCpu(pids);
  const { latencies, elapsedMs } = await asker.ask('flood', { ...flood, forMs });
  const count = latencies.length;
  return { ms: elapsedMs / count, cpuMs: (readCpu(pids) - before) / count };
}

function timesOf(samples) {
  return samples.map(({ ms }) => ms);
}
