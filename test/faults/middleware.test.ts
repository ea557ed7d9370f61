import { describe, expect, vi } from 'vitest';
import type { Middleware, Next } from '../../src/compose.js';
import type { AnyHookContext, ToolCall } from '../../src/context.js';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { blocking, hook } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';

/** How a middleware is registered. */
type Registered = { readonly policy?: boolean; readonly deadlineMs?: number };

/** Calls a tool through a scheduler with a middleware around its call; counts how often the tool ran. */
async function schedule(
  host: Host,
  middleware: Middleware<ToolCall>,
  registered: Registered = {},
  execute = async () => done,
) {
  const config = host.createConfig({}).use('tool', middleware, registered);
  let runs = 0;
  const tool = {
    name: 'write_file',
    declaration: { name: 'write_file' },
    execute() {
      runs += 1;
      return execute();
    },
  };
  const [call] = await new CoreToolScheduler({ config, tools: [tool] }).schedule([
    { name: tool.name },
  ]);
  return { status: call?.status, text: call?.result.llmContent, runs };
}

const done = { llmContent: 'done', returnDisplay: 'done' };

/** Calls a tool with a hook that blocks, and a middleware around the hooks. */
function callAround(host: Host, middleware: Middleware<AnyHookContext>, registered: Registered) {
  const hooks = { BeforeTool: [{ hooks: [blocking('no')] }] };
  const position = { before: 'planner', ...registered } as const;
  return host.callToolOf(host.createConfig({ hooks }).use('hook', middleware, position));
}

async function twice(_ctx: unknown, next: Next) {
  await next();
  await next();
}

async function forgetful(_ctx: unknown, next: Next) {
  void next();
}

async function silent() {
  // Neither goes on nor says why.
}

async function throwing() {
  throw new Error('mine');
}

async function throwingLater() {
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error('mine');
}

async function hanging() {
  await new Promise(() => undefined);
}

async function adding(ctx: object, next: Next) {
  Object.assign(ctx, { extra: 1 });
  await next();
}

async function freezing(ctx: object, next: Next) {
  Object.freeze(ctx);
  await next();
}

const FAULTS = [
  ['56 next() twice', twice, /"twice" called next\(\) more than once/],
  ['58 never settles', hanging, /"hanging" took longer than 1 ms/],
  ['59 throws', throwing, /"throwing" failed: mine/],
  ['59 throws later', throwingLater, /"throwingLater" failed: mine/],
  ['59 writes what is not there', adding, /"adding" failed: .*extra/],
] as const;

const AT_ONCE = { deadlineMs: 1 };

describe('middleware around a tool call', () => {
  fault.for(FAULTS)(
    '%s: the call goes on without an observer',
    async ([, middleware, why], { host }) => {
      const outcome = await schedule(host, middleware, AT_ONCE);
      expect(outcome).toEqual({ status: 'success', text: 'done', runs: 1 });
      expect(host.warnings).toEqual([expect.stringMatching(why)]);
    },
  );

  fault.for(FAULTS)('%s: a policy blocks the call', async ([, middleware, why], { host }) => {
    const { status, text, runs } = await schedule(host, middleware, { ...AT_ONCE, policy: true });
    expect(status).toBe(runs === 0 ? 'idle' : 'error');
    expect(text).toMatch(why);
    expect(host.warnings).toEqual([expect.stringMatching(why)]);
  });

  fault(
    '57 next() not awaited while downstream rejects: no unhandled rejection',
    async ({ host }) => {
      const unhandled = vi.fn<(reason: unknown) => void>();
      process.on('unhandledRejection', unhandled);
      try {
        const { status, text, runs } = await schedule(host, forgetful, {}, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          throw new Error('late');
        });
        expect({ status, runs }).toEqual({ status: 'error', runs: 1 });
        expect(text).toContain('late');
        expect(host.warnings).toEqual([
          expect.stringContaining('"forgetful" returned before next() had settled'),
        ]);
        // Node tells of such a rejection before the next turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
        expect(unhandled).not.toHaveBeenCalled();
      } finally {
        process.off('unhandledRejection', unhandled);
      }
    },
  );

  fault.for([
    ['returns nothing', silent, /without a result/],
    ['freezes ctx', freezing, /read only/],
  ] as const)('59 %s: the call fails, the host lives', async ([, middleware, why], { host }) => {
    const { status, text } = await schedule(host, middleware);
    expect(status).toBe('error');
    expect(text).toMatch(why);
  });
});

/** What cannot be read. */
const unreadable = (field: string) =>
  Object.defineProperty({}, field, {
    get: () => {
      throw new Error('unreadable');
    },
  }) as never;

