import { describe, expect, test } from 'vitest';
import { runConformance, scenarioNames } from 'hookstack/conformance';
import { langchainHarness } from './langchainHarness.js';

describe('hookstack/langchain', () => {
  test.each(scenarioNames)('%s', async (name) => {
    const [result] = await runConformance(langchainHarness, { only: [name] });
    if (result?.why) console.log(result.why);
    expect(result).toMatchObject({ outcome: 'covered' });
  });
});
