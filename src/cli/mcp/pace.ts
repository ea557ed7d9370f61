/** When messages are written. All outlets of a proxy keep the same pace. */
export class Pace {
  #due: (() => void)[] = [];

  /** @param countOpen how many requests are on their way: with many, more messages will come at once */
  constructor(private readonly countOpen: () => number = () => 0) {}

  /** Does it at the end of this turn; while busy, once the messages that follow have come as well. */
  soon(write: () => void): void {
    if (this.countOpen() <= FEW_OPEN) {
      process.nextTick(write);
      return;
    }
    this.#due.push(write);
    if (this.#due.length > 1) return;
    setImmediate(() => {
      // Each read and each write wakes a process, which costs more than a message. Those of the others go on meanwhile.
      Atomics.wait(SLEEP, 0, 0, REST_MS);
      setImmediate(() => this.#writeAll());
    });
  }

  #writeAll(): void {
    const due = this.#due;
    this.#due = [];
    for (const write of due) write();
  }
}

/** With so few requests on their way, each message is written at once. */
const FEW_OPEN = 8;
/** Shorter than any timer can be. */
const REST_MS = 0.5;
/** Nobody ever changes it: to wait for that is to sleep. */
const SLEEP = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
