import { describe, expect, it } from 'vitest';
import { runConformance, scenarioNames } from '../../src/hosts/conformance.js';
import { plainHarness } from './plainHarness.js';

describe('an agent on the API itself', () => {
  it.each(scenarioNames)('covers %s', async (name) => {
    const results = await runConformance(plainHarness, { only: [name] });
    expect(results).toMatchObject([{ outcome: 'covered' }]);
  });
});
