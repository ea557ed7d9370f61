import { describe, expect, it } from 'vitest';
import { Config } from '../../src/index.js';
import {
  runConformance,
  scenarioNames,
  toTable,
  type Harness,
  type ScenarioName,
} from './conformance.js';
import { plainHarness } from './plainHarness.js';

/** An agent without any hooks. */
const blind: Harness = {
  host: 'a | b',
  run: (turn) => plainHarness.run({ ...turn, config: new Config() }),
};

const broken: Harness = {
  host: 'broken',
  run: () => Promise.reject(new Error('no model')),
};

function declaring(harness: Harness, isSeen: boolean): Harness {
  return { ...harness, differences: { block: { instead: 'it | runs', isSeen: () => isSeen } } };
}

describe('an agent on the API itself', () => {
  it.each(scenarioNames)('covers %s', async (name) => {
    const results = await runConformance(plainHarness, { only: [name] });
    expect(results).toEqual([{ ...results[0], outcome: 'covered' }]);
  });
});

describe('the scenarios', () => {
  it.each(scenarioNames)('notice where hooks are not there: %s', async (name) => {
    const [result] = await runConformance(blind, { only: [name] });
    expect(result?.outcome).toBe(name === 'untouched' ? 'covered' : 'failed');
  });
});

describe('runConformance', () => {
  const only: ScenarioName[] = ['block'];
  it('says what it has seen where something is not as it should be', async () => {
    const [result] = await runConformance(blind, { only });
    expect(result?.why).toBe('the tool ran, with {"path":"a.txt","text":"one"}');
  });

  it('takes a difference that is declared, where it is seen', async () => {
    const results = await runConformance(declaring(blind, true), { only });
    expect(results).toMatchObject([{ outcome: 'differs', instead: 'it | runs' }]);
    expect(toTable([{ host: blind.host, results }])).toMatch(
      /^\| +\| a \\\| b +\|\n\| -+ \| -+ \|\n\| a tool[^|]*\| – +\|[^]*\| it \\\| runs \|\n/,
    );
  });

  it('does not take one that is not seen', async () => {
    const [result] = await runConformance(declaring(blind, false), { only });
    expect(result).toMatchObject({ outcome: 'failed' });
    expect(result?.why).toMatch(/^the tool ran, with .*, and not what was declared: it \| runs$/);
  });

  it('does not take one that is not there any more', async () => {
    const results = await runConformance(declaring(plainHarness, true), { only });
    expect(results).toMatchObject([{ outcome: 'failed', why: expect.stringMatching('covered') }]);
  });

  it('tells why a turn failed', async () => {
    const [result] = await runConformance(broken, { only });
    expect(result?.why).toMatch(/the turn failed: no model$/);
  });

  it('refuses names that do not exist', async () => {
    const differences = { blok: { instead: '', isSeen: () => true } } as Harness['differences'];
    const harness = { ...plainHarness, ...(differences && { differences }) };
    await expect(runConformance(harness)).rejects.toThrow(/no scenario "blok".*rewrite, block/);
  });
});
