import { describe, expect, it } from 'vitest';
import {
  aggregateResults,
  aggregator,
  createSpecificHookOutput,
  makeEmptySuccessResult,
  type Aggregator,
} from '../../middleware/aggregator.js';
import { HookAggregator } from '../../src/hooks/hookAggregator.js';
import {
  AfterModelHookOutput,
  BeforeModelHookOutput,
  BeforeToolHookOutput,
  BeforeToolSelectionHookOutput,
  textInPlace,
} from '../../src/protocol/hookOutput.js';
import {
  HookEventName,
  type ForeignEffects,
  type HookOutput,
  type ToolOutput,
} from '../../src/protocol/types.js';
import { failed, healthy, hook, hookContext } from '../helpers/hooks.js';
import { countingNext, failingNext } from '../helpers/next.js';

const { BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection } = HookEventName;

/** What healthy hooks with these outputs say together; as plain data, without absent fields. */
function merge(event: HookEventName, ...outputs: HookOutput[]): HookOutput {
  const { finalOutput } = aggregateResults(
    outputs.map((output) => healthy(output)),
    event,
  );
  return JSON.parse(JSON.stringify(finalOutput)) as HookOutput;
}

function specific(fields: Record<string, unknown>): HookOutput {
  return { hookSpecificOutput: fields };
}

const config = (toolConfig: object) => specific({ toolConfig });
const messages = (content: string) => [{ role: 'user', content }];

/** A response counts only beside a block or a stop where it would stand in for the model's. */
function blockingWith(fields: Record<string, unknown>): HookOutput {
  return { decision: 'deny', ...specific(fields) };
}

describe('aggregator', () => {
  const payload = { toolName: 'read_file', toolInput: {} };

  it('fills aggregated and calls next once', async () => {
    const results = [healthy({ decision: 'deny', reason: 'no' })];
    const ctx = hookContext(BeforeTool, payload, { results });
    const next = countingNext();
    await aggregator(new HookAggregator())(ctx, next);
    expect(ctx.aggregated?.finalOutput?.isBlockingDecision()).toBe(true);
    expect(ctx.aggregated?.results).toEqual(results);
    expect(next.calls).toBe(1);
  });

  it('has all results of the event made one, by whatever makes them one', async () => {
    const results = [healthy({ reason: 'a' }), failed(1), healthy({ reason: 'b' })];
    const aggregated = makeEmptySuccessResult();
    const asked: unknown[] = [];
    const outputs: Aggregator = {
      aggregateResults: (...given) => {
        asked.push(given);
        return aggregated;
      },
    };
    const llmRequest = { model: 'm', contents: 'hi' };
    const ctx = hookContext(BeforeModel, { llmRequest }, { results });
    await aggregator(outputs)(ctx, countingNext());
    expect(asked).toEqual([[results, BeforeModel]]);
    expect(ctx.aggregated).toBe(aggregated);
  });

  it('takes an empty slot for no results', async () => {
    const ctx = hookContext(BeforeTool, payload);
    await aggregator(new HookAggregator())(ctx, countingNext());
    expect(ctx.aggregated).toEqual({
      success: true,
      finalOutput: undefined,
      allOutputs: [],
      errors: [],
      totalDuration: 0,
      results: [],
    });
  });

  it('passes an error from next on untouched', async () => {
    const { next, error } = failingNext();
    const ctx = hookContext(BeforeTool, payload);
    await expect(aggregator(new HookAggregator())(ctx, next)).rejects.toBe(error);
  });
});

