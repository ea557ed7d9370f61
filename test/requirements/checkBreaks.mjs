import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

/**
 * What is wrong with breaks: each requirement has one, which a test that its row names is to notice, and the text that
 * is broken stands once. Whether it is noticed, only `breaks.mjs` tells.
 */
export function findFaultsOfBreaks(breaks, rows) {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const broken = new Set(breaks.flatMap(idsOf));
  return [
    ...rows
      .filter(({ id }) => !broken.has(id))
      .map(({ id }) => `${id} has no break: add one to test/requirements/breaks/`),
    ...breaks.flatMap((each) =>
      idsOf(each).flatMap((id) => compareWithRow(each, id, byId.get(id))),
    ),
    ...breaks.flatMap(findLostTexts),
  ];
}

/** The requirements that a break is of. Some break what was added beyond them. */
function idsOf({ id }) {
  return id.split(', ').filter((each) => /^[A-Z]+-/.test(each));
}

function compareWithRow({ what, test }, id, row) {
  const [file, title] = test;
  if (!row) return [`the break "${what}" is of ${id}, which has no row: correct its id`];
  if (row.tests.some((each) => each.file === file && each.title === title)) return [];
  return [`${id}: ${file} "${title}" is to notice the break "${what}": name it in the row`];
}

function findLostTexts({ id, what, edits }) {
  return edits.flatMap(([file, text]) => {
    const source = path.join(ROOT, file);
    const found = existsSync(source) ? readFileSync(source, 'utf8').split(text).length - 1 : 0;
    if (found === 1) return [];
    return [
      `${id}: ${JSON.stringify(text)} stands ${found} times in ${file} and not once: write the break "${what}" anew`,
    ];
  });
}
