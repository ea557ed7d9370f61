import { errorCode } from './errorMessage.js';

/** For `catch` of a promise: nothing where a file is missing. @throws the error, where it is another one */
export function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}

/** What `work` returns; `undefined` where a file that it needs is missing. */
export function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    return ignoreMissing(error);
  }
}