describe('the envelope', () => {
  it('lists every result, output and error in plan order, and adds the durations up', () => {
    const error = new Error('The hook timed out after 5 ms');
    const results = [
      healthy({ decision: 'allow', reason: 'fine' }, { duration: 10 }),
      healthy(undefined, { success: false, duration: 5, error }),
      healthy({ systemMessage: 'note' }, { duration: 2 }),
    ];
    const aggregated = aggregateResults(results, BeforeTool);
    expect(aggregated).toMatchObject({ success: false, totalDuration: 17 });
    expect(aggregated.results).toEqual(results);
    expect(aggregated.results).not.toBe(results);
    expect(aggregated.allOutputs).toEqual([results[0]?.output, results[2]?.output]);
    expect(aggregated.errors).toEqual([error]);
  });

  it('has no final output when no hook said anything', () => {
    const aggregated = aggregateResults([healthy(undefined), healthy(undefined)], BeforeTool);
    expect(aggregated).toMatchObject({ success: true, finalOutput: undefined, allOutputs: [] });
  });

  it('leaves the outputs of the single hooks as they were', () => {
    const outputs = [
      { reason: 'a', ...specific({ tool_input: { x: 1 } }) },
      { reason: 'b', ...specific({ tool_input: { y: 2 } }) },
    ];
    const before = structuredClone(outputs);
    merge(BeforeTool, ...outputs);
    expect(outputs).toEqual(before);
  });

  it('loses an output that cannot be merged alone, and reports it', () => {
    const unreadable = {
      get toolConfig(): object {
        throw new Error('cannot be read');
      },
    };
    const aggregated = aggregateResults(
      [
        healthy({ continue: false, stopReason: 'enough' }),
        healthy({ hookSpecificOutput: unreadable }),
        healthy({ systemMessage: 'still here' }),
      ],
      BeforeToolSelection,
    );
    expect(aggregated.errors).toEqual([new Error('The output of a hook could not be merged')]);
    expect(aggregated.errors[0]?.cause).toEqual(new Error('cannot be read'));
    expect(aggregated.finalOutput).toMatchObject({
      continue: false,
      stopReason: 'enough',
      systemMessage: 'still here',
    });
  });
});

describe('the health of the hooks and what they decided', () => {
  it('reports a block by exit code 2 as unhealthy and blocking', () => {
    const aggregated = aggregateResults(
      [failed(2, { decision: 'deny', reason: 'no' })],
      BeforeTool,
    );
    expect(aggregated.success).toBe(false);
    expect(aggregated.finalOutput?.isBlockingDecision()).toBe(true);
    expect(aggregated.finalOutput?.getEffectiveReason()).toBe('no');
  });

  it('reports a block by a healthy hook as healthy', () => {
    const aggregated = aggregateResults([healthy({ decision: 'block' })], BeforeTool);
    expect(aggregated.success).toBe(true);
    expect(aggregated.finalOutput?.isBlockingDecision()).toBe(true);
  });

  it('keeps the warning of a failed hook out of the final output, and in the outputs', () => {
    const warning: HookOutput = { decision: 'allow', systemMessage: 'Warning: oops' };
    const aggregated = aggregateResults([failed(1, warning)], BeforeTool);
    expect(aggregated).toMatchObject({ success: false, finalOutput: undefined });
    expect(aggregated.allOutputs).toEqual([warning]);
  });

  it('keeps what two healthy hooks said when a third one failed', () => {
    const aggregated = aggregateResults(
      [
        healthy({ systemMessage: 'one' }),
        failed(1, { decision: 'allow', systemMessage: 'Warning: broken' }),
        healthy({ systemMessage: 'three' }),
      ],
      BeforeTool,
    );
    expect(aggregated.finalOutput).toMatchObject({ systemMessage: 'one\nthree' });
    expect(aggregated.finalOutput?.isBlockingDecision()).toBe(false);
  });

  it('gives no effect to a hook that a signal ended, although its exit code reads 0', () => {
    const killed = healthy(
      { decision: 'allow', systemMessage: 'Warning: killed' },
      { success: false, exitCode: 0, signal: 'SIGKILL' },
    );
    expect(aggregateResults([killed], BeforeTool).finalOutput).toBeUndefined();
  });
});

