/**
 * What a server that somebody writes by hand answers.
 *
 * @param id that of the question, as its header `Hookstack-Question` says
 * @param said what a hook would print
 * @param note more of the mark
 */
export function marked(id: unknown, said: object = {}, note: object = {}) {
  return { ...said, hookstack: { version: 1, question: id, ...note } };
}
