import { requireKnown, type OptionNames } from './util/requireKnown.js';
import { composeTrusted, type Middleware, type Next } from './compose.js';
import type { AnyHookContext, ModelCall, StackContexts, ToolCall } from './context.js';
import {
  STACK_NAMES,
  STAGES,
  type Position,
  type StackName,
  type StageName,
} from './protocol/stages.js';
import type { DebugLogger } from './util/debugLogger.js';
import { guard } from './middlewareGuard.js';
import { channels } from './trace/span.js';
import { SPAN_OF, traceable, traceRun } from './trace/stackSpans.js';

/** A middleware around every tool call. */
export type ToolMiddleware = Middleware<ToolCall>;

/** A middleware around every model call. */
export type ModelMiddleware = Middleware<ModelCall>;

/** A middleware around every fired event. */
export type HookMiddleware = Middleware<AnyHookContext>;

/** A custom middleware with its place. */
export interface Registration<S extends StackName> extends Position<S> {
  readonly middleware: Middleware<StackContexts[S]>;
}

/** A stack ready to run, with the names of its layers from the outside in. */
export interface Stack<S extends StackName> {
  readonly run: (ctx: StackContexts[S], next?: Next) => Promise<void>;
  readonly names: readonly string[];
}

/**
 * Puts the stages of a stack and the custom middleware in order, and composes them once; once more, with spans, when
 * somebody listens to those for the first time.
 *
 * @param sessionId of calls that name none, for their spans
 */
export function buildStack<S extends StackName>(
  stackName: S,
  stages: Record<StageName<S>, Middleware<StackContexts[S]>>,
  registrations: readonly Registration<S>[],
  logger: DebugLogger,
  sessionId?: () => string,
): Stack<S> {
  const compose = (around: (registration: Registration<S>) => Middleware<StackContexts[S]>) =>
    composeTrusted(
      inOrder(
        stackName,
        registrations,
        (stage) => stages[stage],
        (registration) =>
          guard(around(registration), { ...registration, name: nameOf(registration), logger }),
      ),
    );
  const run = compose(({ middleware }) => middleware);
  const spans = channels[SPAN_OF[stackName]];
  let runTraced: typeof run | undefined;
  return {
    run: (ctx, next) => {
      if (!spans.hasSubscribers && !channels.middleware.hasSubscribers) return run(ctx, next);
      runTraced ??= compose((each) => traceable(nameOf(each), each.middleware));
      return traceRun(stackName, runTraced, ctx, next, sessionId);
    },
    names: listLayers(stackName, registrations),
  };
}

/** What tells where a layer stands, and what it is called. */
interface Placed {
  readonly name?: string;
  readonly before?: string;
  readonly after?: string;
  readonly middleware: { readonly name: string };
}

/** The names of the stages of a stack and the custom middleware, from the outside in. */
export function listLayers(
  stackName: StackName,
  registrations: readonly Placed[],
): readonly string[] {
  return inOrder<StackName, Placed, string>(stackName, registrations, (stage) => stage, nameOf);
}

function inOrder<S extends StackName, R extends Placed, T>(
  stackName: S,
  registrations: readonly R[],
  ofStage: (stage: StageName<S>) => T,
  ofRegistration: (registration: R) => T,
): T[] {
  const stages = STAGES[stackName] as readonly StageName<S>[];
  const at = (place: (registration: R) => boolean) =>
    registrations.filter(place).map(ofRegistration);
  return [
    ...at((each) => !each.before && !each.after),
    ...stages.flatMap((stage) => [
      ...at((each) => each.before === stage),
      ofStage(stage),
      ...at((each) => each.after === stage),
    ]),
  ];
}

function nameOf({ name, middleware }: Placed): string {
  return name ?? (middleware.name || 'anonymous');
}

/**
 * Checks a registration while its author can still be told.
 *
 * @throws RangeError when there is no such stack or stage, and the message lists those there are; or when the deadline
 *   is none
 * @throws TypeError when the middleware is not a function, or an option does not exist
 */
export function checkRegistration(
  stackName: StackName,
  middleware: unknown,
  position: Position,
): void {
  if (!Object.hasOwn(STAGES, stackName)) {
    const known = STACK_NAMES.join(', ');
    throw new RangeError(`There is no stack "${stackName}". The stacks are: ${known}`);
  }
  if (typeof middleware !== 'function') {
    throw new TypeError(
      `A middleware of the ${stackName} stack must be a function (ctx, next), and is ${typeof middleware}`,
    );
  }
  requireKnown('config.use()', position, POSITION);
  const { deadlineMs } = position;
  if (deadlineMs !== undefined && !(deadlineMs > 0)) {
    throw new RangeError(`deadlineMs must be a number of ms above 0, and is ${String(deadlineMs)}`);
  }
  checkPosition(stackName, position);
}

const POSITION: OptionNames<Position> = {
  name: true,
  before: true,
  after: true,
  policy: true,
  deadlineMs: true,
};

/** @throws RangeError when a stack has no such place; the message lists its stages */
export function checkPosition(
  stackName: StackName,
  position: { readonly before?: string; readonly after?: string },
): asserts position is Position {
  const stages: readonly string[] = STAGES[stackName];
  for (const key of ['before', 'after'] as const) {
    const stage = position[key];
    if (stage !== undefined && !stages.includes(stage)) {
      throw new RangeError(
        `The ${stackName} stack has no stage "${stage}" (${key}). Its stages are: ${stages.join(', ')}`,
      );
    }
  }
  if (position.before !== undefined && position.after !== undefined) {
    throw new RangeError(`A middleware stands before one stage or after one, not both`);
  }
}
