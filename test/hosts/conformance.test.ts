import path from 'node:path';
import {
  runConformance,
  scenarioNames,
  toTable,
  type ScenarioResult,
} from '../conformance/conformance.js';
import { describe, expect, it } from 'vitest';
import { readDocument, ROOT } from '../docs/markdown.js';
import { tables } from './harnesses.js';

const PAGE = 'docs/hosts/README.md';

const harnesses = Object.values(tables).flat();
/** What every scenario has found, in each host. The tables are made of it, so none runs twice. */
const found = new Map(harnesses.map((harness) => [harness, [] as ScenarioResult[]]));

describe.concurrent.each(harnesses)('$host', (harness) => {
  it.each(scenarioNames)('covers %s, or differs as said', async (name) => {
    const results = await runConformance(harness, { only: [name] });
    found.get(harness)?.push(...results);
    const isDeclared = Object.hasOwn(harness.differences ?? {}, name);
    const outcome = isDeclared ? 'differs' : 'covered';
    expect(results).toEqual([{ ...results[0], outcome }]);
  });
});

it('docs/hosts/README.md has what the scenarios found; `-u` writes it', async ({ skip }) => {
  const isWhole = [...found.values()].every(({ length }) => length === scenarioNames.length);
  skip(!isWhole, 'only some scenarios were run');
  let page = await readDocument(PAGE);
  for (const [name, columns] of Object.entries(tables)) {
    const block = new RegExp(`(<!-- ${name}: begin -->)[^]*?(<!-- ${name}: end -->)`);
    expect(page).toMatch(block);
    const table = toTable(
      columns.map((harness) => ({ host: harness.host, results: found.get(harness) ?? [] })),
    );
    page = page.replace(block, (_all, begin, end) => [begin, table, end].join('\n\n'));
  }
  await expect(page).toMatchFileSnapshot(path.join(ROOT, PAGE));
});
