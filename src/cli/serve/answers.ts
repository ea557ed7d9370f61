import { hash } from 'node:crypto';
import { countsForLate, endIfOver, isReadBeside } from '../../core/lateVerdict.js';
import { reply as replyTo } from '../../dialects/reverse.js';
import { planOfGuards } from '../../hooks/envelopes.js';
import { findWork, type FoundWork } from '../../hooks/fireHook.js';
import { ended } from '../../fleet/question.js';
import { events } from '../../protocol/events.js';
import { textsOf } from '../../protocol/llmContent.js';
import { HookEventName } from '../../protocol/types.js';
import { withinRemoteSpan } from '../../trace/span.js';
import { errorMessage } from '../../util/errorMessage.js';
import { decide, type ReadQuestion } from '../policy/decide.js';
import type { Policy } from '../policy/policy.js';
import type { Counted } from '../policy/shadow.js';
import { answerTextOf, foreignAnswerText } from './answerText.js';
import { KeptAnswers, type Reply } from './keptAnswers.js';
import { Quota } from '../shared/http/quota.js';
import { readAsked, UnreadableQuestion, type Asked } from './readAsked.js';

export type { Reply } from './keptAnswers.js';
export type { Asked } from './readAsked.js';

/** What is known of a question once it is answered. */
export interface Answered extends Counted {
  readonly event: HookEventName;
  readonly durationMs: number;
}

const STATUS = { full: 503, draining: 503, late: 504, fault: 500 } as const;

/** Why a question got no answer of hooks. */
export type Refusal = keyof typeof STATUS | 'unreadable';

/** Whose hooks answer, and who hears of it. */
export interface PolicyAnswersOptions {
  /** Whose hooks answer. A question has one policy from beginning to end, also where another counts meanwhile. */
  readonly policy: { readonly now: Policy };
  /** How many questions hooks work on at a time. More are refused, none waits. */
  readonly maxConcurrent: number;
  readonly onAnswered?: (answered: Answered) => void;
  readonly onRefused?: (refusal: Refusal) => void;
  /** Called with what an agent's format could not say. */
  readonly onLost?: (what: string) => void;
}

/** Ends the hooks of a question, which gets this answer. */
class Ended extends Error {
  override readonly name = 'Ended';

  constructor(
    readonly refusal: keyof typeof STATUS,
    message: string,
  ) {
    super(message);
  }
}

/** Ends the hooks of a question once its time is over. */
class Deadline {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  readonly ended = ended(this.signal);
  readonly end = (why: Ended): void => this.#controller.abort(why);
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    const late = `Its hooks had not answered after ${Math.round(timeoutMs)} ms`;
    this.#timer = setTimeout(() => this.end(new Ended('late', late)), timeoutMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** Answers questions of a fleet with the hooks of a policy, whichever way they came. */
export class PolicyAnswers {
  readonly #kept = new KeptAnswers();
  /** What hooks work on, also where nobody waits for it any more. */
  readonly #running = new Map<Promise<unknown>, (why: Ended) => void>();
  /** One agent gets no more than half of them. */
  readonly #places: Quota;
  isDraining = false;

  constructor(private readonly options: PolicyAnswersOptions) {
    this.#places = new Quota(options.maxConcurrent);
  }

  /** Questions that hooks work on. */
  get inFlight(): number {
    return this.#running.size;
  }

  /** How many more questions hooks can work on; none once it drains. */
  get room(): number {
    return this.isDraining ? 0 : this.options.maxConcurrent - this.#places.taken;
  }

  /** Never rejects. */
  async answer(asked: Asked): Promise<Reply> {
    const start = performance.now();
    let read: ReadQuestion | undefined;
    const policy = this.options.policy.now;
    const { question } = asked;
    const { config, version } = policy;
    try {
      if (this.isDraining) {
        return this.#refuse(asked, policy, 'draining', 'The server is about to end');
      }
      read = readAsked(asked);
      if (!read) return { status: 200, body: foreignAnswerText(question, version, {}) };
      const { event, payload, session } = read;
      const late = config.getHookSystem()?.lookForLate(session);
      const work = findWork(config, event, payload, session);
      if (work || countsForLate(event, late))
        return await this.#answerOnce(asked, read, policy, work);
      this.#tellAnswered({ verdict: 'none', policy: version, question, read }, start);
      const body = read.received
        ? foreignAnswerText(question, version, {})
        : answerTextOf(question, version, undefined);
      return { status: 200, body };
    } catch (error) {
      if (!(error instanceof UnreadableQuestion)) {
        const why = `The hooks could not be asked: ${errorMessage(error)}`;
        return this.#refuse(asked, policy, 'fault', why, read?.event);
      }
      this.options.onRefused?.('unreadable');
      return this.refusal(asked, error.status, error.message, policy);
    }
  }

