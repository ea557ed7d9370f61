import { describe, expect, it } from 'vitest';
import {
  aggregateResults,
  createSpecificHookOutput,
  makeEmptySuccessResult,
  resolveResult,
} from '../../middleware/aggregator.js';
import type { Verdict } from '../../src/context.js';
import type { AggregatedHookResult } from '../../src/protocol/hookOutput.js';
import { HookEventName, type HookOutput } from '../../src/protocol/types.js';
import { healthy, hook } from '../helpers/hooks.js';

const { BeforeTool } = HookEventName;

const NOTHING = {
  success: true,
  finalOutput: undefined,
  allOutputs: [],
  errors: [],
  totalDuration: 0,
  results: [],
};

/** What hooks that are called "guard" say. */
function said(output: HookOutput): AggregatedHookResult {
  return aggregateResults(
    [healthy(output, { hookConfig: hook('true', { name: 'guard' }) })],
    BeforeTool,
  );
}

const allow: Verdict = { kind: 'allow' };
const block: Verdict = { kind: 'block', event: BeforeTool, reason: 'not now' };
const stop: Verdict = { kind: 'stop', event: BeforeTool, reason: 'enough' };

const resolve = (
  aggregated: AggregatedHookResult | undefined,
  verdict: typeof allow | typeof block | typeof stop,
) => resolveResult({ event: BeforeTool, verdict, aggregated });

const asData = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the result of an event', () => {
  it('for which nothing ran is empty, and a new object each time', () => {
    expect(makeEmptySuccessResult()).toStrictEqual(NOTHING);
    expect(makeEmptySuccessResult()).not.toBe(makeEmptySuccessResult());
    expect(resolve(undefined, allow)).toStrictEqual(NOTHING);
  });

  it('has what the hooks said, in the class of the event', () => {
    const aggregated = said({ decision: 'deny', reason: 'no', systemMessage: ' ' });
    const result = resolve(aggregated, allow);
    expect(result).toMatchObject({ success: true, totalDuration: 1, decidedBy: ['guard'] });
    expect(result.results).toEqual(aggregated.results);
    expect(result.results).not.toBe(aggregated.results);
    expect(result.allOutputs).toEqual(aggregated.allOutputs);
    expect(result.finalOutput).toBeInstanceOf(createSpecificHookOutput({}, BeforeTool).constructor);
    expect(asData(result.finalOutput)).toEqual({ decision: 'deny', reason: 'no' });
  });

  it('names nobody where no hook decided', () => {
    expect(resolve(said({ systemMessage: 'note' }), allow)).not.toHaveProperty('decidedBy');
  });

  it('is blocked where a middleware blocked, whatever hooks said', () => {
    const result = resolve(said({ decision: 'deny', reason: 'no', systemMessage: 'note' }), block);
    expect(result).not.toHaveProperty('decidedBy');
    expect(result.finalOutput?.isBlockingDecision()).toBe(true);
    expect(asData(result.finalOutput)).toEqual({
      decision: 'deny',
      reason: 'not now',
      systemMessage: 'note',
    });
    const alone = resolve(undefined, block);
    expect(asData(alone.finalOutput)).toEqual({ decision: 'deny', reason: 'not now' });
    expect(alone).toMatchObject({ success: true, results: [] });
  });

  it('is a stop of the hooks beside a block of a middleware', () => {
    const result = resolve(said({ continue: false, stopReason: 'budget' }), block);
    expect(result.decidedBy).toEqual(['guard']);
    expect(asData(result.finalOutput)).toMatchObject({
      continue: false,
      stopReason: 'budget',
      decision: 'deny',
      reason: 'not now',
    });
  });

  it('is stopped where a middleware stopped, whatever hooks said', () => {
    const result = resolve(said({ continue: false, stopReason: 'budget', reason: 'r' }), stop);
    expect(result).not.toHaveProperty('decidedBy');
    expect(result).toMatchObject({ success: true, totalDuration: 1 });
    expect(result.finalOutput?.shouldStopExecution()).toBe(true);
    expect(asData(result.finalOutput)).toEqual({
      continue: false,
      stopReason: 'enough',
      reason: 'r',
    });
    expect(asData(resolve(undefined, stop).finalOutput)).toEqual({
      continue: false,
      stopReason: 'enough',
    });
  });
});

const left = (value: object) => resolve(value as AggregatedHookResult, allow);

describe('what a middleware has left in place of the result', () => {
  it.each([
    ['no result', {}],
    ['results that are no list', { results: 'none' }],
    ['an output that is not an object', { finalOutput: 'fine', results: [] }],
  ])('is refused with a sentence: %s', (_, value) => {
    expect(() => left(value)).toThrow(
      new TypeError('a middleware has set "aggregated" to what is no result'),
    );
  });

  it('may lack lists, which are empty then', () => {
    const { finalOutput, ...lists } = left({ finalOutput: { decision: 'deny' } });
    expect(lists).toStrictEqual({ allOutputs: [], errors: [], results: [] });
    expect(finalOutput?.isBlockingDecision()).toBe(true);
    expect(left({ results: [] }).finalOutput).toBeUndefined();
  });
});
