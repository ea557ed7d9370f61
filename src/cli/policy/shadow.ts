import { hasHooks } from '../../hooks/fireHook.js';
import { traced, withinRemoteSpan, type SpanVerdict } from '../../trace/span.js';
import { decide, type Decided, type QuestionVerdict, type ReadQuestion } from './decide.js';
import type { Policy } from './policy.js';

/** A question, and what was said to it. */
export interface Counted {
  readonly verdict: QuestionVerdict;
  /** The version of the policy. */
  readonly policy: string;
  readonly read: ReadQuestion;
  /** How it was asked. */
  readonly question: {
    readonly timeoutMs: number;
    readonly span?: string;
    readonly trace?: string;
  };
}

/** Puts questions that were answered to a policy that does not count. What it says is recorded, and nothing else. */
export class Shadow {
  readonly #working = new Set<AbortController>();
  #places: number;

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
    this.#places = Math.max(1, Math.floor(maxConcurrent / 4));
  }

  /** Ends what its hooks work on, for good. */
  close(): void {
    this.#places = 0;
    for (const controller of this.#working) controller.abort();
  }

  /** Returns at once, and never throws. Whoever has asked gets his answer first. */
  ask(counted: Counted): void {
    setImmediate(() => void this.#ask(counted));
  }

  async #ask({ question, read, ...counted }: Counted): Promise<void> {
    const { now: policy } = this.policy;
    const { event, payload, session } = read;
    const isAsked = hasHooks(policy.config, event, payload, session.cwd);
    if (!isAsked && counted.verdict === 'none') return this.onAnswered('none', 'none');
    if (this.#working.size >= this.#places) return this.onAnswered(counted.verdict, 'left_out');
    const controller = new AbortController();
    const { signal } = controller;
    const deadline = setTimeout(() => controller.abort(), question.timeoutMs);
    this.#working.add(controller);
    policy.hold();
    const { toolName: tool, callId: call } = payload as Partial<Record<string, string>>;
    const whose = { session: session.sessionId, agent: session.agent, tool, call };
    const facts = () => ({ name: tool ?? event, event, input: payload, ...whose });
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
    const of = { policy: policy.version, isShadow: true, trace: question.trace };
    const { verdict } = await withinRemoteSpan(question.span, of, () =>
      traced('shadow', { facts, outcome }, work),
    ).catch((): Decided => ({ verdict: 'fail' }));
    clearTimeout(deadline);
    this.#working.delete(controller);
    this.onAnswered(counted.verdict, verdict);
    await policy.release();
  }
}

/** To say nothing is to let it be. */
function spanVerdict(verdict: QuestionVerdict): SpanVerdict {
  return verdict === 'none' ? 'allow' : verdict;
}
