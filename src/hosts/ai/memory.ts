import { randomUUID } from 'node:crypto';
import type { GenerateContentParameters } from '@google/genai';
import type { Config } from '../../config/config.js';
import type { ModelTurn } from '../../core/modelCall.js';
import { isRecord } from '../../util/records.js';
import {
  allowedBy,
  mayRestrict,
  readAllowed,
  refusalOfCall,
  whyNotAllowed,
  type Allowed,
} from '../allowed.js';
import { RecentMap } from '../shared.js';
import { isToolCall } from './answer.js';
import type { AnyPart, CallParams, PromptMessage, ToolRunOptions } from './types.js';

/** What is known of tool calls, by their ids: between the model's answer, the tools, and the next request. */
export class CallMemory {
  readonly #answers = new Answers();
  readonly #stops = new RecentMap<{ readonly reason: string; isSeen: boolean }>();
  readonly #changed = new RecentMap<string>();
  readonly #notes = new RecentMap<readonly string[]>();

  constructor(readonly config: Config) {}

  /** Takes an answer of the model, with its calls. Gives what these are to carry, if anything. */
  noteAnswer(
    given: GenerateContentParameters,
    turn: ModelTurn,
    ids: readonly string[],
  ): CallMark | undefined {
    for (const id of ids) this.#notes.delete(id);
    const [first] = ids;
    if (first === undefined) return undefined;
    if (turn.notes.length > 0) this.#notes.set(first, turn.notes);
    const allowedTools = allowedBy(this.config, given, turn);
    const answer = this.#answers.note(allowedTools ?? 'all', ids);
    return allowedTools && { allowedTools, answer };
  }

  /** The model is asked to go on from these messages. */
  noteRequest({ prompt }: CallParams): void {
    this.#answers.end(prompt);
  }

  /** Why a call must not run. */
  refusalOf(name: string, options: ToolRunOptions): Promise<string | undefined> {
    return refusalOfCall(this.config, name, this.#allowedFor(options));
  }

  /** Whether that is known to be nothing. */
  mayRun(name: string, options: ToolRunOptions): boolean {
    const allowed = this.#allowedFor(options);
    return allowed === undefined ? !mayRestrict(this.config) : !whyNotAllowed(name, allowed);
  }

  #allowedFor({ toolCallId: id, messages }: ToolRunOptions): Allowed | undefined {
    const approved = approvedCall(messages, id);
    return approved ? readAllowed(approved.providerOptions) : this.#answers.allowedFor(id);
  }

  /** What the model is to read with the results of these calls. */
  notesFor(ids: readonly string[]): readonly string[] {
    return ids.flatMap((id) => this.#notes.get(id) ?? []);
  }

  /**
   * A call begins; its id may be one that was there before, or is in another conversation just now. So a stop that nobody
   * has heeded yet stays.
   */
  begin(id: string): void {
    if (this.#stops.get(id)?.isSeen) this.#stops.delete(id);
    this.#changed.delete(id);
  }

  noteStop(id: string, reason: string): void {
    this.#stops.set(id, { reason, isSeen: false });
  }

  stopReason(ids: readonly string[]): string | undefined {
    const stops = ids.flatMap((id) => this.#stops.get(id) ?? []);
    for (const stop of stops) stop.isSeen = true;
    return stops[0]?.reason;
  }

  /** Notes that the output of a call is a text of hooks. */
  noteChanged(id: string, text: string): void {
    this.#changed.set(id, text);
  }

  isChanged(id: string, output: unknown): boolean {
    return output !== undefined && this.#changed.get(id) === output;
  }
}

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

/**
 * What the calls of answers may run, for as long as an answer is not in a message yet: the host tells a tool the id of its
 * call, which the model has made up, and nothing else of the answer.
 */
class Answers {
  readonly #answers = new RecentMap<{
    readonly allowed: Allowed;
    readonly ids: ReadonlySet<string>;
  }>(({ allowed }) => {
    this.#forgotten = within(this.#forgotten, allowed);
  });
  /** What all restrictions allow that had to be forgotten. */
  #forgotten: Allowed = 'all';

  /** Takes an answer with the ids of its calls; gives its name. */
  note(allowed: Allowed, ids: readonly string[]): string {
    const name = randomUUID();
    this.#answers.set(name, { allowed, ids: new Set(ids) });
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
function approvedCall(
  messages: readonly PromptMessage[] | undefined,
  id: string | undefined,
): AnyPart | undefined {
  if (messages?.at(-1)?.role !== 'tool') return undefined;
  const parts = messages.flatMap(partsOf).filter(({ toolCallId }) => toolCallId === id);
  const last = parts.findLast(({ type }) => type === 'tool-call' || type === 'tool-result');
  return last?.type === 'tool-call' ? last : undefined;
}

/** The parts of a message; a text is none. */
export function partsOf({ content }: PromptMessage): readonly AnyPart[] {
  return typeof content === 'string' ? [] : content;
}
