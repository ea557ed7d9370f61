/** What a policy server says: the status that HTTP would have, and the JSON. */
export interface FleetAnswer {
  readonly status: number;
  readonly text: string;
}

/** Why a question has no answer, in words that complete "The hook …". */
export class QuestionFailed extends Error {
  override readonly name = 'QuestionFailed';

  /** @param isUnasked whether nobody can have answered, so that it may be asked again */
  constructor(
    message: string,
    readonly isUnasked: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** There was no answer in time. */
export class QuestionLate extends QuestionFailed {}

/** A question until it is answered, cancelled, or nobody waits any more. The first of these counts. */
export class Waiting {
  readonly answer: Promise<FleetAnswer>;
  /** Whether the question may have reached somebody. */
  isSent = false;
  readonly #deadline: number;
  readonly #over: (() => void)[] = [];
  #isOver = false;
  #resolve!: (answer: FleetAnswer) => void;
  #reject!: (error: Error) => void;

  /** @param timeoutMs from now on */
  constructor(timeoutMs: number, signal?: AbortSignal) {
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#deadline = performance.now() + timeoutMs;
    const late = () =>
      this.fail(new QuestionLate(`got no answer within ${Math.round(timeoutMs)} ms`, !this.isSent));
    const timer = setTimeout(late, timeoutMs);
    const cancel = () =>
      this.fail(new QuestionFailed('was cancelled before it had an answer', !this.isSent));
    signal?.addEventListener('abort', cancel);
    this.onOver(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    });
    if (signal?.aborted) cancel();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ms until nobody waits any more. */
  get leftMs(): number {
    return Math.max(0, this.#deadline - performance.now());
  }

  /** Calls `callback` when it is over; at once where it is already. */
  onOver(callback: () => void): void {
    if (this.#isOver) callback();
    else this.#over.push(callback);
  }

  settle(answer: FleetAnswer): void {
    this.#end();
    this.#resolve(answer);
  }

  fail(error: Error): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    this.#isOver = true;
    for (const callback of this.#over.splice(0)) callback();
  }
}
