declare module 'koa-compose' {
  type Next = () => Promise<void>;
  /** koa-compose 4.2: rejects with "next() called multiple times" on a second call. */
  export default function compose<C>(
    stack: readonly ((ctx: C, next: Next) => Promise<void>)[],
  ): (ctx: C, next?: Next) => Promise<void>;
}
