/** When messages are written. All outlets of a proxy keep the same pace. */
export class Pace {
  #due: (() => void)[] = [];

  /** @param isBusy whether many messages are on their way, so that more will come at once */
  constructor(private readonly isBusy: () => boolean = () => false) {}

  /** Does it at the end of this turn; while busy, once the messages that follow have come as well. */
  soon(write: () => void): void {
    if (!this.isBusy()) {
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

/** Shorter than any timer can be. */
const REST_MS = 0.5;
/** Nobody ever changes it: to wait for that is to sleep. */
const SLEEP = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