describe.each([BeforeTool, AfterTool, HookEventName.BeforeAgent, HookEventName.AfterAgent])(
  'the merge of %s',
  (event) => {
    it.each<[string, HookOutput[]]>([
      ['before an allow', [{ decision: 'block' }, { decision: 'allow' }]],
      ['after an allow', [{ decision: 'approve' }, { decision: 'deny' }]],
      ['between two asks', [{ decision: 'ask' }, { decision: 'deny' }, { decision: 'ask' }]],
      ['beside a hook without a decision', [{ decision: 'deny' }, { reason: 'none' }]],
    ])('lets a block win %s', (_, outputs) => {
      expect(['block', 'deny']).toContain(merge(event, ...outputs).decision);
    });

    it('lets a stop win, wherever it stands', () => {
      const stop = { continue: false, stopReason: 'enough' };
      const expected = { continue: false, stopReason: 'enough' };
      expect(merge(event, stop, { continue: true })).toMatchObject(expected);
      expect(merge(event, { continue: true }, stop)).toMatchObject(expected);
    });

    it('joins reasons, system messages and contexts line by line', () => {
      const merged = merge(
        event,
        { reason: 'r1', systemMessage: 's1', ...specific({ additionalContext: 'c1' }) },
        { decision: 'allow' },
        { reason: 'r2', systemMessage: 's2', ...specific({ additionalContext: 'c2' }) },
        { reason: 'r3', systemMessage: '', ...specific({ additionalContext: 'c3' }) },
      );
      expect(merged).toMatchObject({
        reason: 'r1\nr2\nr3',
        systemMessage: 's1\ns2',
        hookSpecificOutput: { additionalContext: 'c1\nc2\nc3' },
      });
    });

    it('lets a suppression win, wherever it stands', () => {
      const [shown, hidden] = [{ suppressOutput: false }, { suppressOutput: true }];
      expect(merge(event, hidden, shown).suppressOutput).toBe(true);
      expect(merge(event, shown, hidden).suppressOutput).toBe(true);
      expect(merge(event, shown, {}).suppressOutput).toBe(false);
    });

    it('reports all effects together, none in the way of another', () => {
      const merged = merge(
        event,
        { suppressOutput: true, systemMessage: 's1' },
        specific({ additionalContext: 'c1' }),
        { systemMessage: 's2', ...specific({ additionalContext: 'c2' }) },
      );
      expect(merged).toEqual({
        suppressOutput: true,
        systemMessage: 's1\ns2',
        hookSpecificOutput: { additionalContext: 'c1\nc2' },
      });
    });
  },
);

/** What named hooks say together. */
function decide(event: HookEventName, outputs: Record<string, HookOutput>) {
  const results = Object.entries(outputs).map(([name, output]) =>
    healthy(output, { hookConfig: hook('true', { name }) }),
  );
  const { finalOutput, decidedBy } = aggregateResults(results, event);
  return { decidedBy, ...JSON.parse(JSON.stringify(finalOutput)) };
}

const permission = (permissionDecision: string, permissionDecisionReason?: string) =>
  specific({ permissionDecision, permissionDecisionReason });

