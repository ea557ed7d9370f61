import { hasHooks } from '../../hooks/fireHook.js';
import { traced, withinRemoteSpan, type SpanVerdict } from '../../trace/span.js';
import type { Policy } from './policy.js';
import type { Answered } from '../serve/answers.js';
import type { QuestionVerdict } from '../serve/answerText.js';
import { decide, type Decided } from './decide.js';
import { Quota } from '../serve/quota.js';

/** Puts questions that were answered to a policy that does not count. What it says is recorded, and nothing else. */
export class Shadow {
  readonly #places: Quota;
  readonly #ending = new AbortController();

  /**
   * @param maxConcurrent questions that the server works on at a time: the shadow may work on a quarter as many, and more
   *   are left out
   * @param onAnswered called with what counted, and what the shadow says
   */
  constructor(
    private readonly policy: { readonly now: Policy },
    maxConcurrent: number,
    private readonly onAnswered: (
      counted: QuestionVerdict,
      shadow: QuestionVerdict | 'left_out',
    ) => void,
  ) {
    this.#places = new Quota(Math.max(1, Math.floor(maxConcurrent / 4)));
  }

  /** Ends what its hooks work on. */
  close(): void {
    this.#ending.abort();
  }

  /** Returns at once. */
  ask(answered: Answered): void {
    const { now } = this.policy;
    const { verdict, read } = answered;
    const isAsked = hasHooks(now.config, read.event, read.payload, read.session.cwd);
    if (!isAsked && verdict === 'none') return this.onAnswered('none', 'none');
    if (!this.#places.take(undefined)) return this.onAnswered(verdict, 'left_out');
    now.hold();
    // Whoever has asked gets his answer first.
    setImmediate(() => void this.#ask(now, answered));
  }

  async #ask(policy: Policy, { asked, read, ...counted }: Answered): Promise<void> {
    const { span, trace, timeoutMs } = asked.question;
    const { event, payload } = read;
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#ending.signal]);
    const name = 'toolName' in payload ? payload.toolName : event;
    const outcome = ({ verdict: said, fired, reply }: Decided) => {
      const verdict = spanVerdict(said);
      const output = verdict === 'allow' ? undefined : fired?.aggregated.finalOutput;
      const instead = { verdict: spanVerdict(counted.verdict), policy: counted.policy };
      return { verdict, reason: reply?.reason ?? output?.getEffectiveReason(), counted: instead };
    };
    const work = async (): Promise<Decided> => {
      const said = await decide(policy, read, signal);
      return signal.aborted ? { verdict: 'fail' } : said;
    };
    const of = { policy: policy.version, isShadow: true, trace };
    const { verdict } = await withinRemoteSpan(span, of, () =>
      traced('shadow', { facts: () => ({ name, event, input: payload }), outcome }, work),
    ).catch((): Decided => ({ verdict: 'fail' }));
    this.#places.give(undefined);
    this.onAnswered(counted.verdict, verdict);
    await policy.release();
  }
}

/** To say nothing is to let it be. */
function spanVerdict(verdict: QuestionVerdict): SpanVerdict {
  return verdict === 'none' ? 'allow' : verdict;
}
