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

  fault('59 returns nothing: there are no hooks', async ({ host }) => {
    const { verdict } = await callAround(host, silent, {});
    expect(verdict).toBe('allowed');
    expect(host.warnings).toEqual([]);
  });
});
