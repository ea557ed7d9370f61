/**
 * Does some work never twice at a time. Whoever wants it done meanwhile gets it done once more afterwards, all of them
 * together.
 *
 * @param work never rejects
 * @returns has it done, and settles once it was done from beginning to end
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  const begin = () => {
    next = undefined;
    return work();
  };
  return () => (next ??= last = last.then(begin));
}