describe('the author of a verdict', () => {
  const allow = { decision: 'allow', reason: 'fine', stopReason: 'unused' } as const;

  it.each(Object.values(HookEventName))('of %s: who allows explains no block', (event) => {
    const expected = { decidedBy: ['guard'], decision: 'deny', reason: 'Blocked by hook' };
    const guard = { decision: 'deny' } as const;
    expect(decide(event, { allow, guard })).toMatchObject(expected);
    expect(decide(event, { guard, allow })).toMatchObject(expected);
  });

  it.each(Object.values(HookEventName))('of %s: who goes on explains no stop', (event) => {
    const expected = { decidedBy: ['guard'], continue: false, stopReason: 'Stopped by hook' };
    const guard = { continue: false };
    expect(decide(event, { allow, guard })).toMatchObject(expected);
    expect(decide(event, { guard, allow })).toMatchObject(expected);
  });

  it.each([BeforeTool, BeforeToolSelection])('of %s is everybody who blocked', (event) => {
    const first = { decision: 'deny', reason: 'one' } as const;
    const second = { decision: 'block', reason: 'two' } as const;
    expect(decide(event, { first, allow, second })).toMatchObject({
      decidedBy: ['first', 'second'],
      reason: 'one\ntwo',
    });
  });

  it.each([BeforeModel, AfterModel])('of %s is the last one who blocked', (event) => {
    const first = { decision: 'deny', reason: 'one' } as const;
    const second = { decision: 'block', reason: 'two' } as const;
    expect(decide(event, { first, second, allow })).toMatchObject({
      decidedBy: ['second'],
      decision: 'block',
      reason: 'two',
    });
  });

  it.each([BeforeTool, BeforeModel])('of %s is everybody who asks', (event) => {
    const first = { decision: 'ask', reason: 'one?' } as const;
    const second = { decision: 'ask', reason: 'two?' } as const;
    expect(decide(event, { first, allow, second })).toMatchObject({
      decidedBy: ['first', 'second'],
      decision: 'ask',
      reason: 'one?\ntwo?',
    });
  });

  it('is who stops beside who blocks, and the reasons of both stay', () => {
    const outputs = {
      guard: { decision: 'deny', reason: 'no' },
      budget: { continue: false, reason: 'spent' },
      asking: { decision: 'ask', reason: 'sure?' },
    } as const;
    expect(decide(BeforeTool, outputs)).toMatchObject({
      decidedBy: ['budget'],
      decision: 'deny',
      reason: 'no',
      stopReason: 'spent',
    });
  });

  it.each<[string, HookOutput]>([
    ['decision', { decision: 'ask', reason: 'sure?' }],
    ['permission', permission('ask', 'sure?')],
    ['permission beside an allow', { decision: 'allow', ...permission('ask', 'sure?') }],
  ])('is who asks by %s, where nobody blocks', (_, asking) => {
    const expected = { decidedBy: ['asking'], decision: 'ask', reason: 'sure?' };
    expect(decide(BeforeTool, { allow, asking })).toMatchObject(expected);
    expect(decide(BeforeTool, { asking, allow })).toMatchObject(expected);
    const guard = { decision: 'deny', reason: 'no' } as const;
    expect(decide(BeforeTool, { asking, guard })).toMatchObject({
      decidedBy: ['guard'],
      decision: 'deny',
      reason: 'no',
    });
  });

  it.each<HookOutput>([allow, {}, { continue: true }, permission('allow'), permission('defer')])(
    'is nobody where a hook says %j',
    (output) => expect(decide(BeforeTool, { output }).decidedBy).toBeUndefined(),
  );

  it('is the hook that failed as a guard, or blocked by exit code 2, and no hook that failed else', () => {
    const { decidedBy } = aggregateResults(
      [
        healthy(
          { decision: 'allow', systemMessage: 'Warning: oops' },
          { hookConfig: hook('true', { name: 'broken' }), success: false },
        ),
        healthy(
          { decision: 'deny', reason: 'no' },
          { hookConfig: hook('true', { name: 'guard' }), success: false },
        ),
        healthy(undefined, { hookConfig: hook('true', { name: 'silent' }), success: false }),
      ],
      BeforeTool,
    );
    expect(decidedBy).toEqual(['guard']);
  });

  it('is who stops, also where nobody else says anything', () => {
    expect(decide(BeforeTool, { budget: { continue: false } }).decidedBy).toEqual(['budget']);
  });

  it('lends the reasons of all to a stop where nobody blocks', () => {
    const budget = { continue: false, stopReason: 'spent', reason: 'twice' };
    expect(decide(BeforeTool, { budget, allow })).toMatchObject({
      decidedBy: ['budget'],
      reason: 'twice\nfine',
      stopReason: 'spent',
    });
  });

  it('is called by its command where it has no name', () => {
    const { decidedBy } = aggregateResults([healthy({ decision: 'deny' })], BeforeTool);
    expect(decidedBy).toEqual([expect.stringMatching(/^hook-/)]);
  });
});

describe('a permission', () => {
  it.each<[string, HookOutput, HookOutput]>([
    ['a denial', permission('deny', 'p'), { decision: 'deny', reason: 'p' }],
    ['a block', permission('block', 'p'), { decision: 'block', reason: 'p' }],
    ['a grant', permission('allow', 'p'), { decision: 'allow', reason: 'p' }],
    ['none', { decision: 'deny', reason: 'r' }, { decision: 'deny', reason: 'r' }],
    [
      'a denial with an empty reason',
      { reason: 'r', ...permission('deny', '') },
      { decision: 'deny', reason: 'r' },
    ],
    [
      'a denial beside an approval',
      { decision: 'approve', reason: 'r', ...permission('deny', 'p') },
      { decision: 'deny', reason: 'p' },
    ],
    [
      'a grant beside a denial',
      { decision: 'deny', reason: 'r', ...permission('allow', 'p') },
      { decision: 'deny', reason: 'r' },
    ],
    [
      'a reason alone',
      { decision: 'deny', reason: 'r', ...specific({ permissionDecisionReason: 'p' }) },
      { decision: 'deny', reason: 'p' },
    ],
  ])('is a decision by another name: %s', (_, output, expected) => {
    expect(merge(BeforeTool, output)).toEqual(expected);
  });

  it('leaves the other fields, and those of another hook', () => {
    const merged = merge(
      BeforeTool,
      specific({ tool_input: { a: 1 }, permissionDecision: 'deny', permissionDecisionReason: 'p' }),
      { decision: 'deny', reason: 'r' },
    );
    expect(merged).toEqual({
      decision: 'deny',
      reason: 'p\nr',
      hookSpecificOutput: { tool_input: { a: 1 } },
    });
  });
});

