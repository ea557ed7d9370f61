import type { Worker } from 'node:worker_threads';
import thread from './watchdogThread.js?raw';

/** A file to be written. */
export interface LastStop {
  readonly file: string;
  readonly text: string;
}

/** What is said in the place of a process that says nothing any more. */
export interface LastWords {
  readonly out?: string;
  /** One line. */
  readonly err: string;
  /** What is written beside that, where nobody heeds what is said; for this reason. */
  readonly keeps?: (reason: string) => readonly LastStop[];
}

const [NEWS, MS, SPEAKS] = [0, 1, 2];

/**
 * Kills a process whose main thread does not come back, be it from a system call or from code of an extension. No timer
 * could, since timers run in that thread.
 */
export class Watchdog {
  /** The number of the latest news; ms to wait for more; whether there is something to say. */
  readonly #state = new Int32Array(new SharedArrayBuffer(12));
  #worker: Worker | undefined;

  /**
   * @param ms until it kills the process
   * @param delayMs until it begins to watch, which takes a while
   */
  constructor(
    readonly words: LastWords,
    ms: number,
    delayMs = 0,
  ) {
    this.isSilent = false;
    this.expectWithin(Math.max(0, ms));
    const first = Atomics.load(this.#state, NEWS);
    const begin = () => {
      if (Atomics.load(this.#state, NEWS) === first) this.expectWithin(Math.max(0, ms - delayMs));
      this.watch();
    };
    if (delayMs > 0) setTimeout(begin, delayMs).unref();
    else this.watch();
  }

  /** Begins to watch, unless it does. */
  watch(): void {
    if (this.#worker) return;
    const { out = '', err, keeps } = this.words;
    // Mostly, there is no need of it.
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads');
    this.#worker = new Thread(thread, {
      eval: true,
      workerData: { state: this.#state, out, err, kept: keeps?.(err) },
      // What Node is told by options and variables is for the main thread.
      execArgv: [],
      env: {},
    });
    this.#worker.unref();
  }

  /** From now on, it waits so many ms. */
  expectWithin(ms: number): void {
    Atomics.store(this.#state, MS, ms);
    Atomics.add(this.#state, NEWS, 1);
    Atomics.notify(this.#state, NEWS);
  }

  /** Whether there is nothing that its words would have to say. */
  set isSilent(isSilent: boolean) {
    Atomics.store(this.#state, SPEAKS, isSilent ? 0 : 1);
  }

  /** Whether a thread is in a system call, or was when this one last looked. */
  get isInSystemCall(): boolean {
    return process.getActiveResourcesInfo().some((each) => WAITS_FOR_FILE.test(each));
  }

  /**
   * To be called when the process ends: if a thread is in a system call, its end would wait for that.
   *
   * @param before what is to be done before it is killed
   */
  endIfStuck(before: () => void): void {
    if (!this.isInSystemCall) return;
    before();
    this.watch();
    this.expectWithin(0);
    Atomics.wait(this.#state, SPEAKS, Atomics.load(this.#state, SPEAKS));
  }
}

const WAITS_FOR_FILE = /^F(?:SReq|ileHandleCloseReq)/u;
