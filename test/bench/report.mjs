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
export function meetsGoal({ goal, goalAmount, ratio, ours }) {
  if (goal === undefined && goalAmount === undefined) return undefined;
  return ratio.median <= (goal ?? Infinity) && ours.median <= (goalAmount ?? Infinity);
}

/**
 * @param {{ machine: readonly string[], peer: string, seconds: number, rows: readonly import('./rows.mjs').Row[], tables?: readonly (readonly string[])[][] }} result
 * @returns {string} Markdown: a table, others of what is only good to know, what it was measured with, and how many
 *   goals are met
 */
export function formatResult({ machine, peer, seconds, rows, tables = [] }) {
  const verdicts = rows.map(meetsGoal).filter((met) => met !== undefined);
  const met = verdicts.filter(Boolean).length;
  return [
    formatTable(rows),
    ...tables.map(([head, ...lines]) => toMarkdown(head, lines)),
    `Measured against ${peer} in ${seconds} s: ${machine.join(', ')}. ${met} of ${verdicts.length} goals are met.`,
  ].join('\n\n');
}

/**
 * @param {{ checkouts: { old: string, new: string }, machine: readonly string[], seconds: number, limit: number, rows: readonly import('./rows.mjs').Row[] }} result
 *   of two builds, of which the new one is ours
 * @returns {string} Markdown: a table, what it was measured with, and how many rows are within the limit
 */
export function formatPairs({ checkouts, machine, seconds, limit, rows }) {
  const lines = rows.map((row) => [
    row.title,
    formatAmount(row.theirs.median, row.unit),
    formatAmount(row.ours.median, row.unit),
    `**${toPercent(row.ratio.median)}** (${toPercent(row.ratio.lower)} to ${toPercent(row.ratio.upper)})`,
    meetsGoal(row) ? '✓' : '✗',
    String(row.rounds),
  ]);
  const head = ['', 'old', 'new', 'new to old (quartiles)', `≤ ${limit}`, 'rounds'];
  const met = rows.filter(meetsGoal).length;
  return [
    toMarkdown(head, lines),
    `${checkouts.new} to ${checkouts.old} in ${seconds} s: ${machine.join(', ')}. ${met} of ${rows.length} rows are within ${limit}.`,
  ].join('\n\n');
}

/**
 * Says on stderr what is measured next.
 *
 * @param {string} step
 * @param {number} startedAt as of `performance.now`
 */
export function reportStep(step, startedAt) {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.error(`${String(seconds).padStart(4)} s: ${step} …`);
}

function formatTable(rows) {
  const lines = rows.map((row) => [
    row.title,
    formatAmount(row.ours.median, row.unit),
    formatAmount(row.theirs.median, row.unit),
    `**${toDigits(row.ratio.median)}** (${toDigits(row.ratio.lower)} to ${toDigits(row.ratio.upper)})`,
    formatGoal(row),
    row.floor ? formatAmount(row.floor.median, row.unit) : '',
    row.floor ? `${toDigits(row.aboveFloor.median)} ×` : '',
    String(row.rounds),
  ]);
  const head = [
    '',
    'hookstack',
    'compared with',
    'ratio (quartiles)',
    'goal',
    'floor',
    'to it',
    'rounds',
  ];
  return toMarkdown(head, lines);
}

function toMarkdown(head, lines) {
  return [head, head.map((_, column) => (column ? '--:' : '---')), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function formatGoal(row) {
  const met = meetsGoal(row);
  if (met === undefined) return '';
  const goals = [row.goal, row.goalAmount && `${row.goalAmount} ${row.unit}`];
  const stated = goals.filter((goal) => goal !== undefined).map((goal) => `≤ ${goal}`);
  return `${stated.join(', ')} ${met ? '✓' : '✗'}`;
}

export function formatAmount(amount, unit) {
  if (unit === 'ms' && Math.abs(amount) < 0.1) return `${toDigits(amount * 1000)} µs`;
  return `${toDigits(amount)} ${unit}`;
}

/** A ratio of which single percents count. */
function toPercent(ratio) {
  return ratio.toFixed(3);
}

/** Two digits that count; of larger numbers all. */
export function toDigits(number) {
  if (number === 0) return '0';
  const digits = Math.max(0, 1 - Math.floor(Math.log10(Math.abs(number))));
  return number.toFixed(Math.min(digits, 5));
}
