import path from 'node:path';
import {
  runConformance,
  scenarioNames,
  toTable,
  type Harness,
  type ScenarioResult,
} from 'hookstack/conformance';
import { describe, expect, it } from 'vitest';
import { readDocument, ROOT } from '../docs/markdown.js';
import { harnesses } from './harnesses.js';

const PAGE = 'docs/hosts/README.md';
const BLOCK = /(<!-- conformance: begin -->)[^]*?(<!-- conformance: end -->)/;

/** What every scenario has found, in each host. The table is made of it, so none runs twice. */
const found = new Map(harnesses.map(({ host }) => [host, [] as ScenarioResult[]]));

describe.concurrent.each(harnesses as Harness[])('$host', (harness) => {
  it.each(scenarioNames)('covers %s, or differs as said', async (name) => {
    const results = await runConformance(harness, { only: [name] });
    found.get(harness.host)?.push(...results);
    const isDeclared = Object.hasOwn(harness.differences ?? {}, name);
    const outcome = isDeclared ? 'differs' : 'covered';
    expect(results).toEqual([{ ...results[0], outcome }]);
  });
});

it('docs/hosts/README.md has what the scenarios found; `-u` writes it', async ({ skip }) => {
  const columns = [...found].map(([host, results]) => ({ host, results }));
  const isWhole = columns.every(({ results }) => results.length === scenarioNames.length);
  skip(!isWhole, 'only some scenarios were run');
  const page = await readDocument(PAGE);
  expect(page).toMatch(BLOCK);
  const written = page.replace(BLOCK, (_all, begin, end) =>
    [begin, toTable(columns), end].join('\n\n'),
  );
  await expect(written).toMatchFileSnapshot(path.join(ROOT, PAGE));
});