/** What a middleware of somebody else may leave behind once the hooks have answered. */
const LEFT_BEHIND: readonly [string, (ctx: AnyHookContext) => void][] = [
  ['no verdict', (ctx) => (ctx.verdict = undefined as never)],
  ['a result that is none', (ctx) => (ctx.aggregated = 'x' as never)],
  ['an empty result', (ctx) => (ctx.aggregated = {} as never)],
  ['a result that cannot be read', (ctx) => (ctx.aggregated = unreadable('finalOutput'))],
  ['an output that is none', (ctx) => setOutput(ctx, 5)],
  ['an output that cannot be read', (ctx) => setOutput(ctx, unreadable('decision'))],
];

function setOutput({ aggregated }: AnyHookContext, finalOutput: unknown): void {
  if (aggregated) aggregated.finalOutput = finalOutput as never;
}

/** A middleware that does something to the context when the hooks have answered. */
function leaving(leave: (ctx: AnyHookContext) => void): Middleware<AnyHookContext> {
  return async (ctx, next) => {
    await next();
    leave(ctx);
  };
}

describe('middleware around hooks', () => {
  fault.for(FAULTS)(
    '%s: the hooks are asked without an observer',
    async ([, middleware, why], { host }) => {
      const { verdict, text } = await callAround(host, middleware, AT_ONCE);
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
      expect(host.warnings).toEqual([expect.stringMatching(why)]);
    },
  );

  fault.for(FAULTS)('%s: a policy blocks', async ([, middleware, why], { host }) => {
    const registered = { ...AT_ONCE, policy: true };
    const { verdict, text } = await callAround(host, middleware, registered);
    expect(verdict).toBe('blocked');
    expect(text).toMatch(why);
  });

  fault('59 freezes ctx: the call goes on, with one warning', async ({ host }) => {
    const { verdict, text } = await callAround(host, freezing, {});
    expect({ verdict, text }).toEqual({ verdict: 'allowed', text: 'done' });
    expect(host.logger.records.filter(({ level }) => level === 'warn')).toMatchObject([
      { details: { error: { message: expect.stringMatching(/read only/) } } },
    ]);
  });

  fault('59 freezes ctx behind the planner: a guard blocks', async ({ host }) => {
    const guard = hook(': > ran', { name: 'guard', onFailure: 'deny' });
    const config = host
      .createConfig({ hooks: { BeforeTool: [{ hooks: [guard] }] } })
      .use('hook', (ctx, next) => freezing(ctx, next), { after: 'planner' });
    const { verdict, text } = await host.callToolOf(config);
    expect(verdict).toBe('blocked');
    expect(text).toMatch(/"guard".*could not be asked.*read only/);
    expect(host.exists('ran')).toBe(false);
  });

  fault.for(LEFT_BEHIND)(
    'leaves %s: what hooks denied stays denied',
    async ([, leave], { host }) => {
      const { verdict, text } = await callAround(host, leaving(leave), {});
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
      expect(host.warnings).toEqual([
        expect.stringMatching(
          /^BeforeTool: aggregation failed: .*; what was decided before stands$/,
        ),
      ]);
    },
  );

  fault.for(LEFT_BEHIND)('leaves %s: a guard denies', async ([, leave], { host }) => {
    const guard = hook('true', { name: 'guard', onFailure: 'deny' });
    const config = host
      .createConfig({ hooks: { BeforeTool: [{ hooks: [guard] }] } })
      .use('hook', leaving(leave));
    const { verdict, text } = await host.callToolOf(config);
    expect(verdict).toBe('blocked');
    expect(text).toMatch(/"guard" must not be bypassed/);
  });

  fault.for(LEFT_BEHIND.slice(1))(
    'leaves %s: what a middleware decided stands',
    async ([, leave], { host }) => {
      const hooks = { BeforeTool: [{ hooks: [hook('true')] }] };
      const decide = (decision: 'block' | 'stop') =>
        host.createConfig({ hooks }).use(
          'hook',
          leaving((ctx) => {
            ctx[decision]('policy');
            leave(ctx);
          }),
        );
      const blocked = await host.callToolOf(decide('block'));
      expect(blocked).toMatchObject({ verdict: 'blocked', text: 'policy' });
      expect(await host.callToolOf(decide('stop'))).toMatchObject({ verdict: 'stopped' });
    },
  );

  fault('leaves nothing of a result but its output: that counts', async ({ host }) => {
    const said = { finalOutput: { decision: 'deny', reason: 'mine' } };
    const middleware = leaving((ctx) => (ctx.aggregated = said as never));
    const { verdict, text } = await callAround(host, middleware, {});
    expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'mine' });
  });

  fault('leaves no results of hooks: what they denied stays denied', async ({ host }) => {
    const middleware = leaving((ctx) => (ctx.results = 5 as never));
    const { verdict, text } = await callAround(host, middleware, {});
    expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
  });

  fault('59 returns nothing: there are no hooks', async ({ host }) => {
    const { verdict } = await callAround(host, silent, {});
    expect(verdict).toBe('allowed');
    expect(host.warnings).toEqual([]);
  });
});
