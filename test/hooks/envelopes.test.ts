import { describe, expect, it } from 'vitest';
import { buildFailureEnvelope } from '../../src/hooks/envelopes.js';
import { makeEmptySuccessResult } from '../../middleware/aggregator.js';
import { HookPipelineError, PIPELINE_ERROR_CODES } from '../../src/hooks/errors.js';
import {
  BeforeToolHookOutput,
  DefaultHookOutput,
  processCommonHookOutputFields,
} from '../../src/protocol/hookOutput.js';
import {
  HookEventName,
  type HookExecutionPlan,
  type HookOutput,
} from '../../src/protocol/types.js';
import { healthy, hook } from '../helpers/hooks.js';

const { BeforeTool, AfterTool, SessionStart } = HookEventName;
const STAGES = Object.keys(PIPELINE_ERROR_CODES) as (keyof typeof PIPELINE_ERROR_CODES)[];

describe('makeEmptySuccessResult', () => {
  it('says that nothing ran', () => {
    expect(makeEmptySuccessResult()).toEqual({
      success: true,
      finalOutput: undefined,
      allOutputs: [],
      errors: [],
      totalDuration: 0,
      results: [],
    });
  });

  it('is fresh every time, with fresh lists', () => {
    const untouched = makeEmptySuccessResult();
    const mutated = makeEmptySuccessResult();
    mutated.success = false;
    mutated.totalDuration = 5;
    mutated.finalOutput = new DefaultHookOutput({ decision: 'deny' });
    mutated.allOutputs.push({ decision: 'deny' });
    mutated.errors.push(new Error('mine'));
    mutated.results.push(healthy(undefined));
    expect(makeEmptySuccessResult()).toEqual(untouched);
    expect(untouched.errors).toEqual([]);
  });
});

describe('buildFailureEnvelope', () => {
  it.each(STAGES)('reports an error of the stage %s under its code', (stage) => {
    const cause = new Error('broken');
    const envelope = buildFailureEnvelope(cause, stage, { event: BeforeTool });
    expect(envelope).toMatchObject({
      success: false,
      finalOutput: undefined,
      allOutputs: [],
      totalDuration: 0,
      results: [],
    });
    expect(envelope.errors).toHaveLength(1);
    expect(envelope.errors[0]).toBeInstanceOf(HookPipelineError);
    expect(envelope.errors[0]).toMatchObject({ stage, code: PIPELINE_ERROR_CODES[stage], cause });
    expect(envelope.errors[0]?.message).toBe(`BeforeTool: ${stage} failed: broken`);
  });

  it('has one code for each stage', () => {
    expect(new Set(Object.values(PIPELINE_ERROR_CODES)).size).toBe(STAGES.length);
  });

  it('believes an error that knows its own stage', () => {
    const error = new HookPipelineError('broken', 'planning', { event: AfterTool });
    const { errors } = buildFailureEnvelope(error, 'execution', { event: BeforeTool });
    expect(errors).toEqual([error]);
    expect(errors[0]).toBe(error);
  });

  it.each<[unknown, string]>([
    ['text', 'text'],
    [undefined, 'undefined'],
    [Symbol('x'), 'Symbol(x)'],
    [Object.create(null), 'null prototype'],
    [{ code: 5 }, 'code: 5'],
  ])('shows %o that was thrown', (thrown, shown) => {
    const { errors } = buildFailureEnvelope(thrown, 'execution');
    expect(errors[0]?.message).toContain(shown);
    expect(errors[0]?.cause).toBe(thrown);
  });

  it('is fresh every time', () => {
    const error = new HookPipelineError('broken', 'planning');
    buildFailureEnvelope(error, 'planning').errors.push(new Error('mine'));
    expect(buildFailureEnvelope(error, 'planning').errors).toEqual([error]);
  });
});

describe('the envelope of a plan with a guard', () => {
  const guard = hook('x', { name: 'guard', onFailure: 'deny' });
  const plan = (eventName: HookEventName): HookExecutionPlan => ({
    eventName,
    hookConfigs: [hook('y'), guard],
    sequential: false,
  });

  it('denies, because the guard could not be asked', () => {
    const meta = { event: BeforeTool, plan: plan(BeforeTool) };
    const { success, finalOutput } = buildFailureEnvelope(new Error('broken'), 'execution', meta);
    expect(success).toBe(false);
    expect(finalOutput).toBeInstanceOf(BeforeToolHookOutput);
    expect(finalOutput?.isBlockingDecision()).toBe(true);
    expect(finalOutput?.getEffectiveReason()).toMatch(/"guard".*broken/);
  });

  it('withholds what a tool gave', () => {
    const late = { event: AfterTool, plan: plan(AfterTool) };
    const { finalOutput } = buildFailureEnvelope('broken', 'execution', late);
    expect(finalOutput?.foreign?.toolOutput).toEqual({
      llmContent: expect.stringMatching(/withheld.*"guard".*broken/),
      returnDisplay: finalOutput?.foreign?.toolOutput?.llmContent,
      isDenial: true,
    });
  });

  it('says nothing where there is nothing to withhold, or no hook is a guard', () => {
    const late = { event: SessionStart, plan: plan(SessionStart) };
    const without = { event: BeforeTool, plan: { ...plan(BeforeTool), hookConfigs: [hook('y')] } };
    expect(buildFailureEnvelope('broken', 'execution', late).finalOutput).toBeUndefined();
    expect(buildFailureEnvelope('broken', 'execution', without).finalOutput).toBeUndefined();
  });
});

describe('processCommonHookOutputFields', () => {
  const silent = {
    shouldStop: false,
    stopReason: undefined,
    systemMessage: undefined,
    suppressOutput: false,
  };

  it.each<[HookOutput | undefined, Partial<typeof silent> | object]>([
    [undefined, silent],
    [{}, silent],
    [{ continue: true, stopReason: 'not now' }, silent],
    [{ decision: 'deny', reason: 'no' }, silent],
    [{ continue: false }, { ...silent, shouldStop: true, stopReason: 'Stopped by hook' }],
    [
      { continue: false, reason: 'r' },
      { ...silent, shouldStop: true, stopReason: 'r' },
    ],
    [
      { continue: false, reason: 'r', stopReason: 's' },
      { ...silent, shouldStop: true, stopReason: 's' },
    ],
    [{ systemMessage: '' }, silent],
    [
      { systemMessage: 'm', suppressOutput: true },
      { ...silent, systemMessage: 'm', suppressOutput: true },
    ],
    [
      { systemMessage: 'm', suppressOutput: false },
      { ...silent, systemMessage: 'm' },
    ],
  ])('reads %j', (output, expected) => {
    const finalOutput = output && new DefaultHookOutput(output);
    const aggregated = { ...makeEmptySuccessResult(), finalOutput };
    const processed = processCommonHookOutputFields(aggregated);
    expect(processed).toEqual({ aggregated, ...expected });
    expect(processed.aggregated).toBe(aggregated);
  });
});
