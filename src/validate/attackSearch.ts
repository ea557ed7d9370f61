import type { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import type { Diagnostics } from 'recheck';

/** For one expression. */
const SEARCH_LIMIT_MS = 2000;
/** Without the time that a thread takes to begin, which says nothing of an expression. */
const ALL_SEARCHES_LIMIT_MS = 5000;
const BEGINNING_LIMIT_MS = 20_000;

/** The search recurses, and has been seen to exhaust stack and memory, so it has a thread of its own. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.recheck).then(({ check }) => {
    parentPort.on('message', async (expression) => {
      parentPort.postMessage(await check(expression, '', { timeout: workerData.timeout }));
    });
    parentPort.postMessage('ready');
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
  let leftMs = ALL_SEARCHES_LIMIT_MS;
  const attacks = new Map<string, Diagnostics>();
  let thread: Worker | undefined;
  for (const expression of hasRecheck ? new Set(expressions) : []) {
    if (leftMs <= 0) break;
    thread ??= await beginSearching();
    if (!thread) break;
    const startedAt = performance.now();
    thread.postMessage(expression, []);
    // The package keeps the limit itself, except in a deep recursion.
    const found = await answerOf<Diagnostics>(thread, Math.min(leftMs, 1.5 * SEARCH_LIMIT_MS));
    leftMs -= performance.now() - startedAt;
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

/** The next message of a thread; `undefined` where none comes in time. */
async function answerOf<T>(thread: Worker, limitMs: number): Promise<T | undefined> {
  try {
    const answers = await once(thread, 'message', {
      signal: AbortSignal.timeout(Math.ceil(limitMs)),
    });
    return answers[0] as T;
  } catch {
    return undefined;
  }
}

/** A thread that has loaded the package; `undefined` where it cannot be loaded. */
async function beginSearching(): Promise<Worker | undefined> {
  const thread = startThread();
  if (await answerOf(thread, BEGINNING_LIMIT_MS)) return thread;
  await thread.terminate();
  return undefined;
}

function startThread(): Worker {
  const { Worker: Thread } = process.getBuiltinModule('node:worker_threads');
  const thread = new Thread(THREAD, {
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
