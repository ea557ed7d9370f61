import { toRow } from '../contests.mjs';
import { toDigits } from '../report.mjs';
import { quartilesOf, runRounds } from '../rounds.mjs';
import { listDescendants, readCpu } from './cpu.mjs';
import { formatLatency } from './latencies.mjs';
import { GUARDED } from './question.mjs';

/** Questions in flight. */
const IN_FLIGHT = 64;
const WARM_UP_MS = 500;

/** What is asked, and who answers it. */
const LOADS = [
  { title: 'bare server over HTTP', way: 'bareHttp', bare: true },
  { title: 'one server over HTTP', way: 'http', group: 'ONE' },
  { title: 'bare request/reply over NATS', way: 'bareNats', bare: true },
  { title: '1 server over NATS', way: 'nats', group: 'ONE' },
  { title: '2 servers over NATS', way: 'nats', group: 'TWO' },
  { title: '4 servers over NATS', way: 'nats', group: 'FOUR' },
  { title: '1 server over NATS, a persistent hook', way: 'nats', group: 'ONE', tool: GUARDED },
  { title: '2 servers over NATS, a persistent hook', way: 'nats', group: 'TWO', tool: GUARDED },
  { title: '4 servers over NATS, a persistent hook', way: 'nats', group: 'FOUR', tool: GUARDED },
];

/** Ms of the processor for a question, by who takes them. */
const TAKERS = ['server', 'hooks', 'broker', 'asker'];

/**
 * As many questions as there can be, and what each costs.
 *
 * @param {import('../fleet.mjs').Fleet} fleet
 * @param {import('../startProcess.mjs').Host} asker
 * @param {number} rounds
 * @param {(step: string) => void} onProgress
 * @returns {Promise<{ rows: import('../rows.mjs').Row[], table: string[][] }>}
 */
export async function measureThroughput(fleet, asker, rounds, onProgress) {
  const isQuick = rounds < 10;
  const contenders = {};
  for (const load of LOADS) {
    onProgress(`${IN_FLIGHT} in flight: ${load.title}`);
    const name = `flood: ${load.title}`;
    const scenario = `${load.way} ${load.group ?? 'ONE'}`;
    await asker.ask('open', { name, scenario, warmUpMs: WARM_UP_MS });
    const { tool } = load;
    const flood = (forMs) => asker.ask('flood', { name, inFlight: IN_FLIGHT, tool, forMs });
    await flood(WARM_UP_MS);
    contenders[load.title] = () => measureFlood(fleet, load, () => flood(isQuick ? 500 : 1500));
  }
  onProgress(`${IN_FLIGHT} in flight, in rounds`);
  const measured = await runRounds(contenders, isQuick ? 1 : 4);
  return { rows: compare(measured), table: tabulate(measured) };
}

async function measureFlood({ broker, servers, bare }, load, flood) {
  const pids = load.bare ? [bare.pid] : servers[load.group].map(({ pid }) => pid);
  const hooks = pids.flatMap(listDescendants);
  const readAll = () => [readCpu(pids), readCpu(hooks), readCpu([broker.pid])];
  const before = readAll();
  const { latencies, elapsedMs, cpuMs } = await flood();
  const taken = [...readAll().map((ms, index) => ms - before[index]), cpuMs];
  const costs = TAKERS.map((taker, index) => [taker, taken[index] / latencies.length]);
  return {
    perSecond: (latencies.length / elapsedMs) * 1000,
    latencies,
    ...Object.fromEntries(costs),
  };
}

/** What a server takes of the processor, as against a bare one. */
function compare(measured) {
  const server = (title) => measured[title].map((sample) => sample.server);
  const title = 'processor of a server for a question, 64 in flight, to that of a bare one';
  return [
    toRow(
      { title: `${title}: HTTP` },
      { ours: server('one server over HTTP'), theirs: server('bare server over HTTP') },
    ),
    toRow(
      { title: `${title}: NATS` },
      { ours: server('1 server over NATS'), theirs: server('bare request/reply over NATS') },
    ),
  ];
}

function tabulate(measured) {
  const head = [
    `${IN_FLIGHT} questions in flight`,
    'a second (quartiles)',
    'p50',
    'p99',
    'µs of the processor for a question: servers',
    'their hooks',
    'NATS',
    'who asks',
  ];
  const lines = LOADS.map(({ title }) => {
    const samples = measured[title];
    const { lower, median, upper } = quartilesOf(samples.map(({ perSecond }) => perSecond));
    const [p50, p99] = formatLatency(samples.flatMap(({ latencies }) => latencies));
    const costs = TAKERS.map((taker) => {
      const ms = quartilesOf(samples.map((sample) => sample[taker])).median;
      return ms < 0.001 ? '' : toDigits(ms * 1000);
    });
    const rate = `**${toDigits(median)}** (${toDigits(lower)} to ${toDigits(upper)})`;
    return [title, rate, p50, p99, ...costs];
  });
  return [head, ...lines];
}
