import { execFileSync } from 'node:child_process';
import os from 'node:os';

/** @returns {string[]} where figures come from, and when */
export function describeMachine() {
  const bash = execFileSync('bash', ['-c', 'printf %s "$BASH_VERSION"'], { encoding: 'utf8' });
  return [
    new Date().toISOString().slice(0, 10),
    os.cpus()[0]?.model ?? 'unknown processor',
    `${os.availableParallelism()} cores`,
    `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    `${os.type()} ${os.release().split('-')[0]}`,
    `Node ${process.versions.node}`,
    `bash ${bash.split('(')[0]}`,
    `load ${os.loadavg()[0]?.toFixed(1)} at the start`,
  ];
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
    `**${toDigits(row.ratio.median)}** (${toDigits(row.ratio.lower)} to ${toDigits(row.ratio.upper)})`,
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

/** Two digits that count; of larger numbers all. */
function toDigits(number) {
  if (number === 0) return '0';
  const digits = Math.max(0, 1 - Math.floor(Math.log10(Math.abs(number))));
  return number.toFixed(Math.min(digits, 5));
}
