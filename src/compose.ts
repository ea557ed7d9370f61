import koaCompose from 'koa-compose';

/** Continues with the rest of the stack; must be awaited or returned. */
export type Next = () => Promise<void>;

/** One layer of a stack: does its part, and calls `next()` to let the rest of the stack do theirs. */
export type Middleware<C> = (ctx: C, next: Next) => Promise<void>;

/**
 * Makes one function of a stack of middleware, first to last from the outside in.
 *
 * On top of koa-compose, which rejects a second `next()`, a middleware that returns while its `next()` is
 * still running is an error: a rejection further down would otherwise belong to nobody and end the host.
 *
 * @throws TypeError when an entry is not a function
 */
export function compose<C>(
  stack: readonly Middleware<C>[],
): (ctx: C, next?: Next) => Promise<void> {
  return koaCompose(stack.map(awaitingNext));
}

/** The same for layers that are known to await what `next()` gives: the stages, and what `guard` stands around. */
export const composeTrusted: typeof compose = koaCompose;

function awaitingNext<C>(middleware: Middleware<C>): Middleware<C> {
  if (typeof middleware !== 'function') throw new TypeError('A stack is made of functions');
  const guarded: Middleware<C> = async (ctx, next) => {
    let running: Promise<void> | undefined;
    let settled = true;
    const settle = () => {
      settled = true;
    };
    await middleware(ctx, () => {
      settled = false;
      running = next();
      // Also marks a rejection as handled, in case the middleware drops the promise.
      running.then(settle, settle);
      return running;
    });
    if (settled) return;
    await running?.catch(() => undefined);
    throw new Error(
      `${middleware.name || 'A middleware'} returned before next() had settled: await or return next()`,
    );
  };
  return Object.defineProperty(guarded, 'name', { value: middleware.name });
}
