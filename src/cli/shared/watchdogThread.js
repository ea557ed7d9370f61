// A thread of its own, which nothing that blocks the main thread can keep from its work.

const { renameSync, writeFileSync, writeSync } = require('node:fs');
const { workerData } = require('node:worker_threads');

const { state, out, err, kept = [] } = workerData;
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
  for (const { file, text } of kept) {
    attempt(() => {
      writeFileSync(`${file}.last`, text, { mode: 0o600 });
      renameSync(`${file}.last`, file);
    });
  }
  attempt(() => writeSync(1, out));
  attempt(() => writeSync(2, `${err}\n`));
}
process.kill(process.pid, 'SIGKILL');

function attempt(work) {
  try {
    work();
  } catch {
    // Nobody reads it, or the disk is full.
  }
}