  /**
   * The answer to a question that no hook is asked. Claude Code goes on after any status but 200, so that it is told a
   * block where a guard would have been asked.
   *
   * @param policy of the question
   * @param event where it is known
   */
  refusal(
    { format, question }: Pick<Asked, 'format' | 'question'>,
    status: number,
    why: string,
    { config, version } = this.options.policy.now,
    event?: HookEventName,
  ): Reply {
    const retry = status === 503 && { retryAfterS: 1 };
    const among = event ? [event] : Object.values(HookEventName);
    if (format === 'claude' && among.some((each) => planOfGuards(config, each) !== undefined)) {
      const reason = `Blocked, as the policy server could not ask its hooks: ${why}`;
      const body = foreignAnswerText(question, version, { decision: 'block', reason });
      return { status: 200, body, ...retry };
    }
    return { status, body: JSON.stringify({ error: why }), ...retry };
  }

  /**
   * Takes no more questions, and waits for those that hooks work on.
   *
   * @param withinMs then they are ended
   */
  async drain(withinMs: number): Promise<void> {
    this.isDraining = true;
    const over = new Ended('draining', 'The server has ended before its hooks had answered');
    const timer = setTimeout(() => {
      for (const end of this.#running.values()) end(over);
    }, withinMs);
    await Promise.allSettled(this.#running.keys());
    clearTimeout(timer);
    this.#kept.clear();
  }

  #answerOnce(asked: Asked, read: ReadQuestion, policy: Policy, work?: FoundWork): Promise<Reply> {
    const key = keyOf(asked);
    const known = this.#kept.get(key);
    if (known && known !== 'full') return known;
    const { asker, question } = asked;
    if (known || !this.#places.take(asker)) {
      const why = known ? 'Too many wait for the same answer: ask again' : this.#whyFull(asker);
      return Promise.resolve(this.#refuse(asked, policy, 'full', why, read.event));
    }
    // What another agent sends is put to its own hooks, in its own way.
    const found = read.received ? undefined : work;
    const ask = () => this.#ask(asked, read, policy, found);
    return this.#kept.once(key, question.timeoutMs, ask, asker);
  }

  #whyFull(asker: string | undefined): string {
    const { maxConcurrent } = this.options;
    const isAll = asker === undefined || this.#places.taken >= maxConcurrent;
    const whose = isAll ? '' : ` of ${asker}`;
    const count = isAll ? maxConcurrent : this.#places.takenBy(asker);
    return `Its hooks work on ${count} questions${whose} already: ask again, or start another server`;
  }

  /** Puts a question to the hooks. It ends with its deadline, and no earlier because nobody waits any more. */
  async #ask(asked: Asked, read: ReadQuestion, policy: Policy, work?: FoundWork): Promise<Reply> {
    const deadline = work?.isInstant ? undefined : new Deadline(asked.question.timeoutMs);
    policy.hold();
    const deciding = this.#decide(asked, read, policy, deadline?.signal, work);
    if (deadline) this.#running.set(deciding, deadline.end);
    const over = () => {
      deadline?.clear();
      this.#places.give(asked.asker);
      this.#running.delete(deciding);
      void policy.release();
    };
    deciding.then(over, over);
    try {
      const body = await (deadline ? Promise.race([deciding, deadline.ended]) : deciding);
      return { status: 200, body };
    } catch (error) {
      const refusal = error instanceof Ended ? error.refusal : 'fault';
      return this.#refuse(asked, policy, refusal, errorMessage(error), read.event);
    }
  }

  async #decide(
    asked: Asked,
    read: ReadQuestion,
    policy: Policy,
    signal: AbortSignal | undefined,
    work: FoundWork | undefined,
  ): Promise<string> {
    const { question } = asked;
    const { event, session, received } = read;
    const { version } = policy;
    const start = performance.now();
    const of = { policy: version, trace: question.trace };
    const decided = await withinRemoteSpan(question.span, of, () =>
      decide(policy, read, signal, work),
    );
    signal?.throwIfAborted();
    const { verdict } = decided;
    this.#tellAnswered({ verdict, policy: version, question, read }, start);
    if (received && decided.reply) {
      const { json, lost } = replyTo(received, decided.reply);
      for (const each of lost) this.options.onLost?.(each);
      const { hasFailed, decidedBy } = decided.reply;
      return foreignAnswerText(question, version, json, { success: !hasFailed, decidedBy });
    }
    const system = policy.config.getHookSystem();
    const kind = verdict === 'fail' ? 'none' : verdict;
    const isRead = 'additionalContext' in events[event].answers && isReadBeside(event, kind);
    const late = isRead ? system?.takeLate(session) : [];
    endIfOver(system, event, kind, session);
    return answerTextOf(question, version, decided.fired, late?.flatMap(textsOf));
  }

  #tellAnswered(answered: Omit<Answered, 'event' | 'durationMs'>, start: number): void {
    const { event } = answered.read;
    this.options.onAnswered?.({ event, durationMs: performance.now() - start, ...answered });
  }

  #refuse(
    asked: Asked,
    policy: Policy,
    refusal: keyof typeof STATUS,
    why: string,
    event?: HookEventName,
  ): Reply {
    this.options.onRefused?.(refusal);
    return this.refusal(asked, STATUS[refusal], why, policy, event);
  }
}

/** The same id for something else, or by somebody else, is another question. */
function keyOf({ format, event, text, question, asker = '' }: Asked): string {
  return hash('sha256', [asker, question.id, format, event, text].join('\n'));
}
