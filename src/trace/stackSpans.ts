import { isDeepStrictEqual } from 'node:util';
import type { GenerateContentResponse } from '@google/genai';
import type { Middleware, Next } from '../compose.js';
import type {
  AnyHookContext,
  HookContext,
  ModelCall,
  StackContexts,
  ToolCall,
  Verdict,
} from '../context.js';
import { events, type EventDefinition } from '../protocol/events.js';
import { collectResponse } from '../protocol/response.js';
import type { StackName } from '../protocol/stages.js';
import type { HookEventName } from '../protocol/types.js';
import { ToolErrorType, type ToolResult } from '../tools/tools.js';
import { describeOutput } from './hookSpans.js';
import {
  currentSpan,
  isTraced,
  OpenSpan,
  traced,
  type SpanChange,
  type SpanFacts,
  type SpanKind,
  type SpanOutcome,
  type SpanOwner,
} from './span.js';

/** What one run of a stack is. */
export const SPAN_OF: Record<StackName, SpanKind> = { tool: 'tool', model: 'model', hook: 'event' };

type Run<C> = (ctx: C, next?: Next) => Promise<void>;

type Tracer<C> = (run: Run<C>, ctx: C, next: Next | undefined, owner: SpanOwner) => Promise<void>;

const tracers: { readonly [S in StackName]: Tracer<StackContexts[S]> } = {
  tool: traceToolCall,
  model: traceModelCall,
  hook: traceEvent,
};

/** Runs a stack as a span. */
export function traceRun<S extends StackName>(
  stack: S,
  run: Run<StackContexts[S]>,
  ctx: StackContexts[S],
  next: Next | undefined,
  sessionId?: () => string,
): Promise<void> {
  if (!isTraced(SPAN_OF[stack])) return run(ctx, next);
  const { sessionId: said, agent } = ctx.session ?? {};
  const session = said ?? currentSpan()?.session ?? sessionId?.();
  return tracers[stack](run, ctx, next, { session, agent });
}

function traceToolCall(
  run: Run<ToolCall>,
  call: ToolCall,
  next: Next | undefined,
  owner: SpanOwner,
): Promise<void> {
  return traced(
    'tool',
    {
      facts: () => ({
        name: call.toolName,
        input: call.originalInput,
        tool: call.toolName,
        call: call.callId,
        ...owner,
      }),
      outcome: () => {
        const changes = [
          ...changeOf('input', call.originalInput, call.input),
          ...(call.executed ? changeOf('result', call.executed, call.result) : []),
        ];
        const error = call.executed?.error;
        return {
          ...(error && call.verdict.kind === 'allow'
            ? { verdict: 'fail', reason: error.message }
            : verdictOf(call, changes)),
          changes,
          output: call.result,
        };
      },
    },
    () => run(call, next),
  );
}

/** A call that was refused before it reached its stack is a span of no length. */
export function traceRefusal(
  name: string,
  input: Readonly<Record<string, unknown>>,
  result: ToolResult,
  decidedBy: readonly string[] | undefined,
): void {
  if (!isTraced('tool')) return;
  const { type, message: reason } = result.error ?? {};
  const verdict = type === ToolErrorType.NotAllowed ? 'block' : 'fail';
  const outcome = { verdict, reason, decidedBy, output: result } as const;
  const span = new OpenSpan('tool', { name, input, tool: name });
  span.begin(() => span.end(() => outcome));
}

function traceEvent(
  run: Run<AnyHookContext>,
  ctx: AnyHookContext,
  next: Next | undefined,
  owner: SpanOwner,
): Promise<void> {
  const { event } = ctx;
  return traced(
    'event',
    {
      facts: () => ({
        name: event,
        event,
        ...describePayload(ctx as HookContext),
        ...owner,
      }),
      outcome: () => {
        const { finalOutput, decidedBy, errors = [], results = [] } = ctx.aggregated ?? {};
        const said = { ...describeOutput(event, finalOutput, ctx.input), decidedBy };
        const failed = said.verdict === 'allow' && results.some((each) => !each.success);
        return {
          output: finalOutput,
          sizes: { hooks: results.length },
          ...(failed ? { verdict: 'fail' as const, reason: errors[0]?.message } : said),
          ...(ctx.verdict.kind !== 'allow' && verdictOf(ctx, [])),
          // Where nobody has said it, it is that of the configuration.
          ...(ctx.input && { session: ctx.input.session_id }),
        };
      },
    },
    () => run(ctx, next),
  );
}

/** By the names that hooks read. A payload that cannot be encoded is shown as it is: a span must not break its event. */
function describePayload({ event, payload }: HookContext): Partial<SpanFacts> {
  const { encode, momentOf } = events[event] as EventDefinition<HookEventName>;
  try {
    const { toolName: tool, callId: call } = payload as Partial<Record<string, string>>;
    return { input: encode(payload), moment: momentOf?.(payload), tool, call };
  } catch {
    return { input: payload };
  }
}

