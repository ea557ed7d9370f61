import { hash } from 'node:crypto';
import type { Config } from '../../config/config.js';
import { decideReceived } from '../../core/decideReceived.js';
import { countsForLate, endIfOver, isReadBeside } from '../../core/lateVerdict.js';
import { reply as replyTo } from '../../dialects/reverse.js';
import { planOfGuards } from '../../hooks/envelopes.js';
import { fireHook, skipIdle } from '../../hooks/fireHook.js';
import { events } from '../../protocol/events.js';
import { textsOf } from '../../protocol/llmContent.js';
import { HookEventName } from '../../protocol/types.js';
import { withinRemoteSpan } from '../../trace/span.js';
import { errorMessage } from '../../util/errorMessage.js';
import {
  answerTextOf,
  foreignAnswerText,
  verdictWord,
  type QuestionVerdict,
} from './answerText.js';
import { KeptAnswers, type Reply } from './keptAnswers.js';
import { Quota } from './quota.js';
import { readAsked, UnreadableQuestion, type Asked, type ReadQuestion } from './readAsked.js';

export type { Reply } from './keptAnswers.js';
export type { Asked } from './readAsked.js';

/** What is known of a question once it is answered. */
export interface Answered {
  readonly event: HookEventName;
  readonly verdict: QuestionVerdict;
  readonly durationMs: number;
}

const STATUS = { full: 503, draining: 503, late: 504, fault: 500 } as const;

/** Why a question got no answer of hooks. */
export type Refusal = keyof typeof STATUS | 'unreadable';

export interface PolicyOptions {
  readonly config: Config;
  /** How many questions hooks work on at a time. More are refused, none waits. */
  readonly maxConcurrent: number;
  /** No question may take longer, in ms, whatever it says. */
  readonly longestMs: number;
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

/** Answers questions of a fleet with the hooks of one `Config`, whichever way they came. */
export class PolicyAnswers {
  readonly #kept = new KeptAnswers();
  /** What hooks work on, also where nobody waits for it any more. */
  readonly #running = new Map<Promise<unknown>, (why: Ended) => void>();
  /** One agent gets no more than half of them. */
  readonly #places: Quota;
  #isDraining = false;

