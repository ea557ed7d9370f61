import { describe, expect, it } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import { mayReplaceApproval } from '../../middleware/scopes.js';
import { textInPlace, type AggregatedHookResult } from '../../src/protocol/hookOutput.js';
import { HookEventName, type HookOutput, type HookScope } from '../../src/protocol/types.js';
import { healthy, hook } from '../helpers/hooks.js';

const { BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection } = HookEventName;

/** What a hook of a scope says. The hook of `host` is one that the host gave, of no scope. */
type Said = readonly [scope: HookScope | 'host', output: HookOutput];

/** Hooks are called by their scope and place, such as `user 1`. */
function aggregate(event: HookEventName, ...said: readonly Said[]): AggregatedHookResult {
  const results = said.map(([scope, output], index) => {
    const settings = { name: `${scope} ${index + 1}`, ...(scope !== 'host' && { scope }) };
    return healthy(output, { eventName: event, hookConfig: hook('true', settings) });
  });
  return aggregateResults(results, event);
}

/** As plain data, without absent fields. */
function merge(event: HookEventName, ...said: readonly Said[]): HookOutput {
  return JSON.parse(JSON.stringify(aggregate(event, ...said).finalOutput)) as HookOutput;
}

/** In both orders of the plan, which must not make a difference. */
function mergeInAnyOrder(event: HookEventName, ...said: readonly Said[]): HookOutput {
  const merged = merge(event, ...said);
  expect(merge(event, ...said.toReversed())).toEqual(merged);
  return merged;
}

const specific = (fields: Record<string, unknown>): HookOutput => ({ hookSpecificOutput: fields });
const selects = (toolConfig: object) => specific({ toolConfig });
const names = (...allowedFunctionNames: string[]) => selects({ mode: 'ANY', allowedFunctionNames });
const answers = (text: string) => specific({ llm_response: { text } });
const change = (from: string) => specific({ tool_input: { from } });
const context = (additionalContext: string) => specific({ additionalContext });
const permits = (permissionDecision: string) => specific({ permissionDecision });
const deny = (reason: string): HookOutput => ({ decision: 'deny', reason });
const replaces = (text: string, isDenial: boolean): HookOutput => ({
  foreign: { toolOutput: textInPlace(text, isDenial) },
});
const hides = (suppressOutput?: boolean): HookOutput =>
  suppressOutput === undefined ? { continue: true } : { suppressOutput };

