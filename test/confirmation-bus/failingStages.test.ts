import { describe, expect, it } from 'vitest';
import type { Planner } from '../../middleware/planner.js';
import type { Runner } from '../../middleware/runner.js';
import { Config } from '../../src/config/config.js';
import { HookAggregator } from '../../src/hooks/hookAggregator.js';
import { HookEventName, type HookDefinitions, type HookOutput } from '../../src/protocol/types.js';
import { healthy, hook } from '../helpers/hooks.js';
import { ask, inputs, startHandler, type HandlerParts, type RequestFields } from './helpers.js';

const { BeforeTool, BeforeModel } = HookEventName;

const plans: Planner = {
  createExecutionPlan: (eventName) => ({ eventName, hookConfigs: [hook('x')], sequential: false }),
};
const runs = (output: HookOutput): Runner => ({
  executeHooksParallel: async () => [healthy(output)],
  executeHooksSequential: async () => [],
});
const fail = (stage: string) => (): never => {
  throw new Error(`broken ${stage}`);
};

const definitions = { BeforeTool: [{ hooks: [hook('x')] }], BeforeModel: [{ hooks: [hook('x')] }] };

class UnreadableConfig extends Config {
  override getHooks(): HookDefinitions {
    return fail('initialization')();
  }
}

class UntranslatableConfig extends Config {
  override getWorkingDir(): string {
    return fail('translation')();
  }
}

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;

interface Failure {
  readonly stage: string;
  readonly code: string;
  readonly parts?: HandlerParts;
  /** What is said in place of the hooks that could not be asked. */
  readonly finalOutput?: object;
  readonly fields?: RequestFields;
}

const failures: readonly Failure[] = [
  {
    stage: 'initialization',
    code: 'HOOK_INITIALIZATION_FAILED',
    parts: { config: new UnreadableConfig({ enableHooks: true }) },
  },
  {
    stage: 'planning',
    code: 'HOOK_PLANNING_FAILED',
    parts: { plans: { createExecutionPlan: fail('planning') } },
  },
  {
    stage: 'translation',
    code: 'HOOK_TRANSLATION_FAILED',
    parts: { config: new UntranslatableConfig({ enableHooks: true, hooks: definitions }) },
    fields: { eventName: BeforeModel, input: inputs.BeforeModel },
  },
  {
    stage: 'execution',
    code: 'HOOK_EXECUTION_FAILED',
    parts: { hooks: { ...runs({}), executeHooksParallel: async () => fail('execution')() } },
  },
  {
    stage: 'aggregation',
    code: 'HOOK_AGGREGATION_FAILED',
    parts: { outputs: { aggregateResults: fail('aggregation') } },
  },
  {
    stage: 'formatting',
    code: 'HOOK_FORMATTING_FAILED',
    parts: { hooks: runs({ hookSpecificOutput: cyclic }) },
  },
];

describe.each(failures)('when $stage fails', ({ stage, code, parts, fields, finalOutput }) => {
  const start = () => startHandler({ hooks: definitions }, { plans, hooks: runs({}), ...parts });

  it('the response says so', async () => {
    const { bus, logger } = start();
    const response = await ask(bus, { correlationId: 'mine', ...fields });
    expect(response).toMatchObject({
      correlationId: 'mine',
      success: false,
      output: { success: false, finalOutput, errors: [{ name: 'HookPipelineError' }] },
      error: { code, message: expect.stringContaining(`${stage} failed`), details: { stage } },
    });
    expect(logger.warnings).toHaveLength(1);
  });

  it('the response can be carried as JSON', async () => {
    const { bus } = start();
    const response = await ask(bus, fields);
    const carried: unknown = JSON.parse(JSON.stringify(response));
    expect(carried).toEqual(response);
    expect(carried).toMatchObject({ output: { errors: [{ message: response.error?.message }] } });
  });

  it('the next request is answered under the same id', async () => {
    const { bus } = start();
    const first = await ask(bus, { correlationId: 'mine', ...fields });
    const second = await ask(bus, { correlationId: 'mine', ...fields });
    expect(second).toEqual(first);
  });
});

describe('when the hook system fails', () => {
  const guard = hook('x', { name: 'guard', onFailure: 'deny' });
  const guarded: Planner = {
    createExecutionPlan: (eventName) => ({ eventName, hookConfigs: [guard], sequential: false }),
  };

  it.each(failures.filter(({ stage }) => ['execution', 'aggregation'].includes(stage)))(
    'in $stage, a guard that could not be asked denies, on both ways',
    async ({ parts }) => {
      const { bus, handler } = startHandler(
        { hooks: definitions },
        { hooks: runs({}), ...parts, plans: guarded },
      );
      const direct = await handler.fireBeforeToolEvent('write_file', {});
      const { output } = await ask(bus, { eventName: BeforeTool });
      expect(output?.finalOutput?.isBlockingDecision()).toBe(true);
      expect(output?.finalOutput?.getEffectiveReason()).toContain('guard');
      expect(output?.finalOutput).toEqual(direct.finalOutput);
    },
  );

  it('while it writes its answer, what the hooks said is not lost for the direct way', async () => {
    const { handler } = startHandler(
      { hooks: definitions },
      { plans, hooks: runs({ decision: 'deny', hookSpecificOutput: cyclic }) },
    );
    const { finalOutput } = await handler.fireBeforeToolEvent('write_file', {});
    expect(finalOutput?.isBlockingDecision()).toBe(true);
  });

  it('with something that is no error, the response shows it', async () => {
    const thrown: unknown = Object.create(null);
    const { bus, handler } = startHandler(
      { hooks: definitions },
      {
        plans,
        outputs: {
          aggregateResults: () => {
            throw thrown;
          },
        },
        hooks: runs({}),
      },
    );
    expect(await ask(bus)).toMatchObject({ error: { code: 'HOOK_AGGREGATION_FAILED' } });
    expect(await handler.fireBeforeToolEvent('x', {})).toMatchObject({ success: false });
  });

  it('by one hook that fails, that is no failure of the request', async () => {
    const { bus } = startHandler({ hooks: definitions }, { outputs: new HookAggregator() });
    const response = await ask(bus);
    expect(response).toMatchObject({ success: false, output: { results: [{ exitCode: 127 }] } });
    expect(response.error).toBeUndefined();
  });
});
