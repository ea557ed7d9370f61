/**
 * One measurement and its judgement, ready to be printed.
 *
 * @typedef {{ figure: string, bound: string, measured: string, ok: boolean }} Figure
 */

/**
 * A number that must be exactly so.
 *
 * @param {string} figure what was measured
 * @param {number} expected
 * @param {number} measured
 * @param {string} [remark] printed behind the number
 * @returns {Figure}
 */
export function exactly(figure, expected, measured, remark) {
  return {
    figure,
    bound: String(expected),
    measured: remark ? `${measured} (${remark})` : String(measured),
    ok: measured === expected,
  };
}

/**
 * A change that must not be larger than `limit`; less is always welcome.
 *
 * @param {string} figure what was measured
 * @param {number} limit
 * @param {number} measured
 * @param {string} [remark] printed behind the number
 * @returns {Figure}
 */
export function atMost(figure, limit, measured, remark) {
  return {
    figure,
    bound: `≤ ${limit}`,
    measured: remark ? `${measured} (${remark})` : String(measured),
    ok: measured <= limit,
  };
}

/**
 * The figure of something that broke before it could be measured.
 *
 * @param {string} figure what was to be measured
 * @param {Error} error
 * @returns {Figure}
 */
export function broken(figure, error) {
  return { figure, bound: 'runs to its end', measured: error.message, ok: false };
}

/**
 * @param {readonly Figure[]} figures
 * @returns {string} a Markdown table, one line a figure
 */
export function formatTable(figures) {
  const rows = figures.map(({ figure, bound, measured, ok }) => [
    figure,
    bound,
    measured,
    ok ? 'ok' : 'FAILED',
  ]);
  return [['Figure', 'Bound', 'Measured', ''], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`)
    .join('\n');
}

function escapeCell(text) {
  return text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', String.raw`\|`);
}