describe('what a more trusted hook says', () => {
  it.each<[HookEventName, string]>([
    [BeforeTool, 'tool_input'],
    [BeforeModel, 'llm_request'],
  ])('of %s counts over what a less trusted one says: %s', (event, field) => {
    const merged = mergeInAnyOrder(
      event,
      ['project', specific({ [field]: { model: 'p', top: 'p', own: 'p' } })],
      ['user', specific({ [field]: { model: 'u', top: 'u' } })],
      ['host', specific({ [field]: { model: 'h' } })],
    );
    expect(merged.hookSpecificOutput).toEqual({ [field]: { model: 'h', top: 'u', own: 'p' } });
  });

  it('counts over that of the extension, and this over that of the project', () => {
    const said: Said[] = [
      ['system', change('system')],
      ['user', change('user')],
      ['extension', change('extension')],
      ['project', change('project')],
    ];
    for (let first = 0; first < said.length; first++) {
      const merged = mergeInAnyOrder(BeforeTool, ...said.slice(first));
      expect(merged.hookSpecificOutput).toEqual({ tool_input: { from: said[first]?.[0] } });
    }
  });

  it('of one scope, the later one counts', () => {
    const said: Said[] = [
      ['user', change('first')],
      ['project', change('project')],
      ['user', change('second')],
    ];
    expect(merge(BeforeTool, ...said).hookSpecificOutput).toEqual({
      tool_input: { from: 'second' },
    });
  });

  it('is the answer, where a less trusted one has another', () => {
    const merged = mergeInAnyOrder(AfterModel, ['project', answers('p')], ['user', answers('u')]);
    expect(merged.hookSpecificOutput).toEqual({ llm_response: { text: 'u' } });
  });

  it.each<[string, HookOutput]>([
    ['says nothing of it', { systemMessage: 'hello' }],
    ['goes on', { continue: true }],
    ['says something else of it', specific({ note: 'x' })],
  ])('leaves the answer of a less trusted one where it %s', (_title, output) => {
    const merged = mergeInAnyOrder(AfterModel, ['project', answers('p')], ['user', output]);
    expect(merged.hookSpecificOutput).toMatchObject({ llm_response: { text: 'p' } });
  });

  it('is no answer where it stops, and no other takes its place', () => {
    const stop = { continue: false, stopReason: 'enough' };
    const merged = mergeInAnyOrder(AfterModel, ['project', answers('p')], ['user', stop]);
    expect(merged).toEqual({ ...stop, hookSpecificOutput: {} });
  });

  it('of a result stays, also where a less trusted one denies', () => {
    const merged = mergeInAnyOrder(
      AfterTool,
      ['project', replaces('denied', true)],
      ['user', replaces('redacted', false)],
      ['system', { systemMessage: 'hello' }],
    );
    expect(merged.foreign?.toolOutput).toEqual(textInPlace('redacted'));
  });

  it('beside what it replaces, nothing is lost', () => {
    const merged = merge(
      AfterTool,
      ['project', { foreign: { contextOfResult: 'p', prevents: true } }],
      ['user', { foreign: { contextOfResult: 'u' } }],
    );
    expect(merged.foreign).toMatchObject({ contextOfResult: 'p\nu', prevents: true });
  });

  it('is the verdict at an event of which only one counts', () => {
    const said: Said[] = [
      ['user', deny('u')],
      ['project', deny('p')],
    ];
    for (const order of [said, said.toReversed()]) {
      const { finalOutput, decidedBy } = aggregate(BeforeModel, ...order);
      expect(finalOutput).toMatchObject({ decision: 'deny', reason: 'u' });
      expect(decidedBy).toEqual([expect.stringMatching(/^user/)]);
    }
  });
});

describe('hooks of several scopes', () => {
  it.each([BeforeTool, BeforeModel, BeforeToolSelection])(
    'have all their messages read at %s, in the order of the plan',
    (event) => {
      const said: Said[] = [
        ['project', { systemMessage: 'one' }],
        ['user', {}],
        ['user', { systemMessage: 'two' }],
      ];
      expect(merge(event, ...said).systemMessage).toBe('one\ntwo');
      expect(merge(event, ...said.toReversed()).systemMessage).toBe('two\none');
    },
  );

  it('say nothing where none of them does', () => {
    const said: Said[] = [
      ['project', { continue: true }],
      ['user', { continue: true }],
    ];
    expect(merge(BeforeTool, ...said)).toEqual({ continue: true });
    expect(merge(BeforeModel, ...said)).toEqual({ continue: true });
  });

  it.each<[string, boolean | undefined, boolean | undefined, boolean | undefined]>([
    ['hides it', true, false, true],
    ['hides it, and the others say nothing', true, undefined, true],
    ['shows it', false, undefined, false],
    ['goes on, and says nothing of it', undefined, undefined, undefined],
  ])('hide what comes of it where one %s', (_title, one, other, expected) => {
    for (const event of [BeforeTool, AfterModel]) {
      for (const scopes of [['user', 'project'] as const, ['project', 'user'] as const]) {
        const merged = mergeInAnyOrder(event, [scopes[0], hides(one)], [scopes[1], hides(other)]);
        expect(merged.suppressOutput).toBe(expected);
      }
    }
  });

  it('have other fields merged in the order of the plan', () => {
    const said: Said[] = [
      ['user', context('u')],
      ['project', context('p')],
    ];
    expect(merge(AfterTool, ...said).hookSpecificOutput).toEqual({ additionalContext: 'u\np' });
    expect(merge(AfterTool, ...said.toReversed()).hookSpecificOutput).toEqual({
      additionalContext: 'p\nu',
    });
  });

  it('withhold what a failed guard of any of them withholds', () => {
    const merged = mergeInAnyOrder(
      AfterTool,
      ['project', { foreign: { withheld: 'no' } }],
      ['user', { foreign: { toolOutput: textInPlace('fine') } }],
    );
    expect(merged.foreign).toMatchObject({ toolOutput: textInPlace('no', true) });
  });
});

