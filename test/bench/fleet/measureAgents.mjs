import { toDigits } from '../report.mjs';
import { listDescendants, readCpu, readMemory } from './cpu.mjs';
import { formatLatency } from './latencies.mjs';
import { AGENTS } from './startBroker.mjs';

const GROUP = 'TWO';
const PROCESSES = 4;
/** Of which the model takes most. */
const TURN_MS = 5000;

/**
 * A thousand agents with a connection each, which ask five questions in a turn of five seconds. A persistent hook looks
 * at one of the five.
 *
 * @param {import('../fleet.mjs').Fleet} fleet
 * @param {number} rounds
 * @returns {Promise<string[][]>} a table
 */
export async function measureAgents({ broker, servers, startAsker }, rounds) {
  const names = Array.from({ length: AGENTS }, (_, index) => `a${index}`);
  const size = AGENTS / PROCESSES;
  const pids = servers[GROUP].map(({ pid }) => pid);
  const before = readMemory(broker.pid);
  const askers = [];
  for (let at = 0; at < AGENTS; at += size) {
    const asker = await startAsker(`agents ${at}`);
    await asker.ask('connect', { group: GROUP, agents: names.slice(at, at + size) });
    askers.push(asker);
  }
  const takers = { server: pids, hooks: pids.flatMap(listDescendants), broker: [broker.pid] };
  const readAll = () => Object.values(takers).map(readCpu);
  const cpuBefore = readAll();
  const forMs = rounds < 10 ? TURN_MS : 3 * TURN_MS;
  const startedAt = performance.now();
  const turns = askers.map((asker) => asker.ask('simulate', { turnMs: TURN_MS, forMs }));
  const memory = await memoryMeanwhile(forMs, () => [broker.pid, ...pids].map(readMemory));
  const all = await Promise.all(turns);
  const elapsedMs = performance.now() - startedAt;
  const plain = all.flatMap((each) => each.plain);
  const guarded = all.flatMap((each) => each.guarded);
  const count = plain.length + guarded.length;
  const taken = readAll().map((ms, index) => ms - cpuBefore[index]);
  const asked = all.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  for (const asker of askers) await asker.close();
  return [
    [`${AGENTS} agents, ${servers[GROUP].length} servers`, 'amount'],
    ['questions', String(count)],
    ['questions a second, with the first and the last turn', toDigits((count / elapsedMs) * 1000)],
    ['p50, p99 of those that no hook matches', formatLatency(plain).join(', ')],
    ['p50, p99 of those that a persistent hook looks at', formatLatency(guarded).join(', ')],
    ...['servers', 'their hooks', 'NATS'].map((taker, index) => [
      `processor of ${taker} for a question`,
      `${toDigits((taken[index] / count) * 1000)} µs`,
    ]),
    ['processor of agents for a question', `${toDigits((asked / count) * 1000)} µs`],
    ['memory of NATS before, and with these agents', `${mib(before)}, ${mib(memory[0])}`],
    ['memory of each server', memory.slice(1).map(mib).join(', ')],
  ];
}

/** In the middle of it. */
function memoryMeanwhile(forMs, read) {
  return new Promise((resolve) => setTimeout(() => resolve(read()), forMs / 2));
}

function mib(amount) {
  return `${toDigits(amount)} MiB`;
}