  constructor(private readonly options: PolicyOptions) {
    const { maxConcurrent } = options;
    this.#places = new Quota(maxConcurrent, Math.max(1, Math.floor(maxConcurrent / 2)));
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Questions that hooks work on. */
  get inFlight(): number {
    return this.#running.size;
  }

  /** Never rejects. */
  async answer(asked: Asked): Promise<Reply> {
    const start = performance.now();
    let read: ReadQuestion | undefined;
    try {
      if (this.#isDraining) return this.#refuse(asked, 'draining', 'The server is about to end');
      read = readAsked(asked);
      if (!read) return { status: 200, body: foreignAnswerText(asked.question, {}) };
      const { event, payload, session } = read;
      const { config } = this.options;
      const late = config.getHookSystem()?.lookForLate(session);
      if (countsForLate(event, late) || !skipIdle(config, event, payload, session))
        return await this.#answerOnce(asked, read);
      this.#tellAnswered(read, 'none', start);
      const { question } = asked;
      const body = read.received
        ? foreignAnswerText(question, {})
        : answerTextOf(question, undefined);
      return { status: 200, body };
    } catch (error) {
      if (!(error instanceof UnreadableQuestion)) {
        return this.#refuse(
          asked,
          'fault',
          `The hooks could not be asked: ${errorMessage(error)}`,
          read?.event,
        );
      }
      this.options.onRefused?.('unreadable');
      return this.refusal(asked, error.status, error.message);
    }
  }

  /**
   * The answer to a question that no hook is asked. Claude Code goes on after any status but 200, so that it is told a
   * block where a guard would have been asked.
   *
   * @param event where it is known
   */
  refusal(
    { format, question }: Pick<Asked, 'format' | 'question'>,
    status: number,
    why: string,
    event?: HookEventName,
  ): Reply {
    const retry = status === 503 && { retryAfterS: 1 };
    if (format === 'claude' && this.#isGuarded(event)) {
      const reason = `Blocked, as the policy server could not ask its hooks: ${why}`;
      const body = foreignAnswerText(question, { decision: 'block', reason });
      return { status: 200, body, ...retry };
    }
    return { status, body: JSON.stringify({ error: why }), ...retry };
  }

  /**
   * Takes no more questions, and waits for those that hooks work on.
   *
   * @param withinMs then they are ended
   */
  async drain(withinMs = 30_000): Promise<void> {
    this.#isDraining = true;
    const over = new Ended('draining', 'The server has ended before its hooks had answered');
    const timer = setTimeout(() => {
      for (const end of this.#running.values()) end(over);
    }, withinMs);
    await Promise.allSettled(this.#running.keys());
    clearTimeout(timer);
    this.#kept.clear();
  }

  #isGuarded(event: HookEventName | undefined): boolean {
    const among = event ? [event] : Object.values(HookEventName);
    return among.some((each) => planOfGuards(this.options.config, each) !== undefined);
  }

  #answerOnce(asked: Asked, read: ReadQuestion): Promise<Reply> {
    const key = keyOf(asked);
    const known = this.#kept.get(key);
    if (known) return known;
    const { asker } = asked;
    if (!this.#places.take(asker)) {
      return Promise.resolve(this.#refuse(asked, 'full', this.#whyFull(asker), read.event));
    }
    const timeoutMs = Math.min(asked.question.timeoutMs, this.options.longestMs);
    return this.#kept.once(key, timeoutMs, () => this.#ask(asked, read, timeoutMs));
  }

  #whyFull(asker: string | undefined): string {
    const { maxConcurrent } = this.options;
    const isAll = asker === undefined || this.#places.taken >= maxConcurrent;
    const whose = isAll ? '' : ` of ${asker}`;
    const count = isAll ? maxConcurrent : this.#places.takenBy(asker);
    return `Its hooks work on ${count} questions${whose} already: ask again, or start another server`;
  }

  /** Puts a question to the hooks. It ends with its deadline, and no earlier because nobody waits any more. */
  async #ask(asked: Asked, read: ReadQuestion, timeoutMs: number): Promise<Reply> {
    const controller = new AbortController();
    let endWaiting!: (why: Ended) => void;
    const ended = new Promise<never>((_resolve, reject) => (endWaiting = reject));
    const end = (why: Ended) => {
      endWaiting(why);
      controller.abort(why);
    };
    const late = `Its hooks had not answered after ${Math.round(timeoutMs)} ms`;
    const deadline = setTimeout(() => end(new Ended('late', late)), timeoutMs);
    const deciding = this.#decide(asked, read, controller.signal);
    this.#running.set(deciding, end);
    const over = () => {
      clearTimeout(deadline);
      this.#places.give(asked.asker);
      this.#running.delete(deciding);
    };
    deciding.then(over, over);
    try {
      return { status: 200, body: await Promise.race([deciding, ended]) };
    } catch (error) {
      const refusal = error instanceof Ended ? error.refusal : 'fault';
      return this.#refuse(asked, refusal, errorMessage(error), read.event);
    }
  }

  async #decide(asked: Asked, read: ReadQuestion, signal: AbortSignal): Promise<string> {
    const { config, onLost } = this.options;
    const { event, payload, session, received } = read;
    const start = performance.now();
    const options = { signal, session };
    const system = config.getHookSystem();
    return withinRemoteSpan(asked.question.span, async () => {
      if (received) {
        const verdict = await decideReceived(config, received, options);
        signal.throwIfAborted();
        const { json, lost } = replyTo(received, verdict);
        for (const each of lost) onLost?.(each);
        this.#tellAnswered(read, verdict.kind, start);
        return foreignAnswerText(asked.question, json, !verdict.hasFailed);
      }
      const fired = await fireHook(config, event, payload, options);
      signal.throwIfAborted();
      const verdict = fired ? verdictWord(fired) : 'none';
      this.#tellAnswered(read, verdict, start);
      const kind = verdict === 'fail' ? 'none' : verdict;
      const isRead = 'additionalContext' in events[event].answers && isReadBeside(event, kind);
      const late = isRead ? system?.takeLate(session) : [];
      endIfOver(system, event, kind, session);
      return answerTextOf(asked.question, fired, late?.flatMap(textsOf));
    });
  }

  #tellAnswered({ event }: ReadQuestion, verdict: QuestionVerdict, start: number): void {
    this.options.onAnswered?.({ event, verdict, durationMs: performance.now() - start });
  }

  #refuse(asked: Asked, refusal: keyof typeof STATUS, why: string, event?: HookEventName): Reply {
    this.options.onRefused?.(refusal);
    return this.refusal(asked, STATUS[refusal], why, event);
  }
}

/** The same id for something else, or by somebody else, is another question. */
function keyOf({ format, event, text, question, asker = '' }: Asked): string {
  return hash('sha256', [asker, question.id, format, event, text].join('\n'));
}