describe('blank texts', () => {
  it('are absent', () => {
    expect(merge(BeforeTool, { continue: false, stopReason: ' \n', reason: 'r' })).toMatchObject({
      stopReason: 'r',
    });
    expect(merge(BeforeTool, { decision: 'deny', reason: ' ', stopReason: 's' })).toMatchObject({
      reason: 's',
    });
    expect(merge(BeforeTool, { systemMessage: '  ' }, { reason: '\t' })).toEqual({});
  });

  it('are no lines among others', () => {
    expect(merge(BeforeTool, { systemMessage: 'a' }, { systemMessage: ' ' })).toEqual({
      systemMessage: 'a',
    });
  });
});

describe('the merge of BeforeTool', () => {
  it('merges changed arguments shallowly and cumulatively, the later hook first in rank', () => {
    const merged = merge(
      BeforeTool,
      specific({ tool_input: { a: 1, nested: { x: 1 } } }),
      specific({ tool_input: { b: 2, nested: { y: 2 } } }),
      specific({ tool_input: { a: 3 } }),
    );
    expect(merged.hookSpecificOutput?.['tool_input']).toEqual({ a: 3, b: 2, nested: { y: 2 } });
  });

  it('understands permissionDecision, also beside a hook that allows', () => {
    const denial = specific({ permissionDecision: 'deny', permissionDecisionReason: 'not here' });
    const grant = specific({ permissionDecision: 'allow', permissionDecisionReason: 'fine' });
    for (const outputs of [[denial], [denial, grant], [grant, denial], [denial, {}]]) {
      const { finalOutput } = aggregateResults(
        outputs.map((output) => healthy(output)),
        BeforeTool,
      );
      expect(finalOutput?.isBlockingDecision()).toBe(true);
      expect(finalOutput?.getEffectiveReason()).toBe('not here');
    }
  });

  it('does not explain a block with the reason of a hook that allows', () => {
    const { finalOutput } = aggregateResults(
      [
        healthy({ decision: 'deny', reason: 'secrets' }),
        healthy(specific({ permissionDecision: 'allow', permissionDecisionReason: 'fine' })),
      ],
      BeforeTool,
    );
    expect(finalOutput?.isBlockingDecision()).toBe(true);
    expect(finalOutput?.getEffectiveReason()).toContain('secrets');
  });

  it.each(['ask', 'allow', 'approve', null] as const)('does not block on %s', (decision) => {
    const { finalOutput } = aggregateResults([healthy({ decision })], BeforeTool);
    expect(finalOutput?.isBlockingDecision()).toBe(false);
  });

  it('shows ask as ask beside an allow', () => {
    expect(merge(BeforeTool, { decision: 'ask' }, { decision: 'allow' }).decision).toBe('ask');
  });

  it('drops keys that would change a prototype', () => {
    const output = JSON.parse(
      '{"hookSpecificOutput":{"tool_input":{"__proto__":{"polluted":true},"constructor":1,"a":1}}}',
    ) as HookOutput;
    const merged = merge(BeforeTool, specific({ tool_input: { b: 2 } }), output);
    expect(merged.hookSpecificOutput?.['tool_input']).toEqual({ a: 1, b: 2 });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('fields that one hook says and the others do not', () => {
  it('stay, and no field comes of nothing', () => {
    expect(merge(BeforeTool, { continue: true }, {})).toEqual({ continue: true });
    const merged = merge(BeforeTool, specific({ a: 1 }), specific({ b: 2 }));
    expect(Object.keys(merged.hookSpecificOutput ?? {})).toEqual(['a', 'b']);
    expect(merge(BeforeToolSelection, { systemMessage: 'note' }, {})).toEqual({
      systemMessage: 'note',
    });
  });

  it('that are no objects are overridden by the later one, and not by null', () => {
    const input = specific({ tool_input: { a: 1 } });
    const text = specific({ tool_input: 'text' });
    expect(merge(BeforeTool, input, text)).toEqual(text);
    expect(merge(BeforeTool, text, input)).toEqual(input);
    expect(merge(BeforeTool, input, specific({ tool_input: null }))).toEqual(input);
  });
});

describe('a field of a tool event', () => {
  it('of which the hooks say two things is as the first one said, where both allow', () => {
    const decision = 'approve';
    expect(merge(BeforeTool, { decision: 'allow' }, { decision }).decision).toBe('allow');
    expect(merge(BeforeTool, { decision: null }, { decision }).decision).toBe(decision);
    expect(merge(BeforeTool, { decision: null }, { decision: null })).toEqual({});
  });

  it('that is no object is no field of any hook', () => {
    const list = { hookSpecificOutput: ['x'] as unknown as Record<string, unknown> };
    const fields = specific({ a: 1 });
    expect(merge(BeforeTool, fields, list)).toEqual(fields);
    expect(merge(BeforeTool, list, fields)).toEqual(fields);
    expect(merge(AfterTool, list)).toEqual({});
  });

  it('is not joined with what another hook does not say', () => {
    const odd = specific({ additionalContext: 7 });
    const other = specific({ a: 1 });
    const both = specific({ additionalContext: 7, a: 1 });
    expect(merge(AfterTool, odd, other)).toEqual(both);
    expect(merge(AfterTool, other, odd)).toEqual(both);
  });
});

/** What comes of the effects that hooks of other agents have, and of `undefined` where a hook has none. */
function foreign(...effects: (ForeignEffects | undefined)[]): ForeignEffects | undefined {
  const outputs = effects.map((each): HookOutput => (each ? { foreign: each } : {}));
  return merge(BeforeTool, ...outputs).foreign;
}

/** Which of two replacements of a result counts. */
function winner(first?: ToolOutput, second?: ToolOutput): ToolOutput | undefined {
  return foreign({ toolOutput: first }, { toolOutput: second })?.toolOutput;
}

describe('what hooks of other agents say', () => {
  it('stays beside a hook that says nothing of the kind', () => {
    const effects = { contextOfResult: 'note', prevents: true };
    expect(foreign(effects, undefined)).toEqual(effects);
    expect(foreign(undefined, effects)).toEqual(effects);
    expect(foreign(undefined, undefined)).toBeUndefined();
  });

  it('is put together', () => {
    expect(
      foreign({ contextOfResult: 'a', droppedArguments: ['x'] }, { contextOfResult: 'b' }),
    ).toEqual({ contextOfResult: 'a\nb', droppedArguments: ['x'] });
    expect(foreign({}, { droppedArguments: ['y'] })).toEqual({ droppedArguments: ['y'] });
    expect(foreign({ prevents: true }, {})?.prevents).toBe(true);
    expect(foreign({}, { prevents: true })?.prevents).toBe(true);
    expect(foreign({}, {})).toEqual({ droppedArguments: [] });
  });

  it('of a result is the later replacement, unless one is a denial', () => {
    const [one, two] = [textInPlace('one'), textInPlace('two')];
    const denial = textInPlace('no', true);
    expect(winner(one, two)).toEqual(two);
    expect(winner(one)).toEqual(one);
    expect(winner(undefined, two)).toEqual(two);
    expect(winner(one, denial)).toEqual(denial);
    expect(winner(denial, one)).toEqual(denial);
    expect(winner(denial, textInPlace('never', true))).toEqual(textInPlace('no\nnever', true));
  });

  it('of parts of a result is of both, and of the later one where both gave the same', () => {
    const read = { llmContent: 'a', isDenial: false };
    const shown = { returnDisplay: 'b', isDenial: false };
    expect(winner(read, shown)).toEqual({ ...read, ...shown });
    expect(winner(textInPlace('one'), shown)).toEqual({ llmContent: 'one', ...shown });
  });

  it('drops an argument that an earlier hook wanted', () => {
    const dropping = { foreign: { droppedArguments: ['a'] } };
    const changing = specific({ tool_input: { a: 1, b: 2 }, additionalContext: 'c' });
    expect(merge(BeforeTool, changing, dropping).hookSpecificOutput).toEqual({
      tool_input: { b: 2 },
      additionalContext: 'c',
    });
    expect(merge(BeforeTool, dropping).hookSpecificOutput).toBeUndefined();
    const unchanged = specific({ additionalContext: 'c' });
    expect(merge(BeforeTool, unchanged, dropping).hookSpecificOutput).toEqual({
      additionalContext: 'c',
    });
  });
});

describe('the merge of AfterTool', () => {
  it('reports a block, so that its reason can be appended for the model', () => {
    const { finalOutput } = aggregateResults(
      [healthy({ decision: 'block', reason: 'leaks a key' })],
      AfterTool,
    );
    expect(finalOutput?.isBlockingDecision()).toBe(true);
    expect(finalOutput?.getEffectiveReason()).toBe('leaks a key');
  });
});

describe.each([BeforeModel, AfterModel])('the merge of %s', (event) => {
  it('lets later fields override earlier ones', () => {
    const merged = merge(
      event,
      { systemMessage: 's1', reason: 'r1', suppressOutput: true, ...specific({ a: 1, b: 1 }) },
      { systemMessage: 's2', suppressOutput: false, ...specific({ b: 2, c: 2 }) },
    );
    expect(merged).toEqual({
      systemMessage: 's2',
      reason: 'r1',
      suppressOutput: false,
      hookSpecificOutput: { a: 1, b: 2, c: 2 },
    });
  });

  it('lends no hook the answer of another one that did not block', () => {
    const merged = merge(
      event,
      { decision: 'allow', ...specific({ llm_response: { text: 'mine' } }) },
      { decision: 'deny', reason: 'no' },
    );
    const kept = event === HookEventName.AfterModel ? { llm_response: { text: 'mine' } } : {};
    expect(merged.hookSpecificOutput).toEqual(kept);
  });

  it.each(['llm_request', 'llm_response'])('merges %s and its config one level deeper', (field) => {
    const merged = merge(
      event,
      blockingWith({ [field]: { model: 'a', config: { temperature: 0, maxOutputTokens: 50 } } }),
      blockingWith({ [field]: { text: 'b', config: { temperature: 1 } } }),
    );
    expect(merged.hookSpecificOutput?.[field]).toEqual({
      model: 'a',
      text: 'b',
      config: { temperature: 1, maxOutputTokens: 50 },
    });
  });

  it('replaces lists as a whole', () => {
    const merged = merge(
      event,
      specific({ llm_request: { messages: [...messages('a'), ...messages('b')] } }),
      specific({ llm_request: { messages: messages('c') } }),
    );
    expect(merged.hookSpecificOutput?.['llm_request']).toEqual({ messages: messages('c') });
  });

  it('keeps a block and its reason when a later hook allows', () => {
    const merged = merge(
      event,
      { decision: 'deny', reason: 'no' },
      { decision: 'allow', reason: 'fine' },
    );
    expect(merged).toMatchObject({ decision: 'deny', reason: 'no' });
  });

  it('does not lend a later reason to a block that has none', () => {
    const merged = merge(event, { decision: 'deny' }, { decision: 'allow', reason: 'fine' });
    expect(merged).toEqual({ decision: 'deny', reason: 'Blocked by hook' });
  });

  it('lets a later block take over', () => {
    const merged = merge(
      event,
      { decision: 'deny', reason: 'first' },
      { decision: 'block', reason: 'second' },
    );
    expect(merged).toMatchObject({ decision: 'block', reason: 'second' });
  });

  it('keeps a stop and its reason when a later hook goes on', () => {
    const merged = merge(
      event,
      { continue: false, stopReason: 'budget' },
      { continue: true, stopReason: 'nothing' },
    );
    expect(merged).toMatchObject({ continue: false, stopReason: 'budget' });
  });

  it('keeps a stop whose reason is in reason', () => {
    const { finalOutput } = aggregateResults(
      [
        healthy({ continue: false, reason: 'budget' }),
        healthy({ decision: 'allow', reason: 'fine' }),
      ],
      event,
    );
    expect(finalOutput?.getEffectiveReason()).toBe('budget');
  });
});

const select = (...toolConfigs: object[]) =>
  merge(BeforeToolSelection, ...toolConfigs.map(config)).hookSpecificOutput?.['toolConfig'];

describe('the merge of BeforeToolSelection', () => {
  it('unites the names and sorts them', () => {
    expect(
      select(
        { allowedFunctionNames: ['write_file', 'glob'] },
        { allowedFunctionNames: ['read_file', 'glob'] },
        { allowedFunctionNames: ['edit'] },
      ),
    ).toEqual({ allowedFunctionNames: ['edit', 'glob', 'read_file', 'write_file'] });
  });

  it('sorts the names of a single hook', () => {
    expect(select({ allowedFunctionNames: ['b', 'a', 'b'] })).toEqual({
      allowedFunctionNames: ['a', 'b'],
    });
  });

  it('leaves out what is not a name', () => {
    expect(select({ allowedFunctionNames: ['b', 1, null, 'a'] })).toEqual({
      allowedFunctionNames: ['a', 'b'],
    });
  });

  it.each([
    [['AUTO', 'ANY'], 'ANY'],
    [['ANY', 'AUTO'], 'ANY'],
    [['AUTO', 'NONE', 'ANY'], 'NONE'],
    [['AUTO', 'AUTO'], 'AUTO'],
    [['ANY', 'NONE'], 'NONE'],
  ])('of the modes %j takes the most restrictive, %s', (modes, expected) => {
    expect(select(...modes.map((mode) => ({ mode })))).toMatchObject({ mode: expected });
  });

  it('leaves no names with mode NONE, whatever the other hooks say', () => {
    const none = { mode: 'NONE' };
    const names = { mode: 'AUTO', allowedFunctionNames: ['read_file'] };
    const expected = { mode: 'NONE', allowedFunctionNames: [] };
    expect(select(none, names)).toEqual(expected);
    expect(select(names, none)).toEqual(expected);
    expect(select({ ...names, mode: 'NONE' })).toEqual(expected);
  });

  it('leaves names absent when no hook gave any, and empty when a hook gave an empty list', () => {
    expect(select({ mode: 'ANY' }, { mode: 'AUTO' })).toEqual({ mode: 'ANY' });
    expect(select({ mode: 'ANY', allowedFunctionNames: [] })).toEqual({
      mode: 'ANY',
      allowedFunctionNames: [],
    });
  });

  it('has no mode where no hook names a known one', () => {
    const { finalOutput } = aggregateResults(
      [healthy(config({ mode: 'SOME', allowedFunctionNames: ['glob'] }))],
      BeforeToolSelection,
    );
    expect(finalOutput?.hookSpecificOutput).toStrictEqual({
      toolConfig: { allowedFunctionNames: ['glob'] },
    });
  });

  it('takes no selection that is no object for one', () => {
    expect(select({ mode: 'ANY' }, 'NONE' as unknown as object)).toEqual({ mode: 'ANY' });
  });

  it('keeps the selection of one hook beside others that say nothing about it', () => {
    const merged = merge(
      BeforeToolSelection,
      config({ mode: 'ANY', allowedFunctionNames: ['glob'] }),
      { systemMessage: 'note' },
    );
    expect(merged).toEqual({
      systemMessage: 'note',
      hookSpecificOutput: { toolConfig: { mode: 'ANY', allowedFunctionNames: ['glob'] } },
    });
  });

  it('keeps a stop and its reason', () => {
    const merged = merge(
      BeforeToolSelection,
      { continue: false, stopReason: 'budget' },
      { continue: true, ...config({ mode: 'ANY' }) },
    );
    expect(merged).toMatchObject({ continue: false, stopReason: 'budget' });
  });
});

describe('createSpecificHookOutput', () => {
  it.each([
    [BeforeTool, BeforeToolHookOutput],
    [BeforeModel, BeforeModelHookOutput],
    [AfterModel, AfterModelHookOutput],
    [BeforeToolSelection, BeforeToolSelectionHookOutput],
  ])('wraps the output of %s in its class', (event, expected) => {
    expect(createSpecificHookOutput({}, event)).toBeInstanceOf(expected);
  });

  it('understands permissionDecision for BeforeTool', () => {
    const output = createSpecificHookOutput(specific({ permissionDecision: 'block' }), BeforeTool);
    expect(output.isBlockingDecision()).toBe(true);
  });
});
