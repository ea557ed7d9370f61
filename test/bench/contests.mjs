import { setTimeout } from 'node:timers/promises';
import { compareRounds, quartilesOf, runRounds } from './rounds.mjs';

/** Ms of events before the first measurement: V8 compiles what is hot only after a while. */
const WARM_UP_MS = 300;

/**
 * The hosts by what is measured in them: the package as it is, the package without anything started ahead, and the
 * peer.
 *
 * @typedef {{ warm: Host, cold: Host, peer: Host }} Hosts
 * @typedef {import('./startHost.mjs').Host} Host
 */

/**
 * Measures a contest in rounds.
 *
 * @param {import('./rows.mjs').Contest} contest
 * @param {Hosts} hosts
 * @param {number} rounds
 * @returns {Promise<import('./rows.mjs').Row>}
 */
export async function holdContest(contest, hosts, rounds) {
  const { scenario, against = { host: 'peer', scenario } } = contest;
  const samples = await runRounds(
    {
      ours: await enter(contest, 'warm', hosts.warm, scenario),
      theirs: await enter(contest, against.host, hosts[against.host], against.scenario),
    },
    rounds,
  );
  return toRow(contest, samples);
}

/**
 * Makes a host ready for a contest.
 *
 * @param {import('./rows.mjs').Contest} contest
 * @param {keyof Hosts} role
 * @param {Host} host
 * @param {string} [scenario] the contest's own, unless given
 * @returns {Promise<() => Promise<number>>} fires events and gives the ms of one
 */
export async function enter(contest, role, host, scenario = contest.scenario) {
  const { minimumMs, pauseMs } = contest;
  await host.ask('open', {
    name: contest.title,
    scenario,
    warmUpMs: WARM_UP_MS,
    pauseMs,
    ...(role === 'cold' && { warmShells: 0 }),
  });
  return async () => {
    const elapsedMs = await host.ask('measure', { name: contest.title, minimumMs });
    await setTimeout(pauseMs);
    return elapsedMs;
  };
}

/**
 * @param {{ title: string, goal?: number }} contest
 * @param {{ ours: number[], theirs: number[] }} samples by round
 * @param {'ms' | 'MB'} [unit]
 * @returns {import('./rows.mjs').Row}
 */
export function toRow({ title, goal }, { ours, theirs }, unit = 'ms') {
  return {
    title,
    goal,
    unit,
    ours: quartilesOf(ours),
    theirs: quartilesOf(theirs),
    ratio: compareRounds(ours, theirs),
    rounds: ours.length,
  };
}
