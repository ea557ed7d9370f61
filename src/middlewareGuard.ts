import { Timed } from './util/coarseClock.js';
import type { Middleware, Next } from './compose.js';
import type { DebugLogger } from './util/debugLogger.js';
import { errorMessage } from './util/errorMessage.js';

/** Ms that a middleware may take for itself, for one call. What `next()` takes does not count. */
export const DEFAULT_DEADLINE_MS = 60_000;

/** What becomes of a call when its middleware fails. */
export interface GuardOptions {
  /** For messages. */
  readonly name: string;
  /** Whether a failure blocks the operation. Default: it goes on without the middleware. */
  readonly policy?: boolean;
  /** Default {@link DEFAULT_DEADLINE_MS}. */
  readonly deadlineMs?: number;
  /** One that never throws. */
  readonly logger: DebugLogger;
}

/** Something that passes through a stack, and that can be refused on the way. */
export interface Blockable {
  block(reason: string): void;
}

/**
 * Stands around a middleware of somebody else. An error of its own, or too long a time, is an observer's fault: there
 * is a warning, and the call goes on without it. Of a policy, it blocks the call. An error that came out of `next()`
 * is the operation's, and passes as it is.
 */
export function guard<C extends Blockable>(
  middleware: Middleware<C>,
  options: GuardOptions,
): Middleware<C> {
  return (ctx, next) => new GuardedRun(middleware, options, ctx, next).run();
}

/** One call of one middleware. */
class GuardedRun<C extends Blockable> extends Timed {
  #resolve!: (value?: void | PromiseLike<void>) => void;
  /** What `next()` gave, once it was called. */
  #rest: Promise<void> | undefined;
  #restState: 'pending' | 'done' | 'failed' = 'pending';
  #isOver = false;

  constructor(
    private readonly middleware: Middleware<C>,
    private readonly options: GuardOptions,
    private readonly ctx: C,
    private readonly next: Next,
  ) {
    super(options.deadlineMs ?? DEFAULT_DEADLINE_MS);
  }

  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.startClock();
      this.#start().then(
        () => this.#finish(),
        (error: unknown) => this.#catch(error),
      );
    });
  }

  #start(): Promise<void> {
    try {
      // A plain function may give anything.
      return Promise.resolve(this.middleware(this.ctx, () => this.#callNext()));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #callNext(): Promise<void> {
    if (this.#isOver) return this.#refuse('called next() after it had returned, or too late');
    if (this.#rest) return this.#refuse('called next() more than once');
    this.counting = false;
    this.#rest = this.next();
    this.#rest.then(
      () => this.#resumeAfter('done'),
      () => this.#resumeAfter('failed'),
    );
    return this.#rest;
  }

  #refuse(what: string): Promise<never> {
    return rejected(new Error(`The middleware "${this.options.name}" ${what}`));
  }

  #resumeAfter(state: 'done' | 'failed'): void {
    this.#restState = state;
    this.counting = true;
  }

  #finish(): void {
    if (this.#rest && this.#restState === 'pending') {
      this.#fail('returned before next() had settled: await or return next()');
    } else this.#end();
  }

  #catch(error: unknown): void {
    // Where the operation has failed, what comes out of the middleware is that, or made of it.
    if (this.#restState === 'failed') this.#end(rejected(error));
    else this.#fail('failed', error);
  }

  protected override onTimeUp(): void {
    this.#fail(`took longer than ${this.options.deadlineMs ?? DEFAULT_DEADLINE_MS} ms`);
  }

  /** A fault of the middleware itself. */
  #fail(what: string, error?: unknown): void {
    if (this.#isOver) return;
    const { name, policy } = this.options;
    const said = error === undefined ? what : `${what}: ${errorMessage(error)}`;
    const fault = `middleware "${name}" ${said}`;
    this.#end(policy ? this.#block(`Blocked: the ${fault}`) : (this.#rest ?? this.next()));
    this.options.logger.warn(
      `The ${fault}. The operation ${policy ? 'is blocked' : 'goes on without it'}`,
      { error },
    );
  }

  async #block(reason: string): Promise<void> {
    try {
      await this.#rest;
    } finally {
      this.ctx.block(reason);
    }
  }

  #end(outcome?: Promise<void>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.stopClock();
    this.#resolve(outcome);
  }
}

/** A rejection that nobody has to look at. */
function rejected(reason: unknown): Promise<never> {
  const rejection = Promise.reject(reason);
  rejection.catch(() => undefined);
  return rejection;
}
