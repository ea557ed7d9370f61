import { describe, expect, vi } from 'vitest';
import type { Middleware, Next } from '../../src/compose.js';
import type { AnyHookContext, ToolCall } from '../../src/context.js';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { blocking, hook } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';

/** Calls a tool through a scheduler with a middleware around its call; counts how often the tool ran. */
async function schedule(host: Host, middleware: Middleware<ToolCall>, execute = async () => done) {
  const config = host.createConfig({}).use('tool', middleware);
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
  return { call, runs };
}

const done = { llmContent: 'done', returnDisplay: 'done' };

/** Calls a tool with a hook that blocks, and a middleware around the hooks. */
function callAround(host: Host, middleware: Middleware<AnyHookContext>) {
  const hooks = { BeforeTool: [{ hooks: [blocking('no')] }] };
  const config = host.createConfig({ hooks }).use('hook', middleware, { before: 'planner' });
  return host.callToolOf(config);
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

async function adding(ctx: object, next: Next) {
  Object.assign(ctx, { extra: 1 });
  await next();
}

async function freezing(ctx: object, next: Next) {
  Object.freeze(ctx);
  await next();
}

describe('middleware around a tool call', () => {
  fault('56 next() twice: the tool runs once, and the call fails', async ({ host }) => {
    const { call, runs } = await schedule(host, twice);
    expect(call?.status).toBe('error');
    expect(call?.result.llmContent).toContain('next() called multiple times');
    expect(runs).toBe(1);
  });

  fault(
    '57 next() not awaited while downstream rejects: no unhandled rejection',
    async ({ host }) => {
      const unhandled = vi.fn<(reason: unknown) => void>();
      process.on('unhandledRejection', unhandled);
      try {
        const { call, runs } = await schedule(host, forgetful, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          throw new Error('late');
        });
        expect(call?.status).toBe('error');
        expect(call?.result.llmContent).toContain('forgetful returned before next() had settled');
        expect(runs).toBe(1);
        // Node tells of such a rejection before the next turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
        expect(unhandled).not.toHaveBeenCalled();
      } finally {
        process.off('unhandledRejection', unhandled);
      }
    },
  );

  fault.for([
    ['returns nothing', silent, /no result/],
    ['throws', throwing, /mine/],
    ['throws later', throwingLater, /mine/],
    ['writes what is not there', adding, /extra/],
    ['freezes ctx', freezing, /read only/],
  ] as const)('59 %s: the call fails, the host lives', async ([, middleware, why], { host }) => {
    const { call } = await schedule(host, middleware);
    expect(call?.status).toBe('error');
    expect(call?.result.llmContent).toMatch(why);
  });
});

describe('middleware around hooks', () => {
  fault.for([
    ['56 next() twice', twice, /multiple times/],
    ['59 throws', throwing, /mine/],
    ['59 throws later', throwingLater, /mine/],
    ['59 writes what is not there', adding, /extra/],
    ['59 freezes ctx', freezing, /read only/],
  ] as const)('%s: the call goes on, with one warning', async ([, middleware, why], { host }) => {
    const { verdict, text } = await callAround(host, middleware);
    expect({ verdict, text }).toEqual({ verdict: 'allowed', text: 'done' });
    expect(host.logger.records.filter(({ level }) => level === 'warn')).toMatchObject([
      { details: { error: { message: expect.stringMatching(why) } } },
    ]);
  });

  fault('59 returns nothing: there are no hooks', async ({ host }) => {
    const { verdict } = await callAround(host, silent);
    expect(verdict).toBe('allowed');
    expect(host.warnings).toEqual([]);
  });

  fault('59 throws behind the planner: a guard blocks', async ({ host }) => {
    const guard = hook(': > ran', { name: 'guard', onFailure: 'deny' });
    const config = host
      .createConfig({ hooks: { BeforeTool: [{ hooks: [guard] }] } })
      .use('hook', () => throwing(), { after: 'planner' });
    const { verdict, text } = await host.callToolOf(config);
    expect(verdict).toBe('blocked');
    expect(text).toMatch(/"guard".*could not be asked.*mine/);
    expect(host.exists('ran')).toBe(false);
  });
});
