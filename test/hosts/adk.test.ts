import { describe, expect, test } from 'vitest';
import { runConformance, scenarioNames } from 'hookstack/conformance';
import { adkHarness } from './adkHarness.js';

describe('hookstack/adk', () => {
  test.each(scenarioNames)('%s', async (name) => {
    const [result] = await runConformance(adkHarness, { only: [name] });
    expect(result).toMatchObject({ outcome: 'covered' });
  });
});
