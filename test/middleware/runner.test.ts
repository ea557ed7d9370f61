import { describe, expect, it } from 'vitest';
import { runner, type Runner } from '../../middleware/runner.js';
import { Config } from '../../src/config/config.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookExecutionPlan,
} from '../../src/protocol/types.js';
import {
  beforeToolInput,
  failed,
  healthy,
  hook,
  hookContext,
  keepInput,
  saying,
} from '../helpers/hooks.js';
import { keepWritten } from '../helpers/keepWritten.js';
import { countingNext, failingNext } from '../helpers/next.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const payload = { toolName: 'write_file', toolInput: {}, callId: 'call 1' };
const temp = useTempDir();

function plan(sequential: boolean, ...commands: string[]): HookExecutionPlan {
  return {
    eventName: HookEventName.BeforeTool,
    hookConfigs: commands.map((command) => hook(command)),
    sequential,
  };
}

/** Says which of its methods was asked, in the exit code of its only result. */
const PARALLEL = 10;
const SEQUENTIAL = 11;
const telling: Runner = {
  executeHooksParallel: async () => [failed(PARALLEL)],
  executeHooksSequential: async () => [failed(SEQUENTIAL)],
};

describe('runner', () => {
  it.each([
    { sequential: false, asked: PARALLEL },
    { sequential: true, asked: SEQUENTIAL },
  ])('sequential $sequential: delegates, fills results and calls next', async (scenario) => {
    const ctx = hookContext(HookEventName.BeforeTool, payload, {
      plan: plan(scenario.sequential, 'true'),
      input: beforeToolInput(temp.path),
    });
    const next = countingNext();
    await runner(telling)(ctx, next);
    expect(ctx.results?.map(({ exitCode }) => exitCode)).toEqual([scenario.asked]);
    expect(next.calls).toBe(1);
  });

  it('hands over the hooks of the plan, the event, the input, the signal and what is known of the call', async () => {
    const { signal } = new AbortController();
    const input = beforeToolInput(temp.path);
    const call = {};
    const planned = { ...plan(false, 'true'), call };
    const ctx = hookContext(HookEventName.BeforeTool, payload, { plan: planned, input, signal });
    const calls: unknown[][] = [];
    const recording: Runner = {
      ...telling,
      executeHooksParallel: async (...args) => {
        calls.push(args);
        return [healthy(undefined)];
      },
    };
    await runner(recording)(ctx, countingNext());
    const { hookConfigs } = planned;
    const { BeforeTool } = HookEventName;
    expect(calls).toEqual([[hookConfigs, BeforeTool, input, signal, ctx.payload, call]]);
    expect(calls[0]?.[5]).toBe(call);
  });

  it.each(['plan', 'input'] as const)('runs nothing without %s', async (slot) => {
    const ctx = hookContext(HookEventName.BeforeTool, payload, {
      plan: plan(false, 'true'),
      input: beforeToolInput(temp.path),
    });
    if (slot === 'plan') ctx.plan = null;
    else ctx.input = undefined;
    const next = countingNext();
    await runner(telling)(ctx, next);
    expect(ctx.results).toBeUndefined();
    expect(next.calls).toBe(0);
  });

  it('calls next after a hook that failed', async () => {
    const ctx = hookContext(HookEventName.BeforeTool, payload, {
      plan: plan(false, 'exit 7'),
      input: beforeToolInput(temp.path),
    });
    const next = countingNext();
    await runner(new HookRunner(new RecordingLogger()))(ctx, next);
    expect(ctx.results).toMatchObject([{ success: false, exitCode: 7 }]);
    expect(next.calls).toBe(1);
  });

  it('passes an error from next on untouched', async () => {
    const { next, error } = failingNext();
    const ctx = hookContext(HookEventName.BeforeTool, payload, {
      plan: plan(false, 'true'),
      input: beforeToolInput(temp.path),
    });
    await expect(runner(telling)(ctx, next)).rejects.toBe(error);
  });
});

const meet = (own: string, other: string) =>
  hook(`: > ${own}; until [ -e ${other} ]; do sleep 0.01; done`, { timeout: 10_000 });

async function failForTrue({ command }: CommandHookConfig): Promise<undefined> {
  if (command === 'true') throw new Error('no such consent');
}

describe('hooks that run at once', () => {
  const logger = new RecordingLogger();
  const hooks = new HookRunner(logger);

  it('runs them beside each other: each waits for the other', async () => {
    const results = await hooks.executeHooksParallel(
      [meet('a', 'b'), meet('b', 'a')],
      HookEventName.BeforeTool,
      beforeToolInput(temp.path),
    );
    expect(results.map(({ success }) => success)).toEqual([true, true]);
  });

  it('runs sixteen beside each other where nothing else is configured: each waits for all', async () => {
    const names = Array.from({ length: 16 }, (_, index) => `in${index}`);
    const allIn = names.map((name) => `[ -e ${name} ]`).join(' && ');
    const each = names.map((name) =>
      hook(`: > ${name}; until ${allIn}; do sleep 0.05; done`, { timeout: 25_000 }),
    );
    const config = new Config({
      enableHooks: true,
      workingDir: temp.path,
      hooks: { BeforeTool: [{ hooks: each.slice(0, 8) }, { hooks: each.slice(8) }] },
      debugLogger: logger,
    });
    const fired = await fireHook(config, HookEventName.BeforeTool, payload);
    expect(fired?.aggregated.results.map(({ success }) => success)).toEqual(names.map(() => true));
    await config.getHookSystem()?.dispose();
  });

  it('returns the results in plan order, whoever was first', async () => {
    const slow = hook('until [ -e done ]; do sleep 0.01; done; echo slow', { timeout: 10_000 });
    const fast = hook('echo fast; : > done');
    const results = await hooks.executeHooksParallel(
      [slow, fast],
      HookEventName.BeforeTool,
      beforeToolInput(temp.path),
    );
    expect(results.map(({ stdout }) => stdout)).toEqual(['slow\n', 'fast\n']);
    expect(results.map(({ hookConfig }) => hookConfig)).toEqual([slow, fast]);
  });

  it('shows all of them the same input', async () => {
    const input = beforeToolInput(temp.path, { path: 'a' });
    const change = { hookSpecificOutput: { tool_input: { path: 'b' } } };
    await hooks.executeHooksParallel(
      [saying(change, { before: keepInput('first') }), hook(keepInput('second'))],
      HookEventName.BeforeTool,
      input,
    );
    expect(await temp.readJson('first')).toEqual(input);
    expect(await temp.readJson('second')).toEqual(input);
  });

  it('says what is wrong under a name of its own where there is no logger', async () => {
    const written = keepWritten();
    const input = beforeToolInput(temp.path);
    await new HookRunner().executeHooksParallel([hook('exit 1')], HookEventName.BeforeTool, input);
    expect(written).toEqual([expect.stringContaining('llxprt:core:hooks:runner')]);
  });

  it('loses only the hook that something around it fails for', async () => {
    const guarded = new HookRunner(logger, { findObjection: failForTrue });
    const [observer, guard, other] = await guarded.executeHooksParallel(
      [hook('true'), hook('true', { onFailure: 'deny' }), hook('exit 2')],
      HookEventName.BeforeTool,
      beforeToolInput(temp.path),
    );
    expect(observer).toMatchObject({
      success: false,
      error: { message: 'The hook could not be run: no such consent' },
    });
    expect(observer?.output).toBeUndefined();
    expect(guard?.output).toMatchObject({ decision: 'deny' });
    expect(other?.output).toMatchObject({ decision: 'deny' });
  });
});
