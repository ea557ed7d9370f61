import type { Config } from '../../config/config.js';
import type { ModelTurn } from '../../core/modelCall.js';
import { allowedBy, readAllowed, refusalOfCall } from '../allowed.js';
import { RecentMap } from '../shared.js';
import { Answers, approvedCall, type CallMark } from './answers.js';
import type { CallParams, ToolRunOptions } from './types.js';

/** What is known of tool calls, by their ids: between the model's answer, the tools, and the next request. */
export class CallMemory {
  readonly #answers = new Answers();
  readonly #stops = new RecentMap<{ readonly reason: string; isSeen: boolean }>();
  readonly #changed = new RecentMap<string>();
  readonly #notes = new RecentMap<readonly string[]>();

  constructor(readonly config: Config) {}

  /** Takes an answer of the model, with its calls. Gives what these are to carry, if anything. */
  noteAnswer(turn: ModelTurn, ids: readonly string[]): CallMark | undefined {
    for (const id of ids) this.#notes.delete(id);
    const [first] = ids;
    if (first === undefined) return undefined;
    if (turn.notes.length > 0) this.#notes.set(first, turn.notes);
    const allowedTools = allowedBy(this.config, turn);
    const answer = this.#answers.note(allowedTools ?? 'all', ids);
    return allowedTools && { allowedTools, answer };
  }

  /** The model is asked to go on from these messages. */
  noteRequest({ prompt }: CallParams): void {
    this.#answers.end(prompt);
  }

  /** Why a call must not run. */
  refusalOf(
    name: string,
    { toolCallId: id, messages }: ToolRunOptions,
  ): Promise<string | undefined> {
    const approved = approvedCall(messages, id);
    const allowed = approved ? readAllowed(approved.providerOptions) : this.#answers.allowedFor(id);
    return refusalOfCall(this.config, name, allowed);
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
