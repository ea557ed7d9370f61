import type { Approval } from '../../../protocol/approval.js';
import type { OpenQuestion } from './openQuestions.js';
import type { KeptRequest } from './readApprovalRequest.js';
import type { StoredOver } from './storedQuestion.js';

/** A question on its way to the board. */
export interface Posed {
  /** Who asks, as his credentials say. */
  readonly from: string;
  readonly request: KeptRequest;
  /** Ms that a person has, from now. */
  readonly timeoutMs: number;
  /** Ms after which who asks wants to hear that it is still open. */
  readonly waitMs: number;
}

/** What came of a question, for now. */
export type Outcome =
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'open' }
  | { readonly kind: 'full' | 'taken' }
  /** Nobody could read it. `why` ends a sentence about it. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** What came of an answer. `by` says who was first. */
export type Counted =
  | { readonly kind: 'counts' }
  | { readonly kind: 'unknown' | 'late' | 'withdrawn' }
  | { readonly kind: 'answered'; readonly by: string };

/** Tells of a question that appears, and of one that is over. */
export type BoardListener = (
  key: string,
  question: OpenQuestion | undefined,
  over?: StoredOver,
) => void;

/** Where questions wait for a person. */
export interface ApprovalBoard {
  /** Puts a question, or asks how the same one stands. Rejects where the board cannot be reached. */
  ask(posed: Posed): Promise<Outcome>;
  /** Takes a question of one's own back. */
  takeBack(from: string, id: string): Promise<void>;
  /**
   * Counts once, over all servers.
   *
   * @param revision of the question that the person has seen
   */
  answer(
    key: string,
    revision: number,
    approval: Approval & { readonly by: string },
  ): Promise<Counted>;
  list(): readonly OpenQuestion[];
  /** @returns ends it */
  listen(listener: BoardListener): () => void;
  /** Whoever waits here is told to ask another server. */
  close(): Promise<void>;
}
