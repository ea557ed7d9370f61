import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** A change is noticed soonest by the tests that take least; Vitest itself begins with the longest. */
class ShortestFirst extends BaseSequencer {
  async sort(files) {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is not an array that is sorted here
    const longestFirst = await super.sort(files);
    return longestFirst.toReversed();
  }
}

/** Which tests run is said by run.mjs. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    server: { deps: { external: [/\.llxprt\/extensions\//] } },
    css: true,
    // Nothing is imported again for each change, which would take longer than the tests.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    sequence: { sequencer: ShortestFirst },
  },
});
