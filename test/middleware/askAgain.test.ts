import { describe, expect, it } from 'vitest';
import { runner, type Runner } from '../../middleware/runner.js';
import type { AnyHookContext } from '../../src/context.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookOutput,
  type HookPayload,
} from '../../src/protocol/types.js';
import { commonInput, healthy, hook, hookContext } from '../helpers/hooks.js';
import { countingNext } from '../helpers/next.js';

/** A hook of a plan: `says` is what it answers when it is asked first, second, and so on; afterwards, nothing. */
interface Part extends Pick<CommandHookConfig, 'scope' | 'onFailure'> {
  readonly says?: readonly (HookOutput | undefined)[];
  /** When its run is none of success: the first time is 1. */
  readonly failsAt?: number;
}

const guard = { onFailure: 'deny' } as const;

const specific = (fields: Record<string, unknown>) => ({ hookSpecificOutput: fields });
const to = (path: string) => specific({ tool_input: { path } });

const toolCall = { toolName: 'write_file', toolInput: { path: 'a' } };
const llmRequest = { model: 'm', contents: 'hello' };

interface Scene<E extends HookEventName> {
  readonly event: E;
  readonly payload: HookPayload<E>;
  /** What hooks read first. */
  readonly fields: object;
}

const TOOL: Scene<HookEventName.BeforeTool> = {
  event: HookEventName.BeforeTool,
  payload: toolCall,
  fields: { tool_name: 'write_file', tool_input: { path: 'a' } },
};

const MODEL: Scene<HookEventName.BeforeModel> = {
  event: HookEventName.BeforeModel,
  payload: { llmRequest },
  fields: { llm_request: { model: 'm', messages: [{ role: 'user', content: 'hello' }] } },
};

/** Runs the hooks of a plan. `again` is who was asked once more, round by round, and what they read then. */
async function play<E extends HookEventName>(
  parts: Record<string, Part>,
  { event, payload, fields }: Scene<E>,
  sequential = false,
) {
  const players = Object.entries(parts).map(([name, { says = [], failsAt, ...settings }]) => ({
    hookConfig: hook(name, { name, ...settings }),
    says,
    failsAt,
    times: 0,
  }));
  const rounds: { names: unknown[]; read: object }[] = [];
  const execute: Runner['executeHooksParallel'] = async (hookConfigs, eventName, read) => {
    const asked = players.filter(({ hookConfig }) => hookConfigs.includes(hookConfig));
    rounds.push({ names: asked.map(({ hookConfig }) => hookConfig.name), read });
    return asked.map((player) => {
      const output = player.says[player.times++];
      const success = player.times !== player.failsAt;
      return healthy(output, { hookConfig: player.hookConfig, eventName, success });
    });
  };
  const hookConfigs = players.map(({ hookConfig }) => hookConfig);
  const input = { ...commonInput(event, '/project'), ...fields };
  const plan = { eventName: event, hookConfigs, sequential };
  const ctx = hookContext(event, payload, { plan, input: input as never });
  const stage = runner({ executeHooksParallel: execute, executeHooksSequential: execute });
  await stage(ctx as AnyHookContext, countingNext());
  const [first, ...again] = rounds;
  expect(first).toEqual({ names: Object.keys(parts), read: input });
  const said = ctx.results?.map(({ hookConfig, output }) => [hookConfig.name, output]);
  return { input, again, said, results: ctx.results ?? [] };
}

const namesOf = (rounds: readonly { names: unknown[] }[]) => rounds.map(({ names }) => names);

describe('what one of several hooks has changed', () => {
  it('is put to a guard that has not read it, and to no one else', async () => {
    const parts = { guard, observer: {}, changer: { says: [to('b')] } };
    const { input, again } = await play(parts, TOOL);
    expect(again).toEqual([{ names: ['guard'], read: { ...input, tool_input: { path: 'b' } } }]);
  });

  it.each<[string, Record<string, Part>, string[]]>([
    ['less trusted', { user: { scope: 'user' }, changer: { scope: 'project' } }, ['user']],
    ['as trusted', { user: { scope: 'user' }, changer: { scope: 'user' } }, []],
    [
      'more trusted',
      { user: { scope: 'user' }, project: { scope: 'project' }, changer: { scope: 'system' } },
      [],
    ],
    [
      'less trusted, beside one that is more trusted',
      { user: { scope: 'user' }, trusted: { says: [to('c')] }, changer: { scope: 'project' } },
      ['trusted', 'user'],
    ],
  ])('is put to other hooks where the one that did is %s', async (_title, parts, asked) => {
    const changer = { ...parts['changer'], says: [to('b')] };
    const { again } = await play({ ...parts, changer }, TOOL);
    const expected = asked.filter((name) => parts[name]?.says === undefined);
    expect(namesOf(again)).toEqual(expected.length > 0 ? [expected] : []);
  });

  it.each<[string, Part]>([
    ['nothing', { says: [] }],
    ['something to the user', { says: [{ systemMessage: 'hello' }] }],
    ['what it is already', { says: [to('a')] }],
    ['that it denies', { says: [{ decision: 'deny', ...to('b') }] }],
    ['that it stops', { says: [{ continue: false, ...to('b') }] }],
    ['what does not count, since it failed', { says: [to('b')], failsAt: 1 }],
  ])('is put to nobody where it says %s', async (_title, changer) => {
    for (const sequential of [false, true]) {
      const { again, said } = await play({ changer, guard }, TOOL, sequential);
      expect(again).toEqual([]);
      expect(said).toHaveLength(2);
    }
  });

  it('is put to nobody where another one denies', async () => {
    const parts = { guard, changer: { says: [to('b')] }, other: { says: [{ decision: 'deny' }] } };
    expect((await play(parts as Record<string, Part>, TOOL)).again).toEqual([]);
  });

  it('is put to the guards of a chain that came before it', async () => {
    const parts = { before: guard, changer: { says: [to('b')] }, behind: guard };
    expect(namesOf((await play(parts, TOOL, true)).again)).toEqual([['before']]);
    expect(namesOf((await play(parts, TOOL)).again)).toEqual([['before', 'behind']]);
  });

  it('is not put to the guard that has made the same of it', async () => {
    const parts = { guard: { ...guard, says: [to('b')] }, changer: { says: [to('b')] } };
    expect((await play(parts, TOOL)).again).toEqual([]);
  });

  it('is put to nobody at an event that goes on with what it had', async () => {
    const scene: Scene<HookEventName.AfterTool> = {
      event: HookEventName.AfterTool,
      payload: { ...toolCall, toolResponse: { llmContent: 'x', returnDisplay: 'x' } },
      fields: { tool_response: { llmContent: 'x', returnDisplay: 'x' } },
    };
    const { again, said } = await play({ guard, changer: { says: [to('b')] } }, scene);
    expect(again).toEqual([]);
    expect(said).toEqual([
      ['guard', undefined],
      ['changer', to('b')],
    ]);
  });
});

