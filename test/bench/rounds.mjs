/**
 * Measures contenders in rounds, each in every round, in an order that rotates: whatever slows the machine down slows
 * all of them down.
 *
 * @param {Record<string, () => Promise<number>>} contenders
 * @param {number} rounds
 * @returns {Promise<Record<string, number[]>>} what each of them gave, by round
 */
export async function runRounds(contenders, rounds) {
  const names = Object.keys(contenders);
  const samples = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      samples[name].push(await contenders[name]());
    }
  }
  return samples;
}

/**
 * @param {readonly number[]} dividends by round
 * @param {readonly number[]} divisors by round
 * @returns {Quartiles} of the ratios of each round
 */
export function compareRounds(dividends, divisors) {
  return quartilesOf(dividends.map((dividend, round) => dividend / divisors[round]));
}

/**
 * @typedef {{ lower: number, median: number, upper: number }} Quartiles
 *
 * @param {readonly number[]} samples
 * @returns {Quartiles}
 */
export function quartilesOf(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  return {
    lower: quantile(sorted, 0.25),
    median: quantile(sorted, 0.5),
    upper: quantile(sorted, 0.75),
  };
}

function quantile(sorted, fraction) {
  const position = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  return below + (above - below) * (position % 1);
}
