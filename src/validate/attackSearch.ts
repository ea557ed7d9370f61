import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Diagnostics } from 'recheck';

/** How long the search for an input that takes for ever may go on for one expression, in ms. */
const SEARCH_LIMIT_MS = 2000;

/** And for all that are asked for at once. */
const ALL_SEARCHES_LIMIT_MS = 5000;

/** The search recurses, and has been seen to exhaust stack and memory: a thread of its own may end of it. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { check } = require(workerData.recheck);
  parentPort.on('message', async (expression) => {
    parentPort.postMessage(await check(expression, '', { timeout: workerData.timeout }));
  });`;

/** Searches for inputs that expressions take for ever on, one expression after the other. */
export class AttackSearch {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #deadline = 0;
  #worker: Worker | undefined;

  /** @returns what was found; `undefined` when it could not be found out. Never rejects */
  find(expression: string): Promise<Diagnostics | undefined> {
    if (this.#waiting === 0) this.#deadline = performance.now() + ALL_SEARCHES_LIMIT_MS;
    this.#waiting += 1;
    const found = this.#last.then(async () => {
      try {
        return await this.#search(expression);
      } finally {
        this.#waiting -= 1;
      }
    });
    this.#last = found;
    return found;
  }

  #search(expression: string): Promise<Diagnostics | undefined> {
    const left = this.#deadline - performance.now();
    if (left <= 0) return Promise.resolve(undefined);
    const worker = (this.#worker ??= startThread());
    return new Promise((resolve) => {
      const give = (found?: Diagnostics) => {
        clearTimeout(timer);
        worker.removeAllListeners('message').removeAllListeners('error');
        worker.unref();
        if (!found) {
          this.#worker = undefined;
          void worker.terminate();
        }
        resolve(found);
      };
      // It keeps its own limit, unless it is lost in a recursion.
      const timer = setTimeout(give, Math.min(left, 1.5 * SEARCH_LIMIT_MS));
      worker.ref();
      worker.on('message', give);
      worker.on('error', () => give());
      worker.postMessage(expression, []);
    });
  }
}

function startThread(): Worker {
  const recheck = createRequire(import.meta.url).resolve('recheck');
  return new Worker(THREAD, {
    eval: true,
    workerData: { recheck, timeout: SEARCH_LIMIT_MS },
    // No further threads, and no programs of another platform.
    env: { RECHECK_BACKEND: 'pure' },
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    stderr: true,
  });
}