/** A model call has not ended before its stream was read. */
async function traceModelCall(
  run: Run<ModelCall>,
  call: ModelCall,
  next: Next | undefined,
  owner: SpanOwner,
): Promise<void> {
  const span = new OpenSpan('model', {
    name: call.originalRequest.model,
    input: call.originalRequest,
    ...owner,
  });
  try {
    await span.within(() => run(call, next));
  } catch (error) {
    span.fail(error);
    throw error;
  }
  if (call.stream) call.stream = readWithinSpan(span, call, call.stream);
  else span.end(() => modelOutcome(call, []));
}

async function* readWithinSpan(
  span: OpenSpan,
  call: ModelCall,
  stream: AsyncIterable<GenerateContentResponse>,
): AsyncGenerator<GenerateContentResponse, void, undefined> {
  const seen: GenerateContentResponse[] = [];
  try {
    for await (const chunk of span.iterate(stream)) {
      seen.push(chunk);
      yield chunk;
    }
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end(() => modelOutcome(call, seen));
  }
}

function modelOutcome(call: ModelCall, seen: readonly GenerateContentResponse[]): SpanOutcome {
  const response = call.response ?? collectResponse(seen);
  const { promptTokenCount, candidatesTokenCount } = response.usageMetadata ?? {};
  const changes =
    call.request === call.originalRequest
      ? []
      : changeOf('request', call.originalRequest, call.request);
  return {
    ...verdictOf(call, changes),
    changes,
    output: response,
    sizes: {
      chunks: seen.length,
      ...(promptTokenCount !== undefined && { promptTokens: promptTokenCount }),
      ...(candidatesTokenCount !== undefined && { answerTokens: candidatesTokenCount }),
    },
  };
}

function changeOf(what: string, before: unknown, after: unknown): SpanChange[] {
  return isDeepStrictEqual(before, after) ? [] : [{ what, before, after }];
}

function verdictOf(
  { verdict }: { readonly verdict: Verdict },
  changes: readonly SpanChange[],
): Pick<SpanOutcome, 'verdict' | 'reason' | 'decidedBy'> {
  if (verdict.kind !== 'allow') {
    return { verdict: verdict.kind, reason: verdict.reason, decidedBy: verdict.hooks };
  }
  return { verdict: changes.length > 0 ? 'change' : 'allow' };
}

/** What a middleware may replace on its way. */
const SLOTS = ['verdict', 'input', 'request', 'result', 'response', 'aggregated'] as const;

type Slots = ReadonlyMap<string, unknown>;

/** A middleware whose calls are spans. Its changes are those before and after `next()`; changes inside belong to the rest of the stack. */
export function traceable<C extends object>(
  name: string,
  middleware: Middleware<C>,
): Middleware<C> {
  const facts = (): SpanFacts => ({ name });
  return async (ctx, next) => {
    const startedAt = performance.now();
    let nextMs = 0;
    const seen = [slotsOf(ctx)];
    const runNext = async () => {
      seen.push(slotsOf(ctx));
      const leftAt = performance.now();
      try {
        await next();
      } finally {
        nextMs += performance.now() - leftAt;
        seen.push(slotsOf(ctx));
      }
    };
    const outcome = () => ({
      ...visitOutcome([...seen, slotsOf(ctx)]),
      ownMs: performance.now() - startedAt - nextMs,
    });
    await traced('middleware', { facts, outcome }, async () => {
      await middleware(ctx, runNext);
    });
  };
}

/** @param seen where the middleware began, called `next()`, went on and ended */
function visitOutcome(seen: readonly Slots[]): SpanOutcome {
  const all = seen.flatMap((before, index) => {
    const after = seen[index + 1];
    return after && index % 2 === 0 ? changesBetween(before, after) : [];
  });
  const changes = all.filter(({ what }) => what !== 'verdict');
  const hasDecided = changes.length < all.length;
  const verdict = hasDecided
    ? (seen.at(-1)?.get('verdict') as Verdict)
    : ({ kind: 'allow' } as const);
  return { ...verdictOf({ verdict }, changes), changes };
}

function slotsOf(ctx: object): Slots {
  const present = SLOTS.filter((slot) => slot in ctx);
  return new Map(present.map((slot) => [slot, (ctx as Record<string, unknown>)[slot]]));
}

function changesBetween(before: Slots, after: Slots): SpanChange[] {
  return Array.from(before, ([what, value]) => ({
    what,
    before: value,
    after: after.get(what),
  })).filter((change) => change.before !== change.after);
}
