import { createHook } from 'node:async_hooks';
import { onTestFinished } from 'vitest';

/** Counts what Node makes from now on: `PROMISE`, `PROCESSWRAP` (a child process), `Timeout`, … */
export function countResources(type: string): () => number {
  let count = 0;
  const watch = createHook({
    init: (_id, created) => {
      if (created === type) count += 1;
    },
  }).enable();
  onTestFinished(() => void watch.disable());
  return () => {
    watch.disable();
    return count;
  };
}
