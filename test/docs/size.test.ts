import { expect, it } from 'vitest';
import { findDocuments, readDocument, withoutSnippets } from './markdown.js';

/** The table of requirements is for who checks them, and grows with them. */
const pages = (await findDocuments()).filter((page) => page !== 'docs/requirements.md');
const texts = new Map(
  await Promise.all(pages.map(async (page) => [page, await readDocument(page)] as const)),
);

/** As `wc -w` counts them: snippets, tables and their lines included. */
const countWords = (text: string) => text.match(/\S+/g)?.length ?? 0;

it('the pages of docs have at most 47,600 words', () => {
  const docs = [...texts].filter(([page]) => page.startsWith('docs/'));
  const words = docs.reduce((sum, [, text]) => sum + countWords(text), 0);
  expect(docs.length).toBeGreaterThan(20);
  expect(words).toBeLessThanOrEqual(47_600);
});

it('README.md has at most 900 words', () => {
  expect(countWords(texts.get('README.md') ?? '')).toBeLessThanOrEqual(900);
});

it.each([...texts])('no cell of a table of %s has more than 200 characters', (_page, text) => {
  const rows = withoutSnippets(text).match(/^ *\|.*\|$/gm) ?? [];
  const cells = rows.flatMap((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  expect(cells.filter((cell) => cell.length > 200 && !/^-+$/.test(cell))).toEqual([]);
});
