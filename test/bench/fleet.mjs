import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { holdContest } from './contests.mjs';
import { measureAgents } from './fleet/measureAgents.mjs';
import { measureHooks } from './fleet/measureHooks.mjs';
import { measureRatios } from './fleet/measureRatios.mjs';
import { measureRecord } from './fleet/measureRecord.mjs';
import { measureThroughput } from './fleet/measureThroughput.mjs';
import { BARE_SUBJECT, GROUPS, passwordOf, startBroker } from './fleet/startBroker.mjs';
import { startServers } from './fleet/startServers.mjs';
import { QUESTIONS } from './rows.mjs';
import { startProcess } from './startProcess.mjs';

const file = (name) => fileURLToPath(new URL(`fleet/${name}.mjs`, import.meta.url));

/**
 * A fleet on this machine.
 *
 * @typedef {object} Fleet
 * @property {{ pid: number, server: string }} broker
 * @property {Record<keyof typeof GROUPS, { url: string, pid: number }[]>} servers
 * @property {import('./startProcess.mjs').Host} bare
 * @property {string} directory
 * @property {(name: string) => Promise<import('./startProcess.mjs').Host>} startAsker
 * @property {(started: { close: () => Promise<void> }) => void} own closes it in the end
 */

/**
 * What policy servers cost: one question after the other as against bare servers, as many as they can take, a
 * thousand agents, and the record.
 *
 * @param {number} rounds of a contest that takes its whole share
 * @param {(step: string) => void} onProgress
 * @returns {Promise<{ rows: import('./rows.mjs').Row[], tables: string[][][] }>}
 */
export function measureFleet(rounds, onProgress) {
  return withFleet(async (fleet) => {
    const asker = await fleet.startAsker('asker');
    const rows = await measureHooks(fleet, asker, rounds, onProgress);
    for (const contest of QUESTIONS) {
      onProgress(contest.title);
      rows.push(await holdContest(contest, { asker }, rounds));
    }
    const ratios = await measureRatios(fleet, asker, rounds, onProgress);
    const throughput = await measureThroughput(fleet, asker, rounds, onProgress);
    onProgress('a thousand agents');
    const agents = await measureAgents(fleet, rounds);
    onProgress('the record');
    const record = await measureRecord(fleet, rounds);
    return {
      rows: [...rows, ...ratios.rows, ...throughput.rows, ...record.rows],
      tables: [ratios.table, throughput.table, agents, record.table],
    };
  });
}

async function withFleet(use) {
  const directory = await mkdtemp(path.join(tmpdir(), 'hookstack-bench-'));
  const opened = [];
  const own = (started) => opened.push(started);
  try {
    const broker = await startBroker(directory);
    own(broker);
    const servers = {};
    for (const group of Object.keys(GROUPS)) {
      servers[group] = await startServers(group, directory, broker.server);
      servers[group].forEach(own);
    }
    const bare = await startProcess(file('bareServer'), ['bare'], directory);
    own(bare);
    const bareUrl = await bare.ask('listen', {});
    const user = `policy-ONE`;
    const login = { user, password: passwordOf(user), subject: BARE_SUBJECT };
    await bare.ask('subscribe', { server: broker.server, ...login });
    const places = { server: broker.server, bareUrl, url: servers.ONE[0].url, directory };
    const startAsker = async (name) => {
      const asker = await startProcess(file('asker'), [name, JSON.stringify(places)], directory);
      own(asker);
      return asker;
    };
    return await use({ broker, servers, bare, directory, startAsker, own });
  } finally {
    for (const each of opened.toReversed()) await each.close();
    await rm(directory, { recursive: true, force: true });
  }
}
