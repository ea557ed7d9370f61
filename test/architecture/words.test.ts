import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The rows of the table below a heading of docs/architecture.md, cell by cell. */
function rowsBelow(heading: string): string[][] {
  const text = readFileSync(path.join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, section = ''] = text.split(new RegExp(`\\n#+ ${heading}\\n`, 'u'));
  const [table = ''] = section.split('\n#');
  return table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:Word|Files|-)/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

const isThere = (place: string) =>
  [`src/${place}`, `src/${place}.ts`, `${place}.ts`].some((file) =>
    existsSync(path.join(ROOT, file)),
  );

it.each(['Things', 'Verbs'])('no word has two meanings: %s', (heading) => {
  const words = rowsBelow(heading).flatMap(([, word = '']) => word.split(', '));
  expect(words.length).toBeGreaterThan(20);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});

it('each word lives where the glossary says', () => {
  const places = rowsBelow('Things').flatMap(([, , , where = '']) =>
    Array.from(where.replace(/\(.*?\)/, '').matchAll(/`([^`]+)`/g), ([, place = '']) => place),
  );
  expect(places.length).toBeGreaterThan(40);
  expect(places.filter((place) => !isThere(place))).toEqual([]);
});

it('state of the process is where its table says', () => {
  const places = rowsBelow('State').flatMap(([, files = '']) =>
    Array.from(files.replace(/\(.*?\)/g, '').matchAll(/`([^`]+)`/g), ([, place = '']) => place),
  );
  expect(places.length).toBeGreaterThan(20);
  expect(places.filter((place) => !isThere(place))).toEqual([]);
});
