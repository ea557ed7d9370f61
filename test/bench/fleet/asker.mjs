// node asker.mjs NAME PLACES: a process of agents, which asks as `startProcess` wants. PLACES is JSON: who answers where.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { joinFleet } from '../../../dist/fleet.js';
import { Config, executeToolWithHooks } from '../../../dist/index.js';
import { answerRequests } from '../answerRequests.mjs';
import { GUARDED, NO_HOOKS, UNGUARDED } from './question.mjs';
import { asking, closeIdleLinks, WAYS } from './ways.mjs';
import { ASKER } from './startBroker.mjs';
import { writeSecret } from './startServers.mjs';

const places = JSON.parse(process.argv[3]);
const BATCH = 50;
/** Connections that are made: a server waits for the password of each for two seconds. */
const AT_A_TIME = 10;
const opened = new Map();

answerRequests({ open, measure, flood, connect, simulate, join, fire });

/** Makes a way ready, and asks until everything is compiled and warm. */
async function open({ name, scenario, warmUpMs }) {
  const [way, group = 'ONE'] = scenario.split(' ');
  const ask = await WAYS[way](places, group);
  const isOurs = way === 'http' || way === 'nats';
  opened.set(name, { ask, isOurs });
  const endsAt = performance.now() + warmUpMs;
  while (performance.now() < endsAt) await ask(UNGUARDED);
}

/** Ms of a question: of one, or the mean of as many, one after the other, as fit into `minimumMs`. */
async function measure({ name, minimumMs }) {
  const { ask, isOurs } = opened.get(name);
  const batch = minimumMs > 0 ? BATCH : 1;
  const startedAt = performance.now();
  let count = 0;
  let elapsedMs;
  let answer;
  do {
    for (let left = batch; left > 0; left--) answer = await ask(UNGUARDED);
    count += batch;
    elapsedMs = performance.now() - startedAt;
  } while (elapsedMs < minimumMs);
  if (isOurs) {
    const { question, policy } = answer.hookstack;
    assert.deepEqual(answer, { hookstack: { ...NO_HOOKS.hookstack, question, policy } });
  }
  return elapsedMs / count;
}

/** Asks with so many questions in flight, for so many ms. */
async function flood({ name, inFlight, forMs, tool = UNGUARDED }) {
  const { ask } = opened.get(name);
  const latencies = [];
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const work = async () => {
    while (performance.now() - startedAt < forMs) latencies.push(await timed(ask, tool));
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  return { latencies, elapsedMs, cpuMs: (user + system) / 1000 };
}

async function timed(ask, tool) {
  const startedAt = performance.now();
  const { hookstack: note } = await ask(tool);
  const elapsedMs = performance.now() - startedAt;
  const hooks = tool === UNGUARDED || note?.question === NO_HOOKS.hookstack.question ? 0 : 1;
  if (note) assert.deepEqual([note.success, note.hooks.length], [true, hooks]);
  return elapsedMs;
}

/** Connects agents, each with a connection of its own. */
async function connect({ group, agents }) {
  const asks = agents.map((agent) => asking(places.server, group, agent));
  opened.set('agents', asks);
  for (let at = 0; at < asks.length; at += AT_A_TIME) {
    await Promise.all(asks.slice(at, at + AT_A_TIME).map((ask) => ask(UNGUARDED)));
  }
}

/**
 * Turns of agents: two questions before the model answers, one after it, one before a tool, which a hook looks at, and
 * one after it.
 */
async function simulate({ turnMs, forMs }) {
  const plain = [];
  const guarded = [];
  const cpu = process.cpuUsage();
  const endsAt = performance.now() + forMs;
  const agent = async (ask) => {
    await setTimeout(Math.random() * turnMs);
    while (performance.now() < endsAt) {
      plain.push(await timed(ask, UNGUARDED), await timed(ask, UNGUARDED));
      await pause(0.7 * turnMs);
      plain.push(await timed(ask, UNGUARDED));
      guarded.push(await timed(ask, GUARDED));
      await pause(0.3 * turnMs);
      plain.push(await timed(ask, UNGUARDED));
    }
  };
  await Promise.all(opened.get('agents').map(agent));
  const { user, system } = process.cpuUsage(cpu);
  await closeIdleLinks();
  return { plain, guarded, cpuMs: (user + system) / 1000 };
}

/** Between nothing and twice as long. */
function pause(meanMs) {
  return setTimeout(2 * Math.random() * meanMs);
}

/** From now on the spans of this process go to the record. */
async function join({ group }) {
  const tokenFile = await writeSecret(places.directory, `${ASKER}-${group}`);
  const url = `nats://${places.server}/acme/${ASKER}`;
  await joinFleet({ url, tokenFile, record: true }, { onProblem: tell });
}

function tell(problem) {
  process.stderr.write(`${problem}\n`);
}

const tool = { llmContent: 'done', returnDisplay: '' };
const config = new Config({ enableHooks: true, hooks: {} });
config.use('tool', async function look(_call, next) {
  await next();
});

/** Runs a tool so many times, each of which leaves spans. */
async function fire({ count }) {
  for (let left = count; left > 0; left--) {
    await executeToolWithHooks(config, UNGUARDED, { file_path: 'src/index.ts' }, async () => tool);
  }
}
