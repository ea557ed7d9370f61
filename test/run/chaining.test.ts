import { describe, expect, it } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type HookEventInput,
  type HookInput,
} from '../../src/protocol/types.js';
import { blocking, commonInput, hook, keepInput, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const { BeforeTool, BeforeModel, BeforeAgent } = HookEventName;
const temp = useTempDir();

const specific = (fields: Record<string, unknown>) => ({ hookSpecificOutput: fields });
const change = (value: number) => specific({ tool_input: { value } });

/** Runs hooks as a chain; `read` returns what the n-th of them (from 1) read, if it keeps its input. */
async function runChain(event: HookEventName, fields: object, outputs: readonly unknown[]) {
  const input: HookInput = { ...commonInput(event, temp.path), ...fields };
  const before = structuredClone(input);
  const hooks = outputs.map((output, index) =>
    saying(output, { before: keepInput(`${index + 1}.json`) }),
  );
  const runner = new HookRunner(new RecordingLogger());
  const results = await runner.executeHooksSequential(hooks, event, input);
  expect(input).toEqual(before);
  const read = (position: number) => temp.readJson(`${position}.json`);
  return { input, results, read };
}

describe('a chain', () => {
  it('runs its hooks in order, one at a time', async () => {
    const slow = 'echo "> $0" >> log; sleep 0.05; echo "< $0" >> log';
    const hooks = ['a', 'b', 'c'].map((name) => hook(slow.replaceAll('$0', name)));
    const input = { ...commonInput(BeforeAgent, temp.path), prompt: 'p' };
    const runner = new HookRunner(new RecordingLogger());
    const results = await runner.executeHooksSequential(hooks, BeforeAgent, input);
    expect(await temp.readLines('log')).toEqual(['> a', '< a', '> b', '< b', '> c', '< c']);
    expect(results.map(({ hookConfig }) => hookConfig)).toEqual(hooks);
  });

  it.each([
    ['exit code 2', blocking('no')],
    ['a deny', saying({ decision: 'deny' })],
    ['a block', saying({ decision: 'block' })],
    ['a denied permission', saying(specific({ permissionDecision: 'deny' }))],
    ['a stop', saying({ continue: false })],
  ])('ends at %s', async (_, ending) => {
    const input = { ...commonInput(BeforeTool, temp.path), tool_name: 't', tool_input: {} };
    const runner = new HookRunner(new RecordingLogger());
    const hooks = [hook('true'), ending, hook(': > ran')];
    const results = await runner.executeHooksSequential(hooks, BeforeTool, input);
    expect(results.map(({ hookConfig }) => hookConfig)).toEqual(hooks.slice(0, 2));
    await expect(temp.readLines('ran')).rejects.toThrow('ENOENT');
  });

  it.each([
    ['an ask', saying({ decision: 'ask' })],
    ['an allow', saying({ decision: 'allow', continue: true })],
    ['a failure', hook('exit 1')],
    ['a failure that says deny', saying({ decision: 'deny' }, { before: 'trap "exit 1" EXIT' })],
    ['plain text', hook('echo deny')],
  ])('goes on after %s', async (_, first) => {
    const input = { ...commonInput(BeforeTool, temp.path), tool_name: 't', tool_input: {} };
    const runner = new HookRunner(new RecordingLogger());
    const hooks = [first, hook('true')];
    expect(await runner.executeHooksSequential(hooks, BeforeTool, input)).toHaveLength(2);
  });

  it('passes the input on unchanged after a hook that failed', async () => {
    const fields = { tool_name: 't', tool_input: { value: 0 } };
    const input = { ...commonInput(BeforeTool, temp.path), ...fields };
    const hooks = [
      saying(change(1)),
      saying(change(2), { before: 'trap "exit 1" EXIT' }),
      hook(keepInput('last.json')),
    ];
    const runner = new HookRunner(new RecordingLogger());
    await runner.executeHooksSequential(hooks, BeforeTool, input);
    expect(await temp.readJson('last.json')).toMatchObject({ tool_input: { value: 1 } });
  });
});

describe('a chain of BeforeTool', () => {
  it('merges changed arguments shallowly over all that came before', async () => {
    const { read } = await runChain(
      BeforeTool,
      { tool_name: 't', tool_input: { path: 'a', options: { deep: true }, mode: 1 } },
      [
        specific({ tool_input: { path: 'b' } }),
        specific({ tool_input: { options: { fast: true } } }),
        { systemMessage: 'nothing to change' },
        {},
      ],
    );
    const inputs = await Promise.all([1, 2, 3, 4].map(read));
    expect(inputs.map((input) => (input as { tool_input: unknown }).tool_input)).toEqual([
      { path: 'a', options: { deep: true }, mode: 1 },
      { path: 'b', options: { deep: true }, mode: 1 },
      { path: 'b', options: { fast: true }, mode: 1 },
      { path: 'b', options: { fast: true }, mode: 1 },
    ]);
  });

  it('aggregates to what the last hook saw, plus its own change', async () => {
    const { results } = await runChain(BeforeTool, { tool_name: 't', tool_input: { a: 0, b: 0 } }, [
      specific({ tool_input: { a: 1, c: 1 } }),
      specific({ tool_input: { a: 2 } }),
    ]);
    const { finalOutput } = aggregateResults(results, BeforeTool);
    expect(finalOutput?.hookSpecificOutput?.['tool_input']).toEqual({ a: 2, c: 1 });
  });

  it('ignores arguments that are no object', async () => {
    const { read, input } = await runChain(BeforeTool, { tool_name: 't', tool_input: { a: 1 } }, [
      specific({ tool_input: ['b'] }),
      {},
    ]);
    expect(await read(2)).toEqual(input);
  });
});

describe('a chain of BeforeModel', () => {
  const llmRequest: HookEventInput<HookEventName.BeforeModel>['llm_request'] = {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    config: { temperature: 1, maxOutputTokens: 50 },
  };

  it('merges a changed request, and its config one level deeper', async () => {
    const { read } = await runChain(BeforeModel, { llm_request: llmRequest }, [
      specific({ llm_request: { config: { temperature: 0 } } }),
      specific({ llm_request: { model: 'n', messages: [{ role: 'user', content: 'bye' }] } }),
      {},
    ]);
    const config = { temperature: 0, maxOutputTokens: 50 };
    expect(await read(2)).toMatchObject({ llm_request: { ...llmRequest, config } });
    expect(await read(3)).toMatchObject({
      llm_request: { model: 'n', messages: [{ role: 'user', content: 'bye' }], config },
    });
  });
});

describe('a chain of BeforeAgent', () => {
  it('adds context to the prompt', async () => {
    const { read } = await runChain(BeforeAgent, { prompt: 'fix it' }, [
      specific({ additionalContext: 'it is broken' }),
      specific({ additionalContext: '' }),
      specific({ additionalContext: 'very' }),
      {},
    ]);
    expect(await read(2)).toMatchObject({ prompt: 'fix it\n\nit is broken' });
    expect(await read(3)).toMatchObject({ prompt: 'fix it\n\nit is broken' });
    expect(await read(4)).toMatchObject({ prompt: 'fix it\n\nit is broken\n\nvery' });
  });
});

describe('a chain of any other event', () => {
  const llm = { llm_request: { model: 'm', messages: [] } };
  const everything = specific({
    tool_input: { changed: true },
    llm_request: { model: 'changed' },
    llm_response: { text: 'changed' },
    toolConfig: { mode: 'ANY' },
    additionalContext: 'changed',
  });

  it.each<[HookEventName, object]>([
    [HookEventName.AfterTool, { tool_name: 't', tool_input: { a: 1 }, tool_response: {} }],
    [HookEventName.AfterModel, { ...llm, llm_response: { candidates: [] } }],
    [HookEventName.BeforeToolSelection, llm],
    [HookEventName.AfterAgent, { prompt: 'p', prompt_response: 'r', stop_hook_active: false }],
    [HookEventName.SessionStart, { source: SessionStartSource.Startup }],
    [HookEventName.SessionEnd, { reason: SessionEndReason.Exit }],
    [HookEventName.PreCompress, { trigger: PreCompressTrigger.Manual }],
    [
      HookEventName.Notification,
      { notification_type: NotificationType.Other, message: 'm', details: {} },
    ],
  ])('%s passes the input on unchanged', async (event, fields) => {
    const { input, read, results } = await runChain(event, fields, [everything, {}]);
    expect(results).toHaveLength(2);
    expect(await read(2)).toEqual(input);
  });
});

describe('applyHookOutputToInput', () => {
  const runner = new HookRunner(new RecordingLogger());

  it('returns the same input where nothing changes', () => {
    const input = { ...commonInput(BeforeTool, '/'), tool_name: 't', tool_input: {} };
    expect(runner.applyHookOutputToInput(input, { decision: 'allow' }, BeforeTool)).toBe(input);
  });

  it('returns a new input and leaves the old one', () => {
    const input = { ...commonInput(BeforeTool, '/'), tool_name: 't', tool_input: { a: 1 } };
    const output = specific({ tool_input: { b: 2 } });
    const changed = runner.applyHookOutputToInput(input, output, BeforeTool);
    expect(changed).toEqual({ ...input, tool_input: { a: 1, b: 2 } });
    expect(input.tool_input).toEqual({ a: 1 });
  });
});
