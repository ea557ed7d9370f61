import { execFileSync } from 'node:child_process';
import os from 'node:os';

/** @returns {Record<string, string | number>} where the figures come from */
export function describeMachine() {
  const [cpu] = os.cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpu?.model ?? 'unknown',
    cores: os.availableParallelism(),
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release().split('-')[0]}`,
    node: process.version,
    bash: execFileSync('bash', ['-c', 'printf %s "$BASH_VERSION"'], { encoding: 'utf8' }),
  };
}

/**
 * @param {import('./rows.mjs').Row} row
 * @returns {boolean | undefined} `undefined` for what has no goal
 */
export function meetsGoal({ goal, goalMB, ratio, ours }) {
  if (goalMB !== undefined) return ours.median <= goalMB;
  return goal === undefined ? undefined : ratio.median <= goal;
}

/**
 * @param {readonly import('./rows.mjs').Row[]} rows
 * @returns {string} a Markdown table, one line a row
 */
export function formatTable(rows) {
  const lines = rows.map((row) => [
    row.title,
    formatAmount(row.ours.median, row.unit),
    formatAmount(row.theirs.median, row.unit),
    `**${formatRatio(row.ratio.median)}** (${formatRatio(row.ratio.lower)} to ${formatRatio(row.ratio.upper)})`,
    formatGoal(row),
    String(row.rounds),
  ]);
  const head = ['', 'hookstack', 'compared with', 'ratio (quartiles)', 'goal', 'rounds'];
  return [head, head.map((_, column) => (column ? '--:' : '---')), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function formatGoal(row) {
  const met = meetsGoal(row);
  if (met === undefined) return '';
  const goal = row.goalMB === undefined ? `≤ ${row.goal}` : `≤ ${row.goalMB} MB`;
  return `${goal} ${met ? '✓' : '✗'}`;
}

function formatAmount(amount, unit) {
  if (unit === 'ms' && Math.abs(amount) < 0.1) return `${toDigits(amount * 1000)} µs`;
  return `${toDigits(amount)} ${unit}`;
}

function formatRatio(ratio) {
  return toDigits(ratio);
}

/** Two digits that count; of larger numbers all. */
function toDigits(number) {
  if (number === 0) return '0';
  const digits = Math.max(0, 1 - Math.floor(Math.log10(Math.abs(number))));
  return number.toFixed(Math.min(digits, 5));
}
