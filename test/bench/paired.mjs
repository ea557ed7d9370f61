// node test/bench/paired.mjs OLD [NEW] [--rounds N] [--rows WORD]… [--limit RATIO] [--json]: measures the builds (dist) of
// two checkouts in turns, and prints how long the new one takes to the old one: the median of the ratios of single
// rounds, with quartiles, as Markdown or as JSON. NEW is this checkout unless another is named; --rows takes the rows whose
// titles have one of these words. Exits with 1 where a median is above the limit, 1.05. Needs no peer, but bash, and a
// machine that has nothing else to do.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { assertBuilt, CHECKOUT } from './builds.mjs';
import { measurePair } from './pairs.mjs';
import { describeMachine, formatPairs, meetsGoal, reportStep } from './report.mjs';
import { PAIRS } from './rows.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '100' },
    rows: { type: 'string', multiple: true, default: [''] },
    limit: { type: 'string', default: '1.05' },
    json: { type: 'boolean', default: false },
  },
});
const [old, current = CHECKOUT, ...others] = positionals;
if (old === undefined || others.length > 0)
  throw new Error('Name the checkout of the old build, and that of the new one if it is not this');
const checkouts = { old: path.resolve(old), new: path.resolve(current) };
Object.values(checkouts).forEach(assertBuilt);
const rounds = Number(values.rounds);
if (!(Number.isInteger(rounds) && rounds > 0))
  throw new Error(`--rounds ${values.rounds}: give a whole number above 0`);
const limit = Number(values.limit);
if (!(limit > 0)) throw new Error(`--limit ${values.limit}: give a ratio, such as 1.05`);
const pairs = PAIRS.filter(({ title }) => values.rows.some((word) => title.includes(word)));
const unknown = values.rows.find((word) => !PAIRS.some(({ title }) => title.includes(word)));
if (unknown !== undefined) {
  const titles = PAIRS.map(({ title }) => title).join('\n  ');
  throw new Error(`No row has "${unknown}" in its title. Name a word of these:\n  ${titles}`);
}

const machine = describeMachine();
const startedAt = performance.now();
const rows = [];
for (const pair of pairs) {
  reportStep(pair.title, startedAt);
  rows.push(await measurePair(pair, checkouts, rounds, limit));
}
const seconds = Math.round((performance.now() - startedAt) / 1000);
const result = { checkouts, machine, seconds, limit, rows };
console.log(values.json ? JSON.stringify(toJson(result), undefined, 2) : formatPairs(result));
if (!rows.every(meetsGoal)) process.exitCode = 1;

function toJson({ rows: measured, ...rest }) {
  return {
    ...rest,
    rows: measured.map(({ title, unit, ours, theirs, ratio, rounds: taken }) => ({
      title,
      unit,
      old: theirs,
      new: ours,
      ratio,
      rounds: taken,
      met: ratio.median <= limit,
    })),
  };
}
