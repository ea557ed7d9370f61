/** One clock for all: a timer for each would cost more than most middleware takes. */
const TICK_MS = 250;

/** Something with a time limit, which counts only while it does not wait for somebody else. */
export abstract class Timed {
  /** False while it waits. */
  protected counting = false;
  #ticks = 0;
  #index = -1;

  /** @param allowedMs the limit; `onTimeUp` is called up to two ticks late */
  constructor(private readonly allowedMs: number) {}

  get isCounting(): boolean {
    return this.counting;
  }

  protected startClock(): void {
    this.counting = true;
    this.#index = running.push(this) - 1;
    clock ??= windUp();
  }

  /** Idempotent. */
  protected stopClock(): void {
    if (this.#index < 0) return;
    const last = running.pop();
    if (last && last !== this) {
      running[this.#index] = last;
      last.#index = this.#index;
    }
    this.#index = -1;
    if (running.length > 0 || !isHolding) return;
    isHolding = false;
    clock?.unref();
  }

  protected abstract onTimeUp(): void;

  /** A late tick, because the host was busy, counts as one. */
  tick(): void {
    if (!this.counting) return;
    // The first tick may come right after the start, so it does not count.
    if (this.#ticks * TICK_MS >= this.allowedMs) {
      this.stopClock();
      this.onTimeUp();
    } else this.#ticks += 1;
  }
}

// An array, as a Set leaves garbage behind at every call.
const running: Timed[] = [];
let clock: NodeJS.Timeout | undefined;
let isHolding = false;

function windUp(): NodeJS.Timeout {
  process.on('beforeExit', holdHost);
  return setInterval(tick, TICK_MS).unref();
}

/**
 * Keeps a host that has nothing else to do alive until each middleware that still runs has settled or reached its limit:
 * so one that never settles is reported.
 */
function holdHost(): void {
  if (!running.some((each) => each.isCounting)) return;
  isHolding = true;
  clock?.ref();
}

function tick(): void {
  if (running.length === 0) {
    clearInterval(clock);
    clock = undefined;
    process.off('beforeExit', holdHost);
  }
  for (const each of running.toReversed()) each.tick();
}
