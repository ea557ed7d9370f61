import { jetstreamManager } from '@nats-io/jetstream';
import { connect, usernamePasswordAuthenticator } from '@nats-io/transport-node';
import { setTimeout } from 'node:timers/promises';
import { holdContest } from '../contests.mjs';
import { toDigits } from '../report.mjs';
import { quartilesOf } from '../rounds.mjs';
import { RECORDED_QUESTION } from '../rows.mjs';
import { readCpu } from './cpu.mjs';
import { passwordOf } from './startBroker.mjs';
import { startCollector } from './startServers.mjs';

const GROUP = 'TWO';
const STREAM = 'HOOKS_RECORD';
/** Tool calls of one burst: their spans fit into what a process keeps in memory. */
const CALLS = 2000;
/** Ms after which nothing more comes. */
const SETTLED_MS = 500;

/**
 * What the record costs: an agent's answers, and spans on their way to JetStream and into files.
 *
 * @param {import('../fleet.mjs').Fleet} fleet
 * @param {number} rounds
 * @returns {Promise<{ rows: import('../rows.mjs').Row[], table: string[][] }>}
 */
export async function measureRecord({ broker, directory, own, startAsker }, rounds) {
  const collector = await startCollector(GROUP, directory, broker.server);
  own(collector);
  const connection = await connectManager(broker.server);
  try {
    const manager = await jetstreamManager(connection);
    const record = new Record(manager);
    await until(() => record.hasStream());
    const unrecorded = await startAsker('unrecorded');
    const recorded = await startAsker('recorded');
    await recorded.ask('join', { group: GROUP });
    const row = await holdContest(RECORDED_QUESTION, { recorded, unrecorded }, rounds);
    const bursts = [];
    for (let left = rounds < 10 ? 2 : 6; left > 0; left--) {
      await record.isStored();
      const bare = await costOf([unrecorded.pid], () => unrecorded.ask('fire', { count: CALLS }));
      bursts.push(await measureBurst(record, { recorded, collector, broker, bare }));
    }
    // The first one compiles what is hot.
    return { rows: [row], table: tabulate(bursts.slice(1)) };
  } finally {
    await connection.close();
  }
}

async function measureBurst(record, { recorded, collector, broker, bare }) {
  const before = await record.read();
  const pids = [recorded.pid, broker.pid, collector.pid];
  const startedAt = performance.now();
  let storedMs;
  const costs = await costOf(pids, async () => {
    await recorded.ask('fire', { count: CALLS });
    storedMs = (await record.isStored()) - startedAt;
  });
  const after = await record.read();
  const spans = after.messages - before.messages;
  const [agent, nats, collecting] = costs.map((ms) => (ms * 1000) / spans);
  const perSecond = (spans / storedMs) * 1000;
  const bytes = (after.bytes - before.bytes) / spans;
  const added = agent - (bare[0] * 1000) / spans;
  return { perSecond, bytes, spansOfCall: spans / CALLS, added, nats, collecting };
}

/** What the stream holds. */
class Record {
  constructor(manager) {
    this.manager = manager;
  }

  async hasStream() {
    return this.read().then(
      () => true,
      () => false,
    );
  }

  async read() {
    return (await this.manager.streams.info(STREAM)).state;
  }

  /** @returns {Promise<number>} when the last span was stored that came, once all of them are collected as well */
  async isStored() {
    let last = -1;
    let changedAt = 0;
    await until(async () => {
      const { messages } = await this.read();
      const now = performance.now();
      if (messages !== last) [last, changedAt] = [messages, now];
      const { num_pending: left, num_ack_pending: open } = await this.manager.consumers.info(
        STREAM,
        'collect',
      );
      return left + open === 0 && now - changedAt > SETTLED_MS;
    });
    return changedAt;
  }
}

async function costOf(pids, work) {
  const before = pids.map((pid) => readCpu([pid]));
  await work();
  return pids.map((pid, index) => readCpu([pid]) - before[index]);
}

function connectManager(servers) {
  const user = `policy-${GROUP}`;
  return connect({ servers, authenticator: usernamePasswordAuthenticator(user, passwordOf(user)) });
}

async function until(condition) {
  while (!(await condition())) await setTimeout(10);
}

function tabulate(bursts) {
  const median = (name) => quartilesOf(bursts.map((burst) => burst[name])).median;
  const micros = (name) => `${toDigits(median(name))} µs`;
  return [
    [`the record: ${CALLS} tool calls at once, ${bursts.length} times`, 'amount'],
    ['spans of a tool call with one middleware', toDigits(median('spansOfCall'))],
    ['spans that are stored and acknowledged, a second', toDigits(median('perSecond'))],
    ['bytes of the stream for a span', toDigits(median('bytes'))],
    ['processor of the agent for a span, after the call', micros('added')],
    ['processor of NATS for a span, with its collector', micros('nats')],
    ['processor of `hookstack collect` for a span', micros('collecting')],
  ];
}
