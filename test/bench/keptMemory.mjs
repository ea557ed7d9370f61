import { toRow } from './contests.mjs';

const EVENTS = 200;
const WARM_UP_MS = 300;

/**
 * What remains in memory of large tool results that hooks have read.
 *
 * @param {import('./contests.mjs').Hosts} hosts
 * @returns {Promise<import('./rows.mjs').Row>} its goal is in MB, not a ratio
 */
export async function measureKeptMemory({ warm, peer }) {
  const contest = { title: `memory kept after ${EVENTS} events of 1 MB` };
  const [ours, theirs] = await Promise.all([keptIn(warm), keptIn(peer)]);
  return { ...toRow(contest, { ours: [ours], theirs: [theirs] }, 'MB'), goalAmount: 5 };
}

async function keptIn(host) {
  const name = 'kept memory';
  const pauseMs = 0;
  await host.ask('open', { name, scenario: 'largeResults', warmUpMs: WARM_UP_MS, pauseMs });
  return (await host.ask('measureKeptMemory', { name, events: EVENTS })) / 1e6;
}
