import type { ApprovalRequest } from '../protocol/approval.js';

/**
 * How a question to a person travels: its JSON, with lengths in place of clock times. A server that is alive answers
 * within the wait that the asker names, with 202 while nobody has said anything; then the same question is put again.
 * So a server that is lost is noticed, and no proxy takes the silence of a person for a fault.
 */
export type AskedPerson = Omit<ApprovalRequest, 'expiresAt'> & {
  /** Ms that a person has, from now. */
  readonly expiresInMs: number;
  /** Ms until whoever asks wants to hear that it is still open. */
  readonly waitMs: number;
  /**
   * Once somebody has answered, a server says no more than that it is to be asked again, and gives the answer then: so
   * people are told that it counts only where whoever asks is there to get it.
   */
  readonly asksAgain?: boolean;
};

/** In place of a question: the one with this id is not wanted any more. */
export interface TakeBack {
  readonly takeBack: string;
}

/** Over HTTP. */
export const APPROVALS_PATH = '/v1/approvals';

/** In bytes of JSON: more cannot be stored, and nobody could read it. */
export const MAX_QUESTION_BYTES = 256 * 1024;

/** Nobody has said anything yet. */
export const STILL_OPEN = 202;

/** What a question that nobody answered gets. */
export const NOBODY_ANSWERED = 'nobody has answered in time';

/** A replacer for `JSON.stringify`, which would write NaN and Infinity as `null`. */
export function nameNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
