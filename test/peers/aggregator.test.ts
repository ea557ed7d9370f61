import { describe, expect, it } from 'vitest';
import {
  HookAggregator,
  HookEventName,
  type HookExecutionResult,
  type HookOutput,
} from '../../src/index.js';
import { failed, healthy } from '../helpers/hooks.js';

// What the aggregators of Gemini CLI and LLxprt are tested for. Where ours differs, see differences.test.ts.

const { BeforeTool, AfterTool, BeforeModel, BeforeToolSelection } = HookEventName;

function aggregate(event: HookEventName, ...outputs: (HookOutput | HookExecutionResult)[]) {
  const results = outputs.map((each) => ('hookConfig' in each ? each : healthy(each)));
  return new HookAggregator().aggregateResults(results, event);
}

const lasting = (duration: number, output: HookOutput) => healthy(output, { duration });
const specific = (hookSpecificOutput: Record<string, unknown>) => ({ hookSpecificOutput });
const selection = (mode: string, ...allowedFunctionNames: string[]) =>
  specific({ toolConfig: { mode, allowedFunctionNames } });

describe('results of an event', () => {
  it('are an empty success where nothing ran', () => {
    expect(aggregate(BeforeTool)).toMatchObject({
      success: true,
      finalOutput: undefined,
      allOutputs: [],
      errors: [],
      totalDuration: 0,
    });
  });

  it('add up durations and join the reasons', () => {
    const first = lasting(100, { decision: 'allow', reason: 'style is fine' });
    const second = lasting(150, { decision: 'allow', reason: 'types are fine' });
    const aggregated = aggregate(BeforeTool, first, second);
    expect(aggregated).toMatchObject({
      success: true,
      errors: [],
      totalDuration: 250,
      finalOutput: { decision: 'allow', reason: 'style is fine\ntypes are fine' },
    });
    expect(aggregated.allOutputs).toHaveLength(2);
  });

  it('keep what a healthy hook said beside the error of another', () => {
    const error = new Error('no such script');
    const broken = healthy(undefined, { success: false, error, duration: 50 });
    const aggregated = aggregate(BeforeTool, broken, lasting(100, { decision: 'allow' }));
    expect(aggregated).toMatchObject({ success: false, errors: [error], totalDuration: 150 });
    expect(aggregated.allOutputs).toEqual([{ decision: 'allow' }]);
  });

  it('are no success where a hook failed without an error (LLxprt)', () => {
    const aggregated = aggregate(BeforeTool, failed(1), { decision: 'allow' });
    expect(aggregated).toMatchObject({ success: false, errors: [] });
    expect(aggregated.allOutputs).toEqual([{ decision: 'allow' }]);
  });
});

describe('decisions', () => {
  it.each<[decisions: string, HookOutput[], object]>([
    [
      'a block after an allow',
      [{ decision: 'allow' }, { decision: 'block', reason: 'too old' }],
      { decision: 'block', reason: 'too old' },
    ],
    [
      'a single ask (Gemini CLI)',
      [{ decision: 'ask', reason: 'really?' }],
      { decision: 'ask', reason: 'really?' },
    ],
    [
      'an ask after an allow (Gemini CLI)',
      [{ decision: 'allow' }, { decision: 'ask', reason: 'really?' }],
      { decision: 'ask', reason: 'really?' },
    ],
    [
      'a deny after an ask (Gemini CLI)',
      [{ decision: 'ask' }, { decision: 'deny', reason: 'no' }],
      { decision: 'deny', reason: 'no' },
    ],
    [
      'a stop after a healthy allow',
      [
        { decision: 'allow', continue: true },
        { decision: 'allow', continue: false, stopReason: 'enough' },
      ],
      { continue: false, stopReason: 'enough' },
    ],
  ])('%s counts', (_decisions, outputs, expected) => {
    expect(aggregate(BeforeTool, ...outputs)).toMatchObject({
      success: true,
      finalOutput: expected,
    });
  });
});

describe('fields of one event', () => {
  it.each<[merge: string, HookEventName, HookOutput[], object]>([
    [
      'NONE beats ANY, and leaves no names',
      BeforeToolSelection,
      [selection('ANY', 'glob', 'replace'), selection('NONE')],
      { toolConfig: { mode: 'NONE', allowedFunctionNames: [] } },
    ],
    [
      'ANY beats AUTO, and names are united',
      BeforeToolSelection,
      [selection('AUTO', 'glob'), selection('ANY', 'read_file', 'replace')],
      { toolConfig: { mode: 'ANY', allowedFunctionNames: ['glob', 'read_file', 'replace'] } },
    ],
    [
      'AUTO stays AUTO, and names are united',
      BeforeToolSelection,
      [selection('AUTO', 'glob'), selection('AUTO', 'replace')],
      { toolConfig: { mode: 'AUTO', allowedFunctionNames: ['glob', 'replace'] } },
    ],
    [
      'a later request overrides an earlier one',
      BeforeModel,
      [
        { decision: 'allow', ...specific({ llm_request: { model: 'first' } }) },
        { decision: 'block', ...specific({ llm_request: { model: 'second' } }) },
      ],
      { llm_request: { model: 'second' } },
    ],
    [
      'context is joined line by line',
      AfterTool,
      [specific({ additionalContext: 'one' }), specific({ additionalContext: 'two' })],
      { additionalContext: 'one\ntwo' },
    ],
  ])('%s', (_merge, event, outputs, expected) => {
    const { finalOutput } = aggregate(event, ...outputs);
    expect(finalOutput?.hookSpecificOutput).toMatchObject(expected);
    expect(finalOutput?.decision).toBe(outputs[1]?.decision);
  });
});
