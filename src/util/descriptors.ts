import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { errorCode } from './errorMessage.js';
import { every, retry } from './retry.js';

/**
 * Descriptors that must be free before a start. Three pipes and the channel on which a failed `exec` is
 * reported take eight; past that Node emits an error that nobody can catch.
 */
const DESCRIPTOR_HEADROOM = 10;

/**
 * Makes sure that a child can be started without running out of file descriptors half-way.
 *
 * @throws the system's error (EMFILE or ENFILE) when there are too few
 */
export function assertDescriptorHeadroom(): void {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < DESCRIPTOR_HEADROOM) descriptors.push(openSync(devNull, 'r'));
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** How long to wait for others to close their files, in ms. */
const SHORTAGE_LIMIT_MS = 1000;
const SHORTAGE_PAUSE_MS = 20;

/** Does what needs a descriptor; while there is none, again and again for a second. */
export async function waitForDescriptors<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + SHORTAGE_LIMIT_MS;
  const onFailure = (error: unknown) => {
    if (!isShortage(error) || performance.now() >= deadline) throw error;
  };
  return retry(work, { pauses: every(SHORTAGE_PAUSE_MS), onFailure });
}

/** Whether an error says that there are no descriptors left. */
export function isShortage(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'EMFILE' || code === 'ENFILE';
}

/**
 * Loads a module at the first call. Only while there are descriptors for it, since Node keeps a load that failed for
 * the rest of the process; so the next call tries again.
 *
 * @returns what loads it; rejects with the system's error (EMFILE or ENFILE) when there are too few descriptors
 */
export function onDemand<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return async () => {
    if (!loading) {
      assertDescriptorHeadroom();
      loading = load();
      loading.catch(() => (loading = undefined));
    }
    return loading;
  };
}
