import { setTimeout } from 'node:timers/promises';
import { compareRounds, quartilesOf, runRounds } from './rounds.mjs';
import { listScenarios } from './scenarios.mjs';

/** Ms of events before the first measurement: V8 compiles what is hot only after a while. */
const WARM_UP_MS = 300;

/**
 * The hosts by what is measured in them: the package as it is, the package without anything started ahead, the peer,
 * and what nobody can be faster than.
 *
 * @typedef {{ warm: Host, cold: Host, peer: Host, floor: Host }} Hosts
 * @typedef {import('./startHost.mjs').Host} Host
 */

/**
 * Measures a contest in rounds.
 *
 * @param {import('./rows.mjs').Contest} contest
 * @param {Hosts} hosts
 * @param {number} rounds of a contest that takes its whole share
 * @returns {Promise<import('./rows.mjs').Row>}
 */
export async function holdContest(contest, hosts, rounds) {
  const { scenario, share = 1 } = contest;
  const sides = {
    ours: contest.ours ?? { host: 'warm', scenario },
    theirs: contest.against ?? { host: 'peer', scenario },
    floor: contest.floor ?? { host: 'floor', scenario },
  };
  const contenders = {};
  for (const [side, contender] of Object.entries(sides)) {
    if (side === 'floor' && !hasFloor(contender)) continue;
    const { host } = contender;
    contenders[side] = await enter({ ...contest, ...contender }, host, hosts[host]);
  }
  return toRow(contest, await runRounds(contenders, Math.ceil(rounds * share)));
}

/** Nobody knows what is left of an event without a process. */
function hasFloor({ host, scenario }) {
  return host !== 'floor' || listScenarios()[scenario]?.floor !== undefined;
}

/**
 * Makes a host ready for a contest.
 *
 * @param {import('./rows.mjs').Contest} contest
 * @param {keyof Hosts} role
 * @param {Host} host
 * @returns {Promise<() => Promise<number>>} fires events and gives the ms of one
 */
export async function enter(contest, role, host) {
  const { scenario, minimumMs, pauseMs, request = 'measure' } = contest;
  const name = `${contest.title}: ${scenario}`;
  await host.ask('open', {
    name,
    scenario,
    warmUpMs: WARM_UP_MS,
    pauseMs,
    isCold: role === 'cold',
  });
  return async () => {
    const elapsedMs = await host.ask(request, { name, minimumMs });
    await setTimeout(pauseMs);
    return elapsedMs;
  };
}

/**
 * @param {{ title: string, goal?: number, goalAmount?: number }} contest
 * @param {{ ours: number[], theirs: number[], floor?: number[] }} samples by round
 * @param {'ms' | 'MB'} [unit]
 * @returns {import('./rows.mjs').Row}
 */
export function toRow({ title, goal, goalAmount }, { ours, theirs, floor }, unit = 'ms') {
  return {
    title,
    goal,
    goalAmount,
    unit,
    ours: quartilesOf(ours),
    theirs: quartilesOf(theirs),
    ratio: compareRounds(ours, theirs),
    ...(floor && { floor: quartilesOf(floor), aboveFloor: compareRounds(ours, floor) }),
    rounds: ours.length,
  };
}
