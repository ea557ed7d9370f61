import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { planContext, planner, type PlanContext, type Planner } from '../../middleware/planner.js';
import type { ConfigOptions } from '../../src/config/config.js';
import type { AnyHookContext } from '../../src/context.js';
import { textResponse } from '../../src/protocol/response.js';
import { HookPlanner } from '../../src/hooks/hookPlanner.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type HookDefinition,
  type HookDefinitions,
  type HookExecutionPlan,
  type HookPayload,
} from '../../src/protocol/types.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { chain, hook, hookContext } from '../helpers/hooks.js';
import { keepWritten } from '../helpers/keepWritten.js';
import { countingNext, failingNext } from '../helpers/next.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const { BeforeTool, AfterTool, BeforeModel } = HookEventName;

async function createPlanner(hooks: HookDefinitions, options: ConfigOptions = {}) {
  const logger = new RecordingLogger();
  const config = new ChangingConfig({ enableHooks: true, ...options });
  config.hooks = hooks;
  const registry = new HookRegistry(config, logger);
  await registry.initialize();
  return { plans: new HookPlanner(registry, logger), registry, logger };
}

/** Whether a hook with this matcher runs for a tool. */
async function isMatching(matcher: string | undefined, toolName: string) {
  const { plans, logger } = await createPlanner({ BeforeTool: [{ matcher, hooks: [hook('x')] }] });
  return { matches: plans.createExecutionPlan(BeforeTool, { toolName }) !== null, logger };
}

function commands(plan: HookExecutionPlan | null): string[] | undefined {
  return plan?.hookConfigs.map(({ command }) => command);
}

/** Runs `body` while this process is paused again and again for longer than a matcher may take. */
async function whileInterrupted(body: () => void): Promise<void> {
  const script = `trap 'kill -CONT $0; exit' TERM; echo started
    for i in $(seq 200); do kill -STOP $0 || exit; sleep 0.08; kill -CONT $0; sleep 0.08; done`;
  const pausing = spawn('sh', ['-c', script, String(process.pid)]);
  const exited = once(pausing, 'exit');
  try {
    await once(pausing.stdout, 'data');
    body();
  } finally {
    // Not SIGKILL: it might come between a pause and its end.
    pausing.kill('SIGTERM');
    await exited;
  }
}

/** A matcher of its own for each `id`, because an expression that ran before is faster. */
function slowMatcher(id: number): string {
  return `^(a+)+$|!|${id}`;
}

/** A name on which a new slow matcher spends some milliseconds. */
function findSlowName(): string {
  let name = 'aaaaaaaaaa!';
  for (let ms = 0; ms < 2; name = `a${name}`) {
    const start = performance.now();
    new RegExp(slowMatcher(-name.length)).test(name);
    ms = performance.now() - start;
  }
  return name;
}

