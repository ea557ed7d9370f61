import type { LateAnswer } from '../protocol/lateAnswer.js';
import { textsOf } from '../protocol/llmContent.js';
import { isOfSession, isReadBy, type AsyncSession } from './asyncSession.js';

/** Characters that are kept for all sessions together; then the oldest are forgotten. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

interface Kept {
  readonly session: AsyncSession;
  readonly answer: LateAnswer;
}

/** What is kept until the model of its session reads it, once. */
export class LateAnswers {
  #kept: Kept[] = [];
  #size = 0;

  add(session: AsyncSession, answer: LateAnswer): void {
    this.#kept.push({ session, answer });
    this.#size += sizeOf(answer);
    while (this.#size > MAX_CHARACTERS) {
      const [oldest] = this.#kept.splice(0, 1);
      this.#size = oldest ? this.#size - sizeOf(oldest.answer) : 0;
    }
  }

  /** Nobody has read them after all. */
  giveBack(session: AsyncSession, answers: readonly LateAnswer[]): void {
    this.#kept.unshift(...answers.map((answer) => ({ session, answer })));
    for (const answer of answers) this.#size += sizeOf(answer);
  }

  /** Whether one of them is a reason to go on working. */
  wakes(session: AsyncSession): boolean {
    return this.#kept.some((each) => each.answer.wakes && isReadBy(each.session, session));
  }

  has(session: AsyncSession): boolean {
    return this.#kept.some((each) => isReadBy(each.session, session));
  }

  /** What has not been taken yet, in the order in which it came. */
  take(session: AsyncSession): readonly LateAnswer[] {
    return this.#kept.length === 0 ? [] : this.#remove((each) => isReadBy(each, session));
  }

  /** Forgets what nobody will read any more. */
  forget(session: AsyncSession): void {
    this.#remove((each) => isOfSession(each, session));
  }

  #remove(isMeant: (session: AsyncSession) => boolean): LateAnswer[] {
    const removed = this.#kept.filter(({ session }) => isMeant(session));
    if (removed.length > 0) this.#kept = this.#kept.filter(({ session }) => !isMeant(session));
    for (const { answer } of removed) this.#size -= sizeOf(answer);
    return removed.map(({ answer }) => answer);
  }
}

function sizeOf(answer: LateAnswer): number {
  return textsOf(answer).reduce((sum, { length }) => sum + length, 0);
}
