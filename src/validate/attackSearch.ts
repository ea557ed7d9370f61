import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Diagnostics } from 'recheck';

/** For one expression. */
const SEARCH_LIMIT_MS = 2000;
const ALL_SEARCHES_LIMIT_MS = 5000;

/** The search recurses, and has been seen to exhaust stack and memory, so it has a thread of its own. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const searching = import(workerData.recheck);
  parentPort.on('message', async (expression) => {
    const { check } = await searching;
    parentPort.postMessage(await check(expression, '', { timeout: workerData.timeout }));
  });`;

const recheck = findRecheck();

export const hasRecheck = recheck !== undefined;

/**
 * Searches for inputs on which expressions take for ever, one expression after the other.
 *
 * @returns what was found, by expression, without those for which the search did not end in time
 */
export async function findAttacks(
  expressions: Iterable<string>,
): Promise<ReadonlyMap<string, Diagnostics>> {
  const deadline = performance.now() + ALL_SEARCHES_LIMIT_MS;
  const attacks = new Map<string, Diagnostics>();
  let thread: Worker | undefined;
  for (const expression of hasRecheck ? new Set(expressions) : []) {
    const left = deadline - performance.now();
    if (left <= 0) break;
    thread ??= startThread();
    // The package keeps the limit itself, except in a deep recursion.
    const found = await search(thread, expression, Math.min(left, 1.5 * SEARCH_LIMIT_MS));
    if (found) attacks.set(expression, found);
    else {
      await thread.terminate();
      thread = undefined;
    }
  }
  await thread?.terminate();
  return attacks;
}

function findRecheck(): string | undefined {
  try {
    return import.meta.resolve('recheck');
  } catch {
    return undefined;
  }
}

async function search(
  thread: Worker,
  expression: string,
  limitMs: number,
): Promise<Diagnostics | undefined> {
  try {
    thread.postMessage(expression, []);
    const answers = await once(thread, 'message', { signal: AbortSignal.timeout(limitMs) });
    return answers[0] as Diagnostics;
  } catch {
    return undefined;
  }
}

function startThread(): Worker {
  const thread = new Worker(THREAD, {
    eval: true,
    workerData: { recheck, timeout: SEARCH_LIMIT_MS },
    // No further threads, and no programs of another platform.
    env: { RECHECK_BACKEND: 'pure' },
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    stderr: true,
  });
  // Who waits for the answer gets the error, too.
  return thread.on('error', () => undefined);
}
