// node test/hosts/bench/bench.mjs [NAME…] [--rounds N]: what adapters add to their hosts with hooks on and none that
// matches, from dist. Needs the packages of test/hosts, and a machine that has nothing else to do. Exits with 1 where a
// tool call takes more than 5 % and more than 50 µs longer.
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';

const MAX_SHARE = 0.05;
const MAX_US = 50;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3000' } },
});
const rounds = Number(values.rounds);
const subjects = readdirSync(import.meta.dirname)
  .filter((file) => file !== 'bench.mjs')
  .map((file) => file.replace(/\.mjs$/u, ''))
  .filter((name) => positionals.length === 0 || positionals.includes(name));

console.log('| What | Bare | With hooks | Added | |');
console.log('| --- | --- | --- | --- | --- |');
for (const subject of subjects) {
  const { rows } = await import(`./${subject}.mjs`);
  for (const row of await rows()) report(row, await measure(row));
}

/**
 * Turns of both sides take turns, so that what the machine does meanwhile counts for both. What is added is the median
 * of the differences of single rounds.
 */
async function measure({ bare, hooked }) {
  const times = { bare: [], hooked: [] };
  for (let round = -rounds / 10; round < rounds; round++) {
    for (const [side, run] of round % 2
      ? [
          ['bare', bare],
          ['hooked', hooked],
        ]
      : [
          ['hooked', hooked],
          ['bare', bare],
        ]) {
      const startedAt = performance.now();
      await run();
      if (round >= 0) times[side].push((performance.now() - startedAt) * 1000);
    }
  }
  const added = median(times.hooked.map((time, round) => time - times.bare[round]));
  return { bare: median(times.bare), hooked: median(times.hooked), added };
}

function median(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}

function report({ title, isToolCall }, { bare, hooked, added }) {
  const isMet = added <= Math.max(MAX_US, bare * MAX_SHARE);
  const verdict = isToolCall ? (isMet ? 'met' : 'MISSED') : '';
  const share = `${((added / bare) * 100).toFixed(1)} %`;
  console.log(
    `| ${title} | ${bare.toFixed(0)} µs | ${hooked.toFixed(0)} µs | ${added.toFixed(0)} µs, ${share} | ${verdict} |`,
  );
  if (isToolCall && !isMet) process.exitCode = 1;
}
