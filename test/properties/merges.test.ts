import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import {
  HookEventName,
  type HookExecutionResult,
  type HookOutput,
} from '../../src/protocol/types.js';
import { failed, healthy } from '../helpers/hooks.js';
import * as any from './arbitraries.js';

const { BeforeTool, BeforeToolSelection } = HookEventName;
const runs = { numRuns: 1_000 };

const orEvents = fc.constantFrom(
  BeforeTool,
  HookEventName.AfterTool,
  HookEventName.BeforeAgent,
  HookEventName.AfterAgent,
  HookEventName.SessionStart,
  HookEventName.Notification,
);

/** What outputs say together, as plain data without absent fields. */
function merge(outputs: readonly HookOutput[], event: HookEventName): HookOutput {
  const { finalOutput } = aggregateResults(
    outputs.map((output) => healthy(output)),
    event,
  );
  return JSON.parse(JSON.stringify(finalOutput ?? {})) as HookOutput;
}

function verdict(results: readonly HookExecutionResult[], event: HookEventName) {
  const { finalOutput } = aggregateResults(results, event);
  return {
    blocks: finalOutput?.isBlockingDecision() ?? false,
    stops: finalOutput?.shouldStopExecution() ?? false,
  };
}

describe('hooks that run at once', () => {
  it('block or stop in whatever order they are merged', () => {
    const shuffled = fc
      .array(any.result, { maxLength: 6 })
      .chain((results) =>
        fc.tuple(fc.constant(results), fc.shuffledSubarray(results, { minLength: results.length })),
      );
    fc.assert(
      fc.property(any.event, shuffled, (event, [results, others]) => {
        expect(verdict(others, event)).toEqual(verdict(results, event));
      }),
      runs,
    );
  });

  it('block exactly when one of them does, and stop likewise', () => {
    fc.assert(
      fc.property(any.event, fc.array(any.result, { maxLength: 6 }), (event, results) => {
        const single = results.map((result) => verdict([result], event));
        expect(verdict(results, event)).toEqual({
          blocks: single.some(({ blocks }) => blocks),
          stops: single.some(({ stops }) => stops),
        });
      }),
      runs,
    );
  });
});

function insert(
  results: readonly HookExecutionResult[],
  at: number,
  result: HookExecutionResult,
): HookExecutionResult[] {
  return results.toSpliced(Math.min(at, results.length), 0, result);
}

describe('one hook among any others, malformed ones included', () => {
  const others = fc.array(
    fc.oneof(
      any.result,
      any.malformedOutput.map((output) => healthy(output)),
    ),
    { maxLength: 5 },
  );
  const place = fc.nat({ max: 5 });

  it.each<[string, HookExecutionResult]>([
    ['exit code 2', failed(2, { decision: 'deny', reason: 'no' })],
    ['deny', healthy({ decision: 'deny', reason: 'no' })],
    ['block', healthy({ decision: 'block' })],
  ])('blocks by %s', (_, blocker) => {
    fc.assert(
      fc.property(any.event, others, place, (event, results, at) => {
        expect(verdict(insert(results, at, blocker), event).blocks).toBe(true);
      }),
      runs,
    );
  });

  it('blocks a tool by its permission', () => {
    const blocker = healthy({ hookSpecificOutput: { permissionDecision: 'deny' } });
    fc.assert(
      fc.property(others, place, (results, at) => {
        expect(verdict(insert(results, at, blocker), BeforeTool).blocks).toBe(true);
      }),
      runs,
    );
  });

  it('stops the agent', () => {
    const stopper = healthy({ continue: false, stopReason: 'enough' });
    fc.assert(
      fc.property(any.event, others, place, (event, results, at) => {
        expect(verdict(insert(results, at, stopper), event).stops).toBe(true);
      }),
      runs,
    );
  });
});

describe('the merge of tool and agent events', () => {
  const outputs = fc.array(any.output, { minLength: 1, maxLength: 5 });

  it('of many outputs is the merge of two, folded from either end', () => {
    fc.assert(
      fc.property(orEvents, outputs, (event, all) => {
        const pair = (first: HookOutput, second: HookOutput) => merge([first, second], event);
        const merged = merge(all, event);
        expect(all.reduce(pair, {})).toEqual(merged);
        expect(all.reduceRight((later, each) => pair(each, later), {})).toEqual(merged);
      }),
      runs,
    );
  });

  it('changes none of the outputs', () => {
    fc.assert(
      fc.property(any.event, outputs, (event, all) => {
        const before = structuredClone(all);
        merge(all, event);
        expect(all).toEqual(before);
      }),
      runs,
    );
  });
});

const select = (configs: readonly Record<string, unknown>[]) =>
  merge(
    configs.map((toolConfig) => ({ hookSpecificOutput: { toolConfig } })),
    BeforeToolSelection,
  ).hookSpecificOutput?.['toolConfig'];
const asList = (config: unknown) => (config ? [config as Record<string, unknown>] : []);

describe('the merge of tool selections', () => {
  it('is commutative', () => {
    fc.assert(
      fc.property(any.hookToolConfig, any.hookToolConfig, (first, second) => {
        expect(select([second, first])).toEqual(select([first, second]));
      }),
      runs,
    );
  });

  it('is associative and idempotent', () => {
    fc.assert(
      fc.property(fc.array(any.hookToolConfig, { minLength: 1, maxLength: 5 }), (configs) => {
        const [first, ...rest] = configs;
        const merged = select(configs);
        expect(select([...asList(first), ...asList(select(rest))])).toEqual(merged);
        expect(select([...configs, ...configs])).toEqual(merged);
      }),
      runs,
    );
  });

  it('allows the names that any hook named, unless one allows none', () => {
    fc.assert(
      fc.property(fc.array(any.hookToolConfig, { minLength: 1, maxLength: 5 }), (configs) => {
        const named = configs.flatMap(
          (config) => (config['allowedFunctionNames'] ?? []) as string[],
        );
        const isNone = configs.some(({ mode }) => mode === 'NONE');
        const gave = configs.some((config) => config['allowedFunctionNames'] !== undefined);
        const union = gave ? { allowedFunctionNames: [...new Set(named)].toSorted() } : {};
        const { mode: _, ...names } = select(configs) as Record<string, unknown>;
        expect(names).toEqual(isNone ? { allowedFunctionNames: [] } : union);
      }),
      runs,
    );
  });
});
