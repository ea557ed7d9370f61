import path from 'node:path';
import { runConformance, toTable } from 'hookstack/conformance';
import { expect, it } from 'vitest';
import { readDocument, ROOT } from '../docs/markdown.js';
import { harnesses } from './harnesses.js';

const PAGE = 'docs/hosts/README.md';
const BLOCK = /(<!-- conformance: begin -->)[^]*?(<!-- conformance: end -->)/;

it(
  'docs/hosts/README.md has what the scenarios found; `-u` writes it',
  { timeout: 120_000 },
  async () => {
    const columns = await Promise.all(
      harnesses.map(async (harness) => ({
        host: harness.host,
        results: await runConformance(harness),
      })),
    );
    const failed = columns.flatMap(({ host, results }) =>
      results.filter(({ outcome }) => outcome === 'failed').map((result) => ({ host, ...result })),
    );
    expect(failed).toEqual([]);
    const page = await readDocument(PAGE);
    expect(page).toMatch(BLOCK);
    const written = page.replace(BLOCK, (_all, begin, end) =>
      [begin, toTable(columns), end].join('\n\n'),
    );
    await expect(written).toMatchFileSnapshot(path.join(ROOT, PAGE));
  },
);