describe('planner', () => {
  const plan: HookExecutionPlan = {
    eventName: BeforeTool,
    hookConfigs: [hook('x')],
    sequential: false,
  };
  const payload = { toolName: 'read_file', toolInput: {} };

  it('fills plan and calls next once', async () => {
    const ctx = hookContext(BeforeTool, payload);
    const next = countingNext();
    await planner({ createExecutionPlan: () => plan })(ctx, next);
    expect(ctx.plan).toBe(plan);
    expect(next.calls).toBe(1);
  });

  it('does not call next when there is nothing to run', async () => {
    const ctx = hookContext(BeforeTool, payload);
    const next = countingNext();
    await planner({ createExecutionPlan: () => null })(ctx, next);
    expect(ctx.plan).toBeNull();
    expect(next.calls).toBe(0);
  });

  const llmRequest = { model: 'm', contents: 'hi' };
  const fired: { [E in HookEventName]: [HookPayload<E>, PlanContext | undefined] } = {
    BeforeTool: [payload, { toolName: 'read_file' }],
    AfterTool: [{ ...payload, toolResponse: {} }, { toolName: 'read_file' }],
    BeforeModel: [{ llmRequest }, undefined],
    AfterModel: [{ llmRequest, llmResponse: textResponse('hello') }, undefined],
    BeforeToolSelection: [{ llmRequest }, undefined],
    BeforeAgent: [{ prompt: 'p' }, undefined],
    AfterAgent: [{ prompt: 'p', promptResponse: 'r', stopHookActive: false }, undefined],
    // The matchers of dialects, and no others, are tested against a subject.
    SessionStart: [{ source: SessionStartSource.Startup }, { subject: 'startup' }],
    SessionEnd: [{ reason: SessionEndReason.Exit }, { subject: 'exit' }],
    PreCompress: [{ trigger: PreCompressTrigger.Auto }, { subject: 'auto' }],
    Notification: [
      { notificationType: NotificationType.Idle, message: 'm', details: {} },
      { subject: 'Idle' },
    ],
    SubagentStart: [{ agentId: 'a1', agentType: 'explore', prompt: 'p' }, { agentType: 'explore' }],
    SubagentStop: [
      {
        agentId: 'a1',
        agentType: 'explore',
        prompt: 'p',
        promptResponse: 'r',
        stopHookActive: false,
      },
      { agentType: 'explore' },
    ],
    PostCompress: [{ trigger: PreCompressTrigger.Auto, summary: 's' }, { subject: 'auto' }],
    ModelError: [{ llmRequest, error: { message: 'down' }, attempt: 1 }, undefined],
    ToolBatchEnd: [{ toolCalls: [] }, undefined],
  };

  it.each(Object.values(HookEventName))(
    'hands over the name of the tool at %s, where there is one, and no tool elsewhere',
    async (event) => {
      const asked: unknown[] = [];
      const plans: Planner = {
        createExecutionPlan: (...args) => {
          asked.push(args);
          return null;
        },
      };
      const [given, context] = fired[event];
      const ctx = hookContext<HookEventName>(event, given) as AnyHookContext;
      await planner(plans)(ctx, countingNext());
      expect(asked).toEqual([[event, context]]);
    },
  );

  it('takes the plan that was made when the event was fired, and makes no other', async () => {
    const ctx = hookContext(BeforeTool, payload, { plan });
    await planner({ createExecutionPlan: () => null }, true)(ctx, countingNext());
    expect(ctx.plan).toBe(plan);
  });

  it('plans anew where a middleware before it may have left a plan', async () => {
    const ctx = hookContext(BeforeTool, payload, { plan: { ...plan, hookConfigs: [] } });
    await planner({ createExecutionPlan: () => plan })(ctx, countingNext());
    expect(ctx.plan).toBe(plan);
  });

  it.each([
    ['asked', { isAsked: true }],
    [undefined, {}],
  ])('tells the moment of an event: %s', (moment, more) => {
    const ctx = { event: BeforeTool, payload: { ...payload, ...more } } as const;
    expect(planContext<HookEventName>(ctx)?.moment).toBe(moment);
  });

  it('does not look at what a tool gave where the moment makes no difference', () => {
    const ctx = { event: BeforeTool, payload: { ...payload, isAsked: true } } as const;
    expect(planContext<HookEventName>(ctx, false)).toEqual({ toolName: 'read_file' });
  });

  it('passes an error from next on untouched', async () => {
    const { next, error } = failingNext();
    const stage = planner({ createExecutionPlan: () => plan });
    await expect(stage(hookContext(BeforeTool, payload), next)).rejects.toBe(error);
  });
});

