// node --expose-gc host.mjs SUBJECT [CHECKOUT]: a process in which events are fired at one of the subjects, as `startHost`
// asks. The package is the one that is built in the checkout.
import { readFileSync } from 'node:fs';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { answerRequests } from './answerRequests.mjs';
import { CHECKOUT } from './builds.mjs';
import { listScenarios } from './scenarios.mjs';

const MEBIBYTE = 2 ** 20;
/** Of a size that both malloc and V8 take from the system as it is, so that no huge page makes a fork cheap. */
const BALLAST_BYTES = 256 * 1024;
const EVENTS_IN_A_BATCH = 50;
/** After an answer, what comes next is made ready. */
const AFTERMATH_MS = 30;

const [subjectName, checkout = CHECKOUT] = process.argv.slice(2);
const { openSubject } = await import(`./subjects/${subjectName}.mjs`);
const opened = new Map();
const ballast = [];

answerRequests({ open, measure, measureBlocked, fill, measureKeptMemory });

/** Makes a scenario ready, and fires its first events, until everything is loaded, compiled, and warm. */
async function open({ name, scenario, warmUpMs, pauseMs, isCold }) {
  const { fire, check, ...options } = listScenarios(checkout)[scenario];
  const subject = await openSubject({ ...options, checkout, isCold, cwd: process.cwd() });
  const fireChecked = async () => check(await fire(subject), subject);
  opened.set(name, { subject, fire, check });
  const endsAt = performance.now() + warmUpMs;
  do {
    await fireChecked();
    if (pauseMs > 0) await setTimeout(pauseMs);
  } while (performance.now() < endsAt);
}

/**
 * Ms that an event takes, or what counts of it: one, or the mean of as many as fit into `minimumMs`. The last one is
 * checked.
 */
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
  return fired?.spentMs ?? elapsedMs / events;
}

/** Ms for which nothing else had its turn, at most, from an event until all that came of it is long over. */
async function measureBlocked({ name }) {
  const { subject, fire, check } = opened.get(name);
  let endsAt = Infinity;
  let longestMs = 0;
  let turnedAt = performance.now();
  const firing = fire(subject).finally(() => (endsAt = performance.now() + AFTERMATH_MS));
  while (turnedAt < endsAt) {
    await setImmediate();
    const now = performance.now();
    longestMs = Math.max(longestMs, now - turnedAt);
    turnedAt = now;
  }
  check(await firing, subject);
  return longestMs;
}

/**
 * Takes and touches memory: until this much is resident, until a `fork` has this much to copy, or this much whatever
 * there was before. Says how much is. A fork copies buffers, but not the heap of V8, which asks the system to leave it
 * out.
 */
async function fill({ residentMiB, copiedMiB, ballastMiB, isHeap = false }) {
  globalThis.gc();
  const [wanted, taken] = ballastMiB
    ? [ballastMiB, countBallast]
    : copiedMiB
      ? [copiedMiB, readCopied]
      : [residentMiB, readResident];
  // Whoever lets go of memory meanwhile takes that much more.
  for (let missing; (missing = wanted - taken()) > 0;) {
    for (let bytes = 0; bytes < missing * MEBIBYTE; bytes += BALLAST_BYTES) {
      ballast.push(isHeap ? makeObjects() : Buffer.alloc(BALLAST_BYTES, 1));
    }
  }
  return taken();
}

function makeObjects() {
  return Array.from({ length: BALLAST_BYTES / 8 }, (_, index) => index + ballast.length);
}

function countBallast() {
  return (ballast.length * BALLAST_BYTES) / MEBIBYTE;
}

function readResident() {
  return process.memoryUsage.rss() / MEBIBYTE;
}

/** `dc` is what is not copied. */
function readCopied() {
  const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/\n(?=[\da-f]+-[\da-f]+ )/);
  const copied = mappings.filter((mapping) => !/^VmFlags:.* dc\b/m.test(mapping));
  const sizes = copied.map((mapping) => Number(/^Anonymous:\s+(\d+)/m.exec(mapping)?.[1] ?? 0));
  return sizes.reduce((sum, kibibytes) => sum + kibibytes, 0) / 1024;
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
