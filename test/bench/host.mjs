// node --expose-gc host.mjs SUBJECT: a process in which events are fired at one of the subjects, as `startHost` asks.
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listScenarios } from './scenarios.mjs';

const MEBIBYTE = 2 ** 20;
/** Of a size that both malloc and V8 take from the system as it is, so that no huge page makes a fork cheap. */
const BALLAST_BYTES = 256 * 1024;
const EVENTS_IN_A_BATCH = 50;

const { openSubject } = await import(`./subjects/${process.argv[2]}.mjs`);
const scripts = fileURLToPath(new URL('scripts', import.meta.url));
const opened = new Map();
const ballast = [];

const requests = { open, measure, fill, measureKeptMemory };

process.on('message', ({ id, request, options }) => {
  requests[request](options).then(
    (answer) => process.send({ id, answer }),
    (error) => process.send({ id, error: error.stack }),
  );
});
process.on('disconnect', () => process.exit());
process.send({ id: 'ready' });

/** Makes a scenario ready, and fires its first events, until everything is loaded, compiled, and warm. */
async function open({ name, scenario, warmUpMs, pauseMs, warmShells }) {
  const { fire, check, ...options } = listScenarios(scripts)[scenario];
  const subject = await openSubject({ ...options, warmShells, cwd: process.cwd() });
  const fireChecked = async () => check(await fire(subject), subject);
  opened.set(name, { subject, fire, check });
  const endsAt = performance.now() + warmUpMs;
  do {
    await fireChecked();
    if (pauseMs > 0) await setTimeout(pauseMs);
  } while (performance.now() < endsAt);
}

/** Ms that an event takes: one, or the mean of as many as fit into `minimumMs`. The last one is checked. */
async function measure({ name, minimumMs }) {
  const { subject, fire, check } = opened.get(name);
  const batch = minimumMs > 0 ? EVENTS_IN_A_BATCH : 1;
  let events = 0;
  let fired;
  let elapsedMs;
  const startedAt = performance.now();
  do {
    for (let left = batch; left > 0; left--) fired = await fire(subject);
    events += batch;
    elapsedMs = performance.now() - startedAt;
  } while (elapsedMs < minimumMs);
  check(fired, subject);
  return elapsedMs / events;
}

/** Takes and touches memory until this much is resident. Says how much is. */
async function fill({ residentMiB }) {
  globalThis.gc();
  const missing = residentMiB * MEBIBYTE - process.memoryUsage.rss();
  for (let bytes = 0; bytes < missing; bytes += BALLAST_BYTES) {
    ballast.push(Buffer.alloc(BALLAST_BYTES, 1));
  }
  return process.memoryUsage.rss() / MEBIBYTE;
}

/** Bytes that are still in use after so many events, and were not before. */
async function measureKeptMemory({ name, events }) {
  const { subject, fire, check } = opened.get(name);
  const before = await usedBytes();
  for (let left = events; left > 0; left--) check(await fire(subject), subject);
  return (await usedBytes()) - before;
}

async function usedBytes() {
  // What was promised to run later lets go of its memory first.
  await setTimeout(500);
  globalThis.gc();
  await setTimeout(100);
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
