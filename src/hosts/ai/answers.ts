import { randomUUID } from 'node:crypto';
import { isRecord } from '../../util/records.js';
import type { Allowed } from '../allowed.js';
import { isToolCall } from './answer.js';
import type { AnyPart, PromptMessage } from './types.js';

/** What calls of tools carry, through the host and what it stores. */
export interface CallMark {
  readonly allowedTools: Allowed;
  /** Which answer they are of. */
  readonly answer: string;
}

/** The part, with what its call is to carry. */
export function marked(part: AnyPart, hookstack: CallMark | undefined): AnyPart {
  if (!hookstack || !isToolCall(part)) return part;
  const own = isRecord(part.providerMetadata) ? part.providerMetadata : {};
  return { ...part, providerMetadata: { ...own, hookstack } };
}

/** Answers are remembered while their tools run. More than these run at once in no program. */
const MAX_ANSWERS = 1000;

/**
 * What the calls of answers may run, for as long as an answer is not in a message yet: the host tells a tool the id of its
 * call, which the model has made up, and nothing else of the answer.
 */
export class Answers {
  readonly #answers = new Map<
    string,
    { readonly allowed: Allowed; readonly ids: ReadonlySet<string> }
  >();
  /** What all restrictions allow that had to be forgotten. */
  #forgotten: Allowed = 'all';

  constructor(readonly limit = MAX_ANSWERS) {}

  /** Takes an answer with the ids of its calls; gives its name. */
  note(allowed: Allowed, ids: readonly string[]): string {
    const name = randomUUID();
    this.#answers.set(name, { allowed, ids: new Set(ids) });
    const [oldest] = this.#answers;
    if (oldest && this.#answers.size > this.limit) {
      this.#answers.delete(oldest[0]);
      this.#forgotten = within(this.#forgotten, oldest[1].allowed);
    }
    return name;
  }

  /** The calls of answers that are sent to the model have their results. */
  end(prompt: readonly PromptMessage[]): void {
    if (this.#answers.size === 0) return;
    for (const { providerOptions } of prompt.flatMap(partsOf)) {
      const mark = isRecord(providerOptions) ? providerOptions['hookstack'] : undefined;
      if (isRecord(mark)) this.#answers.delete(String(mark['answer']));
    }
  }

  /** What a call may run: what all answers allow that it could be of. */
  allowedFor(id: string | undefined): Allowed {
    const answers = [...this.#answers.values()];
    const own = answers.filter(({ ids }) => id !== undefined && ids.has(id));
    const [first, rest] = own.length > 0 ? ['all' as const, own] : [this.#forgotten, answers];
    return rest.reduce<Allowed>((left, { allowed }) => within(left, allowed), first);
  }
}

function within(left: Allowed, other: Allowed): Allowed {
  if (left === 'all') return other;
  return other === 'all' ? left : left.filter((name) => other.includes(name));
}

/** The call in the messages that a tool is run with: it was approved there, and has no result yet. */
export function approvedCall(
  messages: readonly PromptMessage[] | undefined,
  id: string | undefined,
): AnyPart | undefined {
  if (messages?.at(-1)?.role !== 'tool') return undefined;
  const parts = messages.flatMap(partsOf).filter(({ toolCallId }) => toolCallId === id);
  const last = parts.findLast(({ type }) => type === 'tool-call' || type === 'tool-result');
  return last?.type === 'tool-call' ? last : undefined;
}

function partsOf({ content }: PromptMessage): readonly AnyPart[] {
  return typeof content === 'string' ? [] : content;
}
