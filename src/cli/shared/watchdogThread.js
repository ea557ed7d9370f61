// A thread of its own, which nothing that blocks the main thread can keep from its work.

const { writeSync } = require('node:fs');
const { workerData } = require('node:worker_threads');

const { state, out, err } = workerData;
const [NEWS, MS, SPEAKS] = [0, 1, 2];

/** A process that is stopped for a while, and goes on, has lost one of them, and not all of its time. */
const SLICES = 10;

let news = Atomics.load(state, NEWS);
for (let slices = 0; slices < SLICES; slices += 1) {
  Atomics.wait(state, NEWS, news, Atomics.load(state, MS) / SLICES);
  const latest = Atomics.load(state, NEWS);
  if (latest !== news) slices = -1;
  news = latest;
}
if (Atomics.load(state, SPEAKS) === 1) {
  say(1, out);
  say(2, err);
}
process.kill(process.pid, 'SIGKILL');

function say(output, text) {
  try {
    writeSync(output, text);
  } catch {
    // Nobody reads it.
  }
}