describe('the tools that several scopes select', () => {
  it.each<[string, Said[], object]>([
    [
      'are those that all of them allow',
      [
        ['user', names('a', 'b', 'c')],
        ['extension', names('b', 'c', 'd')],
        ['project', names('c', 'a')],
      ],
      { mode: 'ANY', allowedFunctionNames: ['c'] },
    ],
    [
      'are none where they have none in common',
      [
        ['user', names('a')],
        ['project', names('b')],
      ],
      { mode: 'NONE', allowedFunctionNames: [] },
    ],
    [
      'are none where one allows none',
      [
        ['user', names('a')],
        ['project', selects({ mode: 'NONE' })],
      ],
      { mode: 'NONE', allowedFunctionNames: [] },
    ],
    [
      'are within a scope those of all its hooks',
      [
        ['user', names('a')],
        ['user', names('b')],
        ['project', names('a', 'b', 'c')],
      ],
      { mode: 'ANY', allowedFunctionNames: ['a', 'b'] },
    ],
    [
      'are those of one, where the others name none',
      [
        ['user', selects({ mode: 'AUTO' })],
        ['project', names('a')],
        ['system', { systemMessage: 'hello' }],
      ],
      { mode: 'ANY', allowedFunctionNames: ['a'] },
    ],
    [
      'are all where none of them names any',
      [
        ['user', selects({ mode: 'AUTO' })],
        ['project', selects({ mode: 'ANY' })],
      ],
      { mode: 'ANY' },
    ],
    [
      'have no mode where none is known',
      [
        ['user', selects({ allowedFunctionNames: ['a'] })],
        ['project', selects({ mode: 'some', allowedFunctionNames: ['a'] })],
      ],
      { allowedFunctionNames: ['a'] },
    ],
  ])('%s', (_title, said, toolConfig) => {
    const merged = mergeInAnyOrder(BeforeToolSelection, ...said);
    expect(merged.hookSpecificOutput).toEqual({ toolConfig });
  });

  it('stay as they are where none of them selects any', () => {
    const note: Said[] = [
      ['user', specific({ note: 'u' })],
      ['project', specific({ note: 'u' })],
    ];
    expect(mergeInAnyOrder(BeforeToolSelection, ...note).hookSpecificOutput).toEqual({ note: 'u' });
  });
});

describe('an allow in place of a person', () => {
  const asks: HookOutput = { decision: 'ask' };
  const allows: HookOutput = { decision: 'allow' };

  it.each<[boolean, Said[], Said[]]>([
    [true, [['user', allows]], [['user', asks]]],
    [true, [['user', allows]], [['project', asks]]],
    [true, [['host', allows]], [['system', asks]]],
    [false, [['project', allows]], [['user', asks]]],
    [
      true,
      [
        ['project', allows],
        ['user', allows],
      ],
      [['user', asks]],
    ],
    [
      false,
      [['extension', allows]],
      [
        ['project', asks],
        ['user', asks],
      ],
    ],
    [
      true,
      [['project', allows]],
      [
        ['project', asks],
        ['user', allows],
      ],
    ],
    [
      false,
      [
        ['project', allows],
        ['user', { systemMessage: 'hello' }],
      ],
      [['user', asks]],
    ],
    [
      false,
      [
        ['user', allows],
        ['project', { decision: 'deny' }],
      ],
      [['user', asks]],
    ],
    [false, [['user', { systemMessage: 'hello' }]], [['user', asks]]],
    [false, [], [['user', asks]]],
  ])('counts: %s', (expected, allowing, asking) => {
    const given = aggregate(BeforeTool, ...allowing);
    expect(mayReplaceApproval(given, aggregate(BeforeTool, ...asking))).toBe(expected);
  });

  it('counts as well where it is said in the words of the event', () => {
    const given = aggregate(BeforeTool, ['user', permits('allow')]);
    expect(mayReplaceApproval(given, aggregate(BeforeTool, ['user', permits('ask')]))).toBe(true);
    const less = aggregate(BeforeTool, ['project', permits('allow')]);
    expect(mayReplaceApproval(less, aggregate(BeforeTool, ['user', permits('ask')]))).toBe(false);
  });
});