describe('matchers', () => {
  it.each([
    ['no matcher', undefined, 'anything', true],
    ['an empty one', '', 'anything', true],
    ['a wildcard', '*', 'anything', true],
    ['a plain name', 'write_file', 'write_file', true],
    ['a plain name, inside of a longer one', 'write_file', 'overwrite_file_v2', true],
    ['an anchored name', '^write_file$', 'overwrite_file', false],
    ['another name', 'write_file', 'read_file', false],
    ['alternatives', 'write_file|replace', 'replace', true],
    ['a dot', '.*', 'read_file', true],
    ['another case', 'Write_File', 'write_file', false],
    ['an invalid expression, as literal text', 'mcp__[', 'mcp__[', true],
    ['an invalid expression, not as part of a name', 'mcp__[', 'mcp__[x', false],
    ['quotes and backslashes', String.raw`^"\\'$`, String.raw`"\'`, true],
    ['line separators', '^\u2028$', '\u2028', true],
  ])('%s', async (_, matcher, toolName, expected) => {
    expect((await isMatching(matcher, toolName)).matches).toBe(expected);
  });

  it('warns of an invalid expression when it is read, with its place, and once', async () => {
    const hooks = [hook('./guard.sh', { name: 'guard' })];
    const { plans, logger } = await createPlanner({ BeforeTool: [{ matcher: '(', hooks }] });
    const warnings = [expect.stringMatching(/^hooks\.BeforeTool\[0\]\.matcher: '\(' .*literal/)];
    expect(logger.warnings).toEqual(warnings);
    for (const toolName of ['x', 'y']) plans.createExecutionPlan(BeforeTool, { toolName });
    expect(logger.warnings).toEqual(warnings);
  });

  it.each([['(', 'mcp__['] as const, ['^(a+)+$', `${'a'.repeat(40)}!`] as const])(
    'that cannot be decided ask a guard about every tool: %s',
    async (matcher, toolName) => {
      const hooks = [hook('./lax.sh'), hook('./guard.sh', { onFailure: 'deny' })];
      const { plans } = await createPlanner({ BeforeTool: [{ matcher, hooks }] });
      expect(commands(plans.createExecutionPlan(BeforeTool, { toolName }))).toEqual(['./guard.sh']);
    },
  );

  it('does not let a matcher run code or see the host', async () => {
    const { matches } = await isMatching('"); globalThis.escaped = true; ("', 'x');
    expect(matches).toBe(false);
    expect('escaped' in globalThis).toBe(false);
  });

  it('are not given up because the host was busy with something else', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `guard-${index}`);
    const { plans } = await createPlanner({
      BeforeTool: names.map((name, id) => ({ matcher: slowMatcher(id), hooks: [hook(name)] })),
    });
    const toolName = findSlowName();
    await whileInterrupted(() => {
      expect(commands(plans.createExecutionPlan(BeforeTool, { toolName }))).toEqual(names);
    });
  });

  describe('that take too long', () => {
    const matcher = '^(a+)+$';
    const toolName = `${'a'.repeat(40)}!`;

    it('count as not matching within a bounded time, and are reported', async () => {
      const hooks = [hook('./guard.sh', { name: 'guard' })];
      const { plans, logger } = await createPlanner({ BeforeTool: [{ matcher, hooks }] });
      const start = performance.now();
      expect(plans.createExecutionPlan(BeforeTool, { toolName })).toBeNull();
      expect(performance.now() - start).toBeLessThan(1_000);
      expect(logger.warnings).toEqual([expect.stringMatching(/"guard".*50 ms/)]);
    });

    it('are reported under a name of their own where there is no logger', async () => {
      const { registry } = await createPlanner({ BeforeTool: [{ matcher, hooks: [hook('x')] }] });
      const written = keepWritten();
      new HookPlanner(registry).createExecutionPlan(BeforeTool, { toolName });
      expect(written).toEqual([expect.stringContaining('llxprt:core:hooks:planner')]);
    });

    it('still match what they match in time', async () => {
      expect((await isMatching(matcher, 'a'.repeat(40))).matches).toBe(true);
    });

    it('are not tried again for the same name', async () => {
      const definition = { matcher, hooks: [hook('x')] };
      const { plans, logger } = await createPlanner({ BeforeTool: [definition] });
      plans.createExecutionPlan(BeforeTool, { toolName });
      plans.createExecutionPlan(BeforeTool, { toolName });
      expect(logger.warnings).toHaveLength(1);
    });

    it('are not tried again for the same name in another event', async () => {
      const definition = { matcher, hooks: [hook('x')] };
      const { plans } = await createPlanner({ BeforeTool: [definition], AfterTool: [definition] });
      plans.createExecutionPlan(BeforeTool, { toolName });
      const start = performance.now();
      plans.createExecutionPlan(AfterTool, { toolName });
      // A match that is cut off takes 50 ms at the least.
      expect(performance.now() - start).toBeLessThan(45);
    });

    it('do not keep other hooks from running', async () => {
      const { plans } = await createPlanner({
        BeforeTool: [
          { matcher, hooks: [hook('slow')] },
          { matcher: '^a', hooks: [hook('fast')] },
        ],
      });
      expect(commands(plans.createExecutionPlan(BeforeTool, { toolName }))).toEqual(['fast']);
    });
  });
});

const extension = (name: string, command: string, isActive = true) => ({
  name,
  isActive,
  hooks: { BeforeTool: [{ hooks: [hook(command)] }] },
});

/** The plans of AfterTool for a result, and for a failure. */
async function planAtMoments(hooks: HookDefinitions) {
  const { plans } = await createPlanner(hooks);
  return [undefined, 'failed' as const].map((moment) =>
    plans.createExecutionPlan(AfterTool, { toolName: 'a', moment }),
  );
}