describe('a hook that is asked again', () => {
  const changer = { says: [to('b')] };

  it('has what it said first replaced, except for its changes', async () => {
    const first = {
      decision: 'ask' as const,
      systemMessage: 'first',
      hookSpecificOutput: { tool_input: { mode: 1 }, additionalContext: 'first' },
      foreign: { droppedArguments: ['old'], contextOfResult: 'first' },
    };
    const second = { systemMessage: 'second' };
    const { said } = await play({ guard: { ...guard, says: [first, second] }, changer }, TOOL);
    expect(said).toEqual([
      [
        'guard',
        { ...specific({ tool_input: { mode: 1 } }), foreign: { droppedArguments: ['old'] } },
      ],
      ['changer', to('b')],
      ['guard', second],
    ]);
  });

  it('has no more said than it did, where it changed nothing', async () => {
    const parts = {
      silent: guard,
      asking: { ...guard, says: [{ decision: 'ask' as const, reason: 'really?' }] },
      changer,
    };
    const { said } = await play(parts, TOOL);
    expect(said?.slice(0, 2)).toEqual([
      ['silent', specific({})],
      ['asking', specific({})],
    ]);
  });

  it('stays with its changes to a request, and takes none of another one back', async () => {
    const request = (fields: object) => specific({ llm_request: fields });
    const changes = { ...guard, says: [{ ...request({ temperature: 1 }), reason: 'first' }] };
    const parts = { model: { says: [request({ model: 'large' })] }, changes, silent: guard };
    const { again, said } = await play(parts, MODEL);
    const names = ['changes', 'silent'];
    expect(again).toMatchObject([{ names, read: { llm_request: { model: 'large' } } }]);
    expect(said?.slice(0, 3)).toEqual([
      ['model', request({ model: 'large' })],
      ['changes', request({ temperature: 1 })],
      ['silent', specific({})],
    ]);
  });

  it('has said what it said first where it fails then', async () => {
    const asks = { decision: 'ask' as const, reason: 'really?' };
    const parts = { guard: { ...guard, says: [asks], failsAt: 2 }, changer };
    const { said } = await play(parts, TOOL);
    expect(said).toEqual([
      ['guard', asks],
      ['changer', to('b')],
      ['guard', undefined],
    ]);
  });

  it('may deny, and then nobody else is asked', async () => {
    const denial = { decision: 'deny' as const, reason: 'no' };
    const denies = { ...guard, says: [undefined, { ...denial, ...to('c') }] };
    const { again, said } = await play({ denies, other: guard, changer }, TOOL);
    expect(namesOf(again)).toEqual([['denies', 'other']]);
    expect(said?.slice(-2)).toEqual([
      ['denies', { ...denial, ...to('c') }],
      ['other', undefined],
    ]);
  });

  it('may change it as well, which is put to the other guards once more', async () => {
    const changing = { ...guard, says: [undefined, to('c')] };
    const { again } = await play({ changing, other: guard, changer }, TOOL);
    expect(again).toMatchObject([
      { names: ['changing', 'other'], read: { tool_input: { path: 'b' } } },
      { names: ['other'], read: { tool_input: { path: 'c' } } },
    ]);
  });

  it('is asked three times at most: where one has not seen what would run, it is denied', async () => {
    const restless = { ...guard, says: ['1', '2', '3', '4', '5', '6'].map(to) };
    const other = { ...guard, says: ['6', '5', '4', '3', '2', '1'].map(to) };
    const { again, results } = await play({ restless, other, steady: {} }, TOOL);
    expect(again).toHaveLength(3);
    const last = results.at(-1);
    expect(last).toMatchObject({
      eventName: HookEventName.BeforeTool,
      success: true,
      duration: 0,
      output: { decision: 'deny' },
    });
    expect(last?.output?.reason).toBe(
      `Hooks changed again and again what the hook "${last?.hookConfig.name}" has to see before it runs: let only one of them change it, or put them into a group with "sequential": true.`,
    );
  });

  it('goes on where all agree in the third round', async () => {
    const restless = { ...guard, says: [to('1'), to('2'), to('3')] };
    const { again, results } = await play(
      { restless, other: guard, changer: { says: [to('b')] } },
      TOOL,
    );
    expect(again.length).toBeLessThanOrEqual(3);
    expect(results.map(({ output }) => output?.decision)).not.toContain('deny');
  });
});
