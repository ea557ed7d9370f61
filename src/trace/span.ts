import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { tracingChannel, type TracingChannel } from 'node:diagnostics_channel';
import type { HookEventName, Moment, ProcessAge } from '../protocol/types.js';

/** What can be a span, from the outside in; `shadow` is a question that is put to a policy which does not count. */
export const SPAN_KINDS = [
  'session',
  'turn',
  'model',
  'tool',
  'event',
  'hook',
  'middleware',
  'question',
  'shadow',
] as const;

export type SpanKind = (typeof SPAN_KINDS)[number];

/** What came of a span: `change` where something is not what it was before, `fail` where it broke. */
export type SpanVerdict = (typeof SPAN_VERDICTS)[number];

/** `ask`: a person is to be asked; what came of it is a span of its own. */
export const SPAN_VERDICTS = ['allow', 'ask', 'change', 'block', 'stop', 'fail'] as const;

/** Something that was replaced while a span lasted. */
export interface SpanChange {
  /** Such as `input`, `request` or `result`. */
  readonly what: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** For whom a span is. What it does not say itself, those around it say. */
export interface SpanOwner {
  /** Which of several agents it is, where the host has said so. */
  agent?: string | undefined;
  /** The id of the session; where nothing around it says it, what is within does. */
  session?: string | undefined;
  /** Of what is part of a call: the tool, and the model's id of the call. */
  tool?: string | undefined;
  call?: string | undefined;
}

/** What is known of a span when it begins. */
export interface SpanFacts extends Readonly<SpanOwner> {
  /** The tool's, the model's, the event's, the hook's or the middleware's; of a question, those of the hooks that ask. */
  readonly name: string;
  /** The event, of an event and of its hooks. */
  readonly event?: HookEventName;
  /** Of an event: the moment of it that other agents tell apart, where it is one. */
  readonly moment?: Moment;
  /** The command of a hook. */
  readonly command?: string;
  /** What the span works on. Of a hook, what it reads, in our own format whatever its dialect. */
  readonly input?: unknown;
}

/** What is known of a span once it has ended. */
export interface SpanOutcome {
  verdict?: SpanVerdict;
  /** The person who answered a question of hooks: of the question, and of its call. */
  approver?: string;
  /** Why it was blocked or stopped, or what went wrong. */
  reason?: string;
  /** The hooks that decided so, of an event or a call. */
  decidedBy?: readonly string[];
  /** What came out. Of a hook, the text of its stdout. */
  output?: unknown;
  stderr?: string;
  changes?: readonly SpanChange[];
  exitCode?: number;
  signal?: string;
  /** Of a persistent hook: whether its process was started for this event, or had answered another one before. */
  process?: ProcessAge;
  /** Bytes, chunks and tokens, by name. */
  sizes?: Readonly<Record<string, number>>;
  /** Ms without what `next()` took. Of middleware only. */
  ownMs?: number;
  /** The version of the policy that has answered: of what a policy server does, and of the remote hook that asks it. */
  policy?: string;
  /** Of a shadow: what counted in its place. */
  counted?: { readonly verdict: string; readonly policy: string };
  /** What was thrown, or why a hook could not be run to its end. */
  error?: unknown;
}

/**
 * A part of a session: the message on the channels `tracing:hookstack:<kind>:<moment>`. Values are those of the
 * process itself, neither masked nor cut; {@link toSpanRecord} makes a line of a trace file of them.
 */
export interface Span extends Omit<SpanFacts, keyof SpanOwner>, SpanOwner, SpanOutcome {
  /** 16 hexadecimal digits, unique across processes. */
  readonly id: string;
  /** 32 hexadecimal digits, the same in all that one span has led to, also on policy servers. */
  readonly trace: string;
  /** The span within which this one began, of those that anybody listens to. */
  readonly parent: string | null;
  readonly kind: SpanKind;
  /** Within a shadow: has no effect on anything, whatever its verdict. */
  readonly isShadow?: boolean;
  /** Ms since 1970, with a fraction. */
  readonly start: number;
  /** Ms. Missing until the span has ended. */
  durationMs?: number;
}

// Its two parameters stand in another order from some later version of Node's types on, so naming them fits one of the two only.
// oxlint-disable-next-line typescript/no-explicit-any
type SpanChannel = TracingChannel<any, any>;

/** One `tracingChannel` a kind, whose messages are a {@link Span}. The names are part of the package's interface. */
export const channels = Object.fromEntries(
  SPAN_KINDS.map((kind) => [kind, tracingChannel(`hookstack:${kind}`)]),
) as Record<SpanKind, SpanChannel>;

/**
 * Calls a listener with every span of this process that ends.
 *
 * @param listener must not throw, as that would end the process
 * @returns what ends the listening
 */
export function listenToSpans(listener: (span: Span) => void): () => void {
  const listen = (message: unknown) => listener(message as Span);
  for (const kind of SPAN_KINDS) channels[kind].asyncEnd.subscribe(listen);
  return () => {
    for (const kind of SPAN_KINDS) channels[kind].asyncEnd.unsubscribe(listen);
  };
}

/** What all that happens within it says, too. Of another process, less is known. */
type Store = Span | Partial<Pick<Span, 'id' | 'trace' | 'policy' | 'isShadow'>>;

const current = new AsyncLocalStorage<Store>();

/** The span within which something happens now, where somebody listens to spans. */
export function currentSpanId(): string | undefined {
  return current.getStore()?.id;
}

/** The trace of that span. */
export function currentTrace(): string | undefined {
  return current.getStore()?.trace;
}

/** Whether anybody listens to spans of a kind. Nobody is the usual case, and costs no more than this question. */
export function isTraced(kind: SpanKind): boolean {
  return channels[kind].hasSubscribers;
}

/**
 * Does some work as a part of a span of another process.
 *
 * @param parent the id of that span; anything but 16 hexadecimal digits counts for none
 * @param of what all spans within say. Without a trace, it is a new one
 */
export function withinRemoteSpan<R>(
  parent: string | undefined,
  of: Partial<Pick<Span, 'policy' | 'isShadow'>> & { readonly trace?: string | undefined },
  work: () => R,
): R {
  const isKnown = parent !== undefined && SPAN_ID.test(parent);
  if (!isKnown && !isTraced('event')) return work();
  const trace = of.trace ?? newTrace();
  return current.run({ ...of, trace, ...(isKnown && { id: parent }) }, work);
}

const SPAN_ID = /^[0-9a-f]{16}$/u;

function newTrace(): string {
  return randomUUID().replaceAll('-', '');
}

/** 16 hexadecimal digits: of those of a UUID, which Node draws many at a time, the ones that are all random. */
export function newSpanId(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(-8);
}

/** What can be part of a call. The others may have calls within them. */
const OF_CALL: ReadonlySet<SpanKind> = new Set(['tool', 'event', 'hook', 'middleware', 'question']);

/** The span of this process within which something happens now. */
export function currentSpan(): Span | undefined {
  const span = current.getStore();
  return span && 'kind' in span ? span : undefined;
}

/** Notes that a person has answered for what happens now, and was not asked again. */
export function noteApprover(approver: string | undefined): void {
  tellOf(currentSpan(), { approver });
}

/** Has a span know what is known of one within it. */
function tellOf(
  span: Span | undefined,
  { session, approver }: Pick<SpanOwner, 'session'> & { readonly approver?: string | undefined },
): void {
  if (!span) return;
  if (session !== undefined) span.session ??= session;
  if (approver !== undefined && OF_CALL.has(span.kind)) span.approver ??= approver;
}

/** A span that is open: from when its work begins to when it is ended. */
export class OpenSpan {
  readonly #span: Span;
  readonly #startedAt = performance.now();
  readonly #around = currentSpan();
  #within: (<R>(work: () => R) => R) | undefined;
  #hasEnded = false;

