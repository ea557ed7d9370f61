import { startStopwatch } from '../util/stopwatch.js';

/** How much a project may make its review look at. */
interface ReviewLimits {
  /** Bytes of files. */
  readonly bytes: number;
  /** Ms of processor time: a busy machine, or a slow disk, is not the project's fault. */
  readonly time: number;
}

/** More than any project needs, and little enough for a start with a hostile one to take no more than 2 s. */
const REVIEW_LIMITS: ReviewLimits = { bytes: 64 * 1024 * 1024, time: 1000 };

/** A project that wants more to be looked at than the limits allow; the message completes "the project …". */
export class OverBudget extends Error {
  override readonly name = 'OverBudget';
}

const ASKED_EACH = 8;

export class ReviewBudget {
  #looks = 0;
  #bytes = 0;

  /** @param spentMs the processor time since it was made */
  constructor(
    private readonly limits = REVIEW_LIMITS,
    private readonly spentMs = startStopwatch(),
  ) {}

  /** @throws OverBudget */
  look(): void {
    this.#looks += 1;
    // Reading the clock takes as long as one stat, so it is done now and then.
    if (this.#looks % ASKED_EACH === 1 && this.spentMs() > this.limits.time) {
      throw new OverBudget(`takes more than ${this.limits.time} ms to look at`);
    }
  }

  /** @throws OverBudget */
  read(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.limits.bytes) return;
    throw new OverBudget(`names files of more than ${this.limits.bytes} bytes to check`);
  }
}
