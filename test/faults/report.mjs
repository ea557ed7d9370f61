// node test/faults/report.mjs [--report]: runs the tests of this folder; with --report, prints what they measured as a
// Markdown table.
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

/** The faults are numbered from 1 to this. */
const LAST_FAULT = 111;

const { values } = parseArgs({ options: { report: { type: 'boolean', default: false } } });
// A reporter that tells nothing: the table is all there is to say.
const reporting = values.report ? { reporters: [{}], silent: true } : {};
const vitest = await startVitest('test', ['test/faults/'], { watch: false, ...reporting });
if (values.report) {
  const modules = vitest.state.getTestModules();
  printTable(modules.flatMap(({ children }) => [...children.allTests()]));
  for (const error of vitest.state.getUnhandledErrors()) console.log('\nUnhandled:', error);
}
await vitest.close();

function printTable(tests) {
  const rows = tests.map(toRow).toSorted((a, b) => a.number - b.number);
  const numbers = new Set(rows.map(({ number }) => number).filter(Number.isFinite));
  const missing = Array.from({ length: LAST_FAULT }, (_, index) => index + 1).filter(
    (number) => !numbers.has(number),
  );
  const failed = rows.filter(({ result }) => result === 'FAILED').length;

  console.log('| # | Fault | Result | Measured |\n| --: | --- | --- | --- |');
  for (const { number, words, result, measured } of rows) {
    const cells = [Number.isFinite(number) ? number : '', words, result, measured];
    console.log(`| ${cells.map(toCell).join(' | ')} |`);
  }
  console.log(`\n${rows.length} tests of ${numbers.size} faults, ${failed} failed.`);
  if (missing.length > 0) console.log(`No test here for: ${missing.join(', ')}.`);
}

function toRow(test) {
  const { state } = test.result();
  const [, number, words] = /^(\d+) (.*)$/s.exec(test.name) ?? [];
  return {
    number: Number(number ?? Infinity),
    words: words ?? test.fullName,
    result: { passed: 'ok', failed: 'FAILED' }[state] ?? state,
    measured: Object.entries(test.meta().measured ?? {})
      .map(([what, value]) => `${what} ${value}`)
      .join(', '),
  };
}

function toCell(text) {
  return String(text)
    .replaceAll('|', String.raw`\|`)
    .replaceAll('\n', ' ');
}
