import { runConformance, scenarioNames } from 'hookstack/conformance';
import { describe, expect, it } from 'vitest';
import { aiHarness } from './aiHarness.js';

describe.each([6, 7] as const)('AI SDK %i', (version) => {
  it.each(scenarioNames)('covers %s', async (name) => {
    const results = await runConformance(aiHarness(version), { only: [name] });
    expect(results).toMatchObject([{ outcome: 'covered' }]);
  });
});