  constructor(kind: SpanKind, facts: SpanFacts) {
    const around = current.getStore() ?? {};
    const { policy, isShadow } = around;
    const span: Span = {
      id: newSpanId(),
      trace: around.trace ?? newTrace(),
      parent: around.id ?? null,
      kind,
      start: performance.timeOrigin + this.#startedAt,
      ...facts,
      ...(policy !== undefined && { policy }),
      ...(isShadow && { isShadow }),
    };
    span.agent ??= this.#around?.agent;
    span.session ??= this.#around?.session;
    if (OF_CALL.has(kind)) {
      span.tool ??= this.#around?.tool;
      span.call ??= this.#around?.call;
    }
    this.#span = span;
  }

  /**
   * Begins the span with all of its work, or the first part of it. To be called once. What listeners bound to the channel
   * counts as well, such as the span of a host's own telemetry.
   */
  begin<R>(work: () => R): R {
    const { start, end } = channels[this.#span.kind];
    const done = start.runStores(this.#span, () => current.run(this.#span, work));
    end.publish(this.#span);
    return done;
  }

  /** Runs something as a part of this span, as often as wanted. */
  within<R>(work: () => R): R {
    this.#within ??= this.begin(() => AsyncLocalStorage.snapshot());
    return this.#within(work);
  }

  /** Reads chunks as a part of this span. */
  async *iterate<T>(chunks: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const iterator = this.within(() => chunks[Symbol.asyncIterator]());
    let isRead = false;
    try {
      for (;;) {
        const step = await this.within(() => iterator.next());
        isRead = step.done === true;
        if (step.done) return;
        yield step.value;
      }
    } catch (error) {
      isRead = true;
      throw error;
    } finally {
      if (!isRead) await this.within(() => iterator.return?.());
    }
  }

  /** Ends the span, once. What cannot be described must not harm the work that was done. */
  end(describe: () => SpanOutcome): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#span.durationMs = performance.now() - this.#startedAt;
    try {
      Object.assign(this.#span, describe());
    } catch (error) {
      Object.assign(this.#span, { verdict: 'fail', error });
    }
    tellOf(this.#around, this.#span);
    const { asyncStart, asyncEnd, error } = channels[this.#span.kind];
    if (this.#span.error !== undefined) error.publish(this.#span);
    asyncStart.publish(this.#span);
    asyncEnd.publish(this.#span);
  }

  /** Ends the span with what was thrown. */
  fail(error: unknown): void {
    this.end(() => ({ verdict: 'fail', error }));
  }
}

/** How spans are reported. */
export interface Description<T> {
  readonly facts: () => SpanFacts;
  readonly outcome: (result: T) => SpanOutcome;
}

/** Does some work, as a span where anybody listens to spans of this kind. */
export function traced<T>(
  kind: SpanKind,
  description: Description<T>,
  work: () => Promise<T>,
): Promise<T> {
  return isTraced(kind) ? traceWork(kind, description, work) : work();
}

async function traceWork<T>(
  kind: SpanKind,
  { facts, outcome }: Description<T>,
  work: () => Promise<T>,
): Promise<T> {
  const span = new OpenSpan(kind, facts());
  try {
    const result = await span.begin(work);
    span.end(() => outcome(result));
    return result;
  } catch (error) {
    span.fail(error);
    throw error;
  }
}
