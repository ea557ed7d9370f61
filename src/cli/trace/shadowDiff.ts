import type { SpanRecord } from '../../trace/record.js';
import { isOfKnown } from '../record/row.js';
import { paint, plural, toOneLine } from '../shared/terminal.js';

/** Questions that a shadow policy would have answered otherwise, all alike. */
export interface Difference {
  readonly event: string;
  /** Missing where the event has none. */
  readonly tool?: string;
  /** What counted. */
  readonly verdict: string;
  readonly shadow: string;
  readonly policy: string;
  readonly shadowPolicy: string;
  count: number;
  /** Of the shadow, for the first of them. */
  readonly reason?: string;
}

/** What differs between a policy and its shadow, as far as the spans tell that were added. */
export class ShadowDiff {
  readonly #found = new Map<string, Difference>();
  #questions = 0;

  /** @returns whether it is one of a question about which the two differ */
  add({ kind, name, event = name, verdict, counted, ...span }: SpanRecord): boolean {
    // An agent could say anything of a policy.
    if (kind !== 'shadow' || counted === undefined || !isOfKnown(span)) return false;
    this.#questions += 1;
    if (counted === verdict) return false;
    const { policy: shadowPolicy = '', countedPolicy: policy = '', reason } = span;
    const tool = name === event ? undefined : name;
    const key = JSON.stringify([event, tool, counted, verdict, policy, shadowPolicy]);
    const known = this.#found.get(key);
    if (known) {
      known.count += 1;
      return true;
    }
    this.#found.set(key, {
      event,
      ...(tool !== undefined && { tool }),
      verdict: counted,
      shadow: verdict,
      policy,
      shadowPolicy,
      count: 1,
      ...(reason !== undefined && { reason }),
    });
    return true;
  }

  /** Questions that were put to the shadow. */
  get questions(): number {
    return this.#questions;
  }

  /** The most frequent first. */
  list(): readonly Difference[] {
    return [...this.#found.values()].toSorted((a, b) => b.count - a.count);
  }

  text(): string {
    const all = this.list();
    const differ = all.reduce((sum, { count }) => sum + count, 0);
    const of = `${differ} of ${plural(this.#questions, 'question')} that the shadow was asked as well`;
    return [`${of} would have another verdict`, ...all.map(lineOf)].join('\n');
  }
}

function lineOf(each: Difference): string {
  const { event, tool, verdict, shadow, policy, shadowPolicy, count, reason } = each;
  const what = tool === undefined ? event : `${event} ${tool}`;
  const why = reason === undefined ? '' : `: ${toOneLine(reason)}`;
  const versions = paint('dim', toOneLine(`(${policy}, ${shadowPolicy})`));
  const times = String(count).padStart(7);
  return `${times}  ${paint('bold', toOneLine(what))}  ${verdict} → ${shadow}${why}  ${versions}`;
}
