import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Middleware, Next } from '../src/compose.js';
import { DebugLogger } from '../src/util/debugLogger.js';
import { guard, type Blockable, type GuardOptions } from '../src/middlewareGuard.js';
import { countingNext, failingNext } from './helpers/next.js';
import { RecordingLogger } from './helpers/recordingLogger.js';

/** Something that is asked for, and remembers why it was refused. */
class Asked implements Blockable {
  blocked: string | undefined;

  block(reason: string): void {
    this.blocked = reason;
  }
}

let logger: RecordingLogger;
let asked: Asked;

beforeEach(() => {
  logger = new RecordingLogger();
  asked = new Asked();
});

/** Runs a middleware called `mine`, which may take a moment at most. */
function run(
  middleware: Middleware<Asked>,
  next: Next,
  options: Partial<GuardOptions> = {},
): Promise<void> {
  const name = 'mine';
  return guard(middleware, { name, deadlineMs: 1, logger, ...options })(asked, next);
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The same, not at once. */
const slowly = (next: Next) => async () => {
  await settled();
  await next();
};

async function handle(_ctx: Asked, next: Next): Promise<void> {
  await next().catch(() => undefined);
}

const never = () => new Promise<void>(() => undefined);

/** As long as it takes until somebody else has been found to take too long. */
const aWhile = () =>
  guard(never, { name: 'another', deadlineMs: 1, logger: new RecordingLogger() })(
    new Asked(),
    settled,
  );

/** What a middleware can do wrong by itself, and what is said about it. */
const FAULTS: [string, Middleware<Asked>, RegExp][] = [
  [
    'throws at once',
    () => {
      throw new Error('mine');
    },
    /"mine" failed: mine/,
  ],
  [
    'throws later',
    async () => {
      await settled();
      throw new RangeError('mine');
    },
    /"mine" failed: mine/,
  ],
  [
    'throws what is no error',
    async () => {
      throw { code: 7 } as unknown as Error;
    },
    /"mine" failed: \{ code: 7 \}/,
  ],
  [
    'throws after next()',
    async (_ctx, next) => {
      await next();
      throw new Error('mine');
    },
    /"mine" failed: mine/,
  ],
  [
    'calls next() twice',
    async (_ctx, next) => {
      await next();
      await next();
    },
    /"mine" called next\(\) more than once/,
  ],
  [
    'does not await next()',
    async (_ctx, next) => {
      void next();
    },
    /"mine" returned before next\(\) had settled/,
  ],
  ['never settles', never, /"mine" took longer than 1 ms/],
  ['never settles after next()', (_ctx, next) => next().then(never), /took longer than 1 ms/],
];

describe('an observer', () => {
  it.each(FAULTS)('that %s is left out, with one warning', async (_what, middleware, why) => {
    const next = countingNext();
    await run(middleware, slowly(next));
    expect(next.calls).toBe(1);
    expect(asked.blocked).toBeUndefined();
    expect(logger.warnings).toEqual([expect.stringMatching(why)]);
    expect(logger.warnings[0]).toContain('The operation goes on without it');
  });
});

describe('a policy', () => {
  it.each(FAULTS)('that %s blocks, and says why', async (_what, middleware, why) => {
    const next = countingNext();
    await run(middleware, slowly(next), { policy: true });
    expect(asked.blocked).toMatch(why);
    expect(asked.blocked).toMatch(/^Blocked: the middleware "mine"/);
    expect(logger.warnings).toEqual([expect.stringMatching(why)]);
  });

  it('that fails before next() keeps the rest from running', async () => {
    const next = countingNext();
    await run(() => Promise.reject(new Error('mine')), next, { policy: true });
    expect(next.calls).toBe(0);
  });

  it('whose context cannot be written fails the call', async () => {
    const running = run(
      async (ctx) => {
        Object.freeze(ctx);
        throw new Error('mine');
      },
      countingNext(),
      { policy: true },
    );
    await expect(running).rejects.toThrow(TypeError);
  });
});

describe.each([true, false])('with policy: %s', (policy) => {
  it('an error that comes through next() passes as it is', async () => {
    const { next, error } = failingNext();
    const outcome = run((_ctx, goOn) => goOn(), next, { policy });
    await expect(outcome).rejects.toBe(error);
    expect(logger.warnings).toEqual([]);
    expect(asked.blocked).toBeUndefined();
  });

  it('the error of a failed operation may be replaced, or taken care of', async () => {
    const replaced = new TypeError('in other words');
    const replace = (_ctx: Asked, next: Next) => next().catch(() => Promise.reject(replaced));
    await expect(run(replace, failingNext().next, { policy })).rejects.toBe(replaced);
    await expect(run(handle, failingNext().next, { policy })).resolves.toBeUndefined();
    expect(logger.warnings).toEqual([]);
  });

  it('an operation that fails while its middleware has returned fails with its own error', async () => {
    const { next, error } = failingNext();
    const outcome = run(async (_ctx, goOn) => void goOn(), slowly(next), { policy });
    await expect(outcome).rejects.toBe(error);
  });

  it('what next() takes does not count', async () => {
    await run((_ctx, goOn) => goOn(), aWhile, { policy });
    expect(logger.warnings).toEqual([]);
    expect(asked.blocked).toBeUndefined();
  });

  it('not calling next() is no fault', async () => {
    const next = countingNext();
    await run(async () => undefined, next, { policy });
    expect(next.calls).toBe(0);
    expect(logger.warnings).toEqual([]);
  });

  it('a function that is not async may return what it likes', async () => {
    const plain = (() => 7) as unknown as Middleware<Asked>;
    await expect(run(plain, countingNext(), { policy })).resolves.toBeUndefined();
    expect(logger.warnings).toEqual([]);
  });
});

describe('next() that comes too late', () => {
  const unhandled = vi.fn<(reason: unknown) => void>();

  beforeEach(() => void process.on('unhandledRejection', unhandled));
  afterEach(() => void process.off('unhandledRejection', unhandled));

  it.each([
    ['an observer', false, 1],
    ['a policy', true, 0],
  ])('of %s is refused, and nobody has to look at it', async (_who, policy, calls) => {
    const next = countingNext();
    const late = new EventEmitter();
    let refused: Promise<void> | undefined;
    await run(
      async (_ctx, goOn) => {
        await once(late, 'now');
        refused = goOn();
        void goOn();
      },
      next,
      { policy },
    );
    late.emit('now');
    await settled();
    await settled();
    await expect(refused).rejects.toThrow(/"mine" called next\(\) after it had returned/);
    expect(next.calls).toBe(calls);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

const failing = () => Promise.reject(new Error('mine'));

describe('a log that cannot be written', () => {
  it.each([false, true])('undoes nothing (policy: %s)', async (policy) => {
    logger.warn = () => {
      throw new Error('disk full');
    };
    const next = countingNext();
    await run(failing, next, { policy, logger: DebugLogger.safe(logger) });
    expect(next.calls).toBe(policy ? 0 : 1);
    expect(asked.blocked !== undefined).toBe(policy);
  });
});

it('an error that cannot be shown is a fault like any other', async () => {
  const unspeakable = new Error('x');
  Object.defineProperty(unspeakable, 'message', {
    get: () => {
      throw new Error('no');
    },
  });
  await run(
    () => Promise.reject(unspeakable),
    async () => undefined,
    { policy: true },
  );
  expect(asked.blocked).toMatch(/an error that cannot be shown/);
});
