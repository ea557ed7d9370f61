import type { Next } from '../../src/compose.js';

/** A `next` that counts its calls. */
export function countingNext(): Next & { calls: number } {
  const next = Object.assign(
    async () => {
      next.calls += 1;
    },
    { calls: 0 },
  );
  return next;
}

/** A `next` that fails the same way each time, and the error that it fails with. */
export function failingNext(): { next: Next; error: Error } {
  const error = new Error('from further down');
  return { next: () => Promise.reject(error), error };
}
