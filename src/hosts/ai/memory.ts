import type { ModelTurn } from '../../core/modelCall.js';
import { RecentMap, RefusedCalls } from '../shared.js';

/** What is known of tool calls, by their ids: between the model's answer, the tools, and the next request. */
export class CallMemory {
  readonly #refused = new RefusedCalls();
  readonly #stops = new RecentMap<{ readonly reason: string; isSeen: boolean }>();
  readonly #changed = new RecentMap<string>();
  readonly #notes = new RecentMap<readonly string[]>();

  /** Takes an answer of the model, with the calls that are left of it. */
  noteAnswer(
    turn: ModelTurn,
    calls: readonly { readonly id: string; readonly name: string }[],
  ): void {
    this.#refused.note(turn, calls);
    for (const { id } of calls) this.#notes.delete(id);
    const [first] = calls;
    if (first && turn.notes.length > 0) this.#notes.set(first.id, turn.notes);
  }

  /** What the model is to read with the results of these calls. */
  notesFor(ids: readonly string[]): readonly string[] {
    return ids.flatMap((id) => this.#notes.get(id) ?? []);
  }

  /**
   * A call begins; its id may be one that was there before, or is in another conversation just now. So a stop that nobody
   * has heeded yet stays. Gives why the call must not run.
   */
  begin(id: string, name: string): string | undefined {
    if (this.#stops.get(id)?.isSeen) this.#stops.delete(id);
    this.#changed.delete(id);
    return this.#refused.take(id, name);
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
