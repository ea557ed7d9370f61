import path from 'node:path';
import {
  runConformance,
  scenarioNames,
  type Harness,
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
  const [results = []] = found.values();
  const blocks = new Map([
    ['scenarios', inOrder(results).map(({ title }, at) => `${at + 1}. ${title}`)],
  ]);
  for (const [name, columns] of Object.entries(tables)) blocks.set(name, toDifferences(columns));
  let page = await readDocument(PAGE);
  for (const [name, lines] of blocks) {
    const block = new RegExp(`(<!-- ${name}: begin -->)[^]*?(<!-- ${name}: end -->)`);
    expect(page).toMatch(block);
    page = page.replace(block, (_all, begin, end) => [begin, lines.join('\n'), end].join('\n\n'));
  }
  await expect(page).toMatchFileSnapshot(path.join(ROOT, PAGE));
});

function inOrder(results: readonly ScenarioResult[]): ScenarioResult[] {
  return scenarioNames.flatMap((name) => results.filter(({ scenario }) => scenario === name));
}

/** What differs in each host, by the numbers of the scenarios; hosts with the same stand in one line. */
function toDifferences(columns: readonly Harness[]): string[] {
  const hosts = new Map<string, string[]>();
  for (const harness of columns) {
    const places = new Map<string, number[]>();
    for (const [at, { outcome, instead = '' }] of inOrder(found.get(harness) ?? []).entries()) {
      if (outcome !== 'covered') places.set(instead, [...(places.get(instead) ?? []), at + 1]);
    }
    const parts = Array.from(places, ([instead, numbers]) => `${toRanges(numbers)} (${instead})`);
    const text = parts.join(', ') || 'none';
    hosts.set(text, [...(hosts.get(text) ?? []), harness.host]);
  }
  return Array.from(hosts, ([text, names]) => `- **${names.join('**, **')}**: ${text}`);
}

/** Such as `4, 16–31`. */
function toRanges(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? from : `${from}–${to}`)).join(', ');
}
