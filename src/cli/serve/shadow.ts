import { hasHooks } from '../../hooks/fireHook.js';
import {
  traced,
  withinRemoteSpan,
  type Description,
  type SpanVerdict,
} from '../../trace/span.js';
import type { Policy } from '../shared/policy.js';
import type { Decision } from './answers.js';
import type { QuestionVerdict } from './answerText.js';
import { decide, type Decided } from './decide.js';
import { Quota } from './quota.js';
import type { Asked, ReadQuestion } from './readAsked.js';

interface ShadowOptions {
  readonly policy: { readonly now: Policy };
  /** Questions that its hooks work on at a time; more are left out. */
  readonly maxConcurrent: number;
  readonly longestMs: number;
  readonly onAnswered: (counted: QuestionVerdict, shadow: QuestionVerdict | 'left_out') => void;
}

/** Puts questions that were answered to a policy that does not count. What it says is recorded, and nothing else. */
export class Shadow {
  readonly #places: Quota;

  constructor(private readonly options: ShadowOptions) {
    this.#places = new Quota(options.maxConcurrent);
  }

  /** Returns at once. */
  ask(asked: Asked, read: ReadQuestion, counted: Decision): void {
    const policy = this.options.policy.now;
    const { event, payload, session } = read;
    const isAsked = hasHooks(policy.config, event, payload, session.cwd);
    if (!isAsked && counted.verdict === 'none') return this.options.onAnswered('none', 'none');
    if (!this.#places.take(undefined)) {
      return this.options.onAnswered(counted.verdict, 'left_out');
    }
    policy.hold();
    // Whoever has asked gets his answer first.
    setImmediate(() => void this.#ask(policy, asked, read, counted));
  }

  async #ask(policy: Policy, asked: Asked, read: ReadQuestion, counted: Decision): Promise<void> {
    const { span, timeoutMs } = asked.question;
    const signal = AbortSignal.timeout(Math.min(timeoutMs, this.options.longestMs));
    const of = { policy: policy.version, isShadow: true };
    try {
      const { verdict } = await withinRemoteSpan(span, of, () =>
        traced('shadow', descriptionOf(read, counted), async (): Promise<Decided> => {
          const said = await decide(policy, read, signal);
          return signal.aborted ? { verdict: 'fail' } : said;
        }),
      );
      this.options.onAnswered(counted.verdict, verdict);
    } finally {
      this.#places.give(undefined);
      void policy.release();
    }
  }
}

function descriptionOf({ event, payload }: ReadQuestion, counted: Decision): Description<Decided> {
  const name = 'toolName' in payload ? payload.toolName : event;
  return {
    facts: () => ({ name, event, input: payload }),
    outcome: ({ verdict: said, fired, reply }) => {
      const verdict = spanVerdict(said);
      const output = verdict === 'allow' ? undefined : fired?.aggregated.finalOutput;
      const reason = reply?.reason ?? output?.getEffectiveReason();
      return {
        verdict,
        ...(reason !== undefined && { reason }),
        counted: { ...counted, verdict: spanVerdict(counted.verdict) },
      };
    },
  };
}

/** To say nothing is to let it be. */
function spanVerdict(verdict: QuestionVerdict): SpanVerdict {
  return verdict === 'none' ? 'allow' : verdict;
}
