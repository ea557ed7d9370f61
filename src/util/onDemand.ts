import { assertDescriptorHeadroom } from './descriptors.js';

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
