import { toRow } from '../contests.mjs';
import { runRounds } from '../rounds.mjs';
import { readTreeCpu } from './cpu.mjs';
import { GUARDED } from './question.mjs';
import { startServers } from './startServers.mjs';

/** Questions after which V8 has compiled the way to a hook and back: the first ones take four times as long. */
const WARM_UP = 20_000;
const MAX_WARM_UP_MS = 20_000;

/** Questions in flight, and how many times as much as a bare pair a server and its hook may take. */
const GOALS = { 8: 10, 64: 10 };

/** 5,000 questions a second and core. */
const GOAL_MS = 0.2;

/**
 * What a question takes of the processor that a persistent hook answers: of the server and of the hook, as against a bare
 * server that puts each question to a bare process, one at a time. Nothing goes to the record.
 *
 * @param {import('../fleet.mjs').Fleet} fleet
 * @param {import('../startProcess.mjs').Host} asker
 * @param {number} rounds
 * @param {(step: string) => void} onProgress
 * @returns {Promise<import('../rows.mjs').Row[]>}
 */
export async function measureHooks(fleet, asker, rounds, onProgress) {
  const { bare, broker, directory } = fleet;
  const [server] = await startServers('ONE', directory, broker.server, ['--no-record']);
  fleet.own(server);
  const url = new URL('/v1/events/BeforeTool', server.url).href;
  const sides = { ours: [`at ${url}`, server.pid], theirs: ['bareHook', bare.pid] };
  const rows = [];
  for (const [inFlight, goal] of Object.entries(GOALS)) {
    onProgress(`a persistent hook over HTTP, ${inFlight} in flight`);
    const contenders = {};
    for (const [side, [way, pid]] of Object.entries(sides)) {
      const name = `hook: ${way}`;
      await asker.ask('open', { name, scenario: way, warmUpMs: 0 });
      const flood = { name, inFlight: Number(inFlight), isGuarded: true, tool: GUARDED };
      await warmUp(asker, flood);
      contenders[side] = () => measureFlood(asker, flood, pid);
    }
    const title = `processor of a server and its persistent hook for a question, ${inFlight} in flight, to that of a bare pair`;
    const measured = await runRounds(contenders, rounds < 10 ? 3 : 10);
    rows.push(toRow({ title, goal, goalAmount: GOAL_MS }, measured));
  }
  return rows;
}

async function warmUp(asker, flood) {
  const endsAt = performance.now() + MAX_WARM_UP_MS;
  for (let left = WARM_UP; left > 0 && performance.now() < endsAt;) {
    const { latencies } = await asker.ask('flood', { ...flood, forMs: 500 });
    left -= latencies.length;
  }
}

async function measureFlood(asker, flood, pid) {
  const before = readTreeCpu(pid);
  const { latencies } = await asker.ask('flood', { ...flood, forMs: 1000 });
  return (readTreeCpu(pid) - before) / latencies.length;
}
