/** Breaks of rows: the ids, what is broken, one edit or a list of them, and the test by file and title. */
export function toBreaks(rows) {
  return rows.map(([id, what, edits, test]) => ({
    id,
    what,
    edits: typeof edits[0] === 'string' ? [edits] : edits,
    test,
  }));
}