describe('a plan', () => {
  it('is null when no hook is configured, or none matches', async () => {
    const { plans } = await createPlanner({
      BeforeTool: [{ matcher: 'write', hooks: [hook('x')] }],
    });
    expect(plans.createExecutionPlan(BeforeModel)).toBeNull();
    expect(plans.createExecutionPlan(BeforeTool, { toolName: 'read' })).toBeNull();
  });

  it('has the hooks of all matching groups, in the order of the settings', async () => {
    const { plans } = await createPlanner({
      BeforeTool: [
        { matcher: 'write', hooks: [hook('a'), hook('b')] },
        { matcher: 'read', hooks: [hook('c')] },
        { hooks: [hook('d')] },
      ],
    });
    expect(plans.createExecutionPlan(BeforeTool, { toolName: 'write' })).toEqual({
      eventName: BeforeTool,
      hookConfigs: [hook('a'), hook('b'), hook('d')],
      sequential: false,
    });
  });

  it('ignores matchers where the event has nothing to match', async () => {
    const { plans } = await createPlanner({
      BeforeModel: [{ matcher: 'write_file', hooks: [hook('x')] }],
    });
    expect(commands(plans.createExecutionPlan(BeforeModel))).toEqual(['x']);
  });

  it('has the hooks of the project before those of extensions', async () => {
    const { plans } = await createPlanner(
      { BeforeTool: [{ hooks: [hook('project')] }] },
      { extensions: [extension('a', 'a'), extension('off', 'off', false), extension('b', 'b')] },
    );
    const plan = plans.createExecutionPlan(BeforeTool, { toolName: 'x' });
    expect(commands(plan)).toEqual(['project', 'a', 'b']);
  });

  it('has each command once: the first, with its own settings', async () => {
    const { plans } = await createPlanner(
      {
        BeforeTool: [
          { hooks: [hook('x', { timeout: 1_000, name: 'first' }), hook('y')] },
          { matcher: 'write', hooks: [hook('x', { timeout: 2_000 })] },
        ],
      },
      {
        extensions: [
          {
            name: 'e',
            isActive: true,
            hooks: { BeforeTool: [{ hooks: [hook('y', { name: 'e' })] }] },
          },
        ],
      },
    );
    expect(plans.createExecutionPlan(BeforeTool, { toolName: 'write' })?.hookConfigs).toEqual([
      hook('x', { timeout: 1_000, name: 'first' }),
      hook('y'),
    ]);
  });

  it('runs a command once for each dialect, as each reads something else', async () => {
    const { plans } = await createPlanner({
      BeforeTool: [
        { hooks: [hook('x')] },
        { dialect: 'claude', matcher: 'Write', hooks: [hook('x', { timeout: 2 })] },
        { dialect: 'claude', matcher: 'Edit|Write', hooks: [hook('x')] },
      ],
    });
    expect(plans.createExecutionPlan(BeforeTool, { toolName: 'write_file' })?.hookConfigs).toEqual([
      hook('x'),
      hook('x', { timeout: 2_000, dialect: 'claude' }),
    ]);
  });

  it('removes duplicates after matching: one that does not match hides none that does', async () => {
    const { plans } = await createPlanner({
      BeforeTool: [
        { matcher: 'read', hooks: [hook('x', { name: 'reader' })] },
        { matcher: 'write', hooks: [hook('x', { name: 'writer' })] },
      ],
    });
    const plan = plans.createExecutionPlan(BeforeTool, { toolName: 'write' });
    expect(plan?.hookConfigs.map(({ name }) => name)).toEqual(['writer']);
  });

  it('keeps a guard on guard when the same command stands before it without', async () => {
    const { plans } = await createPlanner({
      BeforeTool: [{ hooks: [hook('x', { name: 'lax' }), hook('x', { onFailure: 'deny' })] }],
    });
    const plan = plans.createExecutionPlan(BeforeTool, { toolName: 'any' });
    expect(plan?.hookConfigs).toEqual([hook('x', { name: 'lax', onFailure: 'deny' })]);
  });

  it('leaves a guard that stands before the same command as it is', async () => {
    const { plans, registry } = await createPlanner({
      BeforeTool: [{ hooks: [hook('x', { onFailure: 'deny' }), hook('x', { name: 'lax' })] }],
    });
    const plan = plans.createExecutionPlan(BeforeTool, { toolName: 'any' });
    expect(plan?.hookConfigs).toHaveLength(1);
    expect(plan?.hookConfigs[0]).toBe(registry.getAllHooks()[0]?.config);
  });

  it('lets a plugin, which cannot be run, take the place of nothing', async () => {
    const plugin = { ...hook('x'), type: 'plugin' as const };
    const { plans } = await createPlanner({ BeforeTool: [{ hooks: [plugin, hook('x')] }] });
    const plan = plans.createExecutionPlan(BeforeTool, { toolName: 'any' });
    expect(plan?.hookConfigs.map(({ type }) => type)).toEqual(['plugin', 'command']);
  });

  it('keeps the same command in different events apart', async () => {
    const groups: HookDefinition[] = [{ hooks: [hook('x')] }];
    const { plans } = await createPlanner({ BeforeTool: groups, AfterTool: groups });
    for (const event of [BeforeTool, AfterTool]) {
      expect(commands(plans.createExecutionPlan(event, { toolName: 'any' }))).toEqual(['x']);
    }
  });

  it('is sequential as soon as one matching group is', async () => {
    const { plans } = await createPlanner({
      BeforeTool: [{ hooks: [hook('a')] }, { ...chain(hook('b')), matcher: 'write' }],
    });
    const isSequential = (toolName: string) =>
      plans.createExecutionPlan(BeforeTool, { toolName })?.sequential;
    expect(isSequential('write')).toBe(true);
    expect(isSequential('read')).toBe(false);
  });

  it('is made once for each event and tool', async () => {
    const { plans } = await createPlanner({ BeforeTool: [{ hooks: [hook('x')] }] });
    const plan = plans.createExecutionPlan(BeforeTool, { toolName: 'a' });
    expect(plans.createExecutionPlan(BeforeTool, { toolName: 'a' })).toBe(plan);
    expect(plans.createExecutionPlan(BeforeTool, { toolName: 'b' })).not.toBe(plan);
  });

  it('is made for each moment of an event that hooks tell apart, and else once', async () => {
    const ours: HookDefinition = { hooks: [hook('x')] };
    const [plain, failed] = await planAtMoments({ AfterTool: [ours] });
    expect(commands(plain ?? null)).toEqual(['x']);
    expect(failed).toBe(plain);
    const theirs: HookDefinition = { dialect: 'claude', hooks: [hook('y')] };
    const apart = await planAtMoments({ AfterTool: [ours, theirs] });
    expect(apart.map(commands)).toEqual([['x', 'y'], ['x']]);
  });

  it('is made once for each subject of an event', async () => {
    const { SessionStart } = HookEventName;
    const { plans } = await createPlanner({
      SessionStart: [{ dialect: 'claude', matcher: 'resume', hooks: [hook('x')] }],
    });
    const plan = plans.createExecutionPlan(SessionStart, { subject: 'resume' });
    expect(commands(plan)).toEqual(['x']);
    expect(plans.createExecutionPlan(SessionStart, { subject: 'startup' })).toBeNull();
    expect(plans.createExecutionPlan(SessionStart, { subject: 'resume' })).toBe(plan);
  });

  it('is made again after a hook was switched off or on', async () => {
    const { plans, registry } = await createPlanner({
      BeforeTool: [{ hooks: [hook('x'), hook('y', { name: 'named' })] }],
    });
    const planned = () => commands(plans.createExecutionPlan(BeforeTool, { toolName: 'a' }));
    expect(planned()).toEqual(['x', 'y']);
    expect(registry.setHookEnabled('named', false)).toBe(1);
    expect(planned()).toEqual(['x']);
    registry.setHookEnabled('x', false);
    expect(planned()).toBeUndefined();
    registry.setHookEnabled('named', true);
    expect(planned()).toEqual(['y']);
  });

  it('stays right for more tools than are remembered', async () => {
    const { plans, registry } = await createPlanner({
      BeforeTool: [{ matcher: '^tool_1$', hooks: [hook('x')] }],
    });
    let most = 0;
    for (let index = 0; index < 10_050; index += 1) {
      const plan = plans.createExecutionPlan(BeforeTool, { toolName: `tool_${index}` });
      expect(plan !== null).toBe(index === 1);
      most = Math.max(most, registry.known.plans.size, registry.matches.size);
    }
    expect(most).toBe(10_000);
  });
});
