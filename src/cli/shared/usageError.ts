import { errorMessage } from '../../util/errorMessage.js';

/** The command line, or a file that it names, is not usable; the message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** `describe` gets the message of the failure. */
export async function orUsageError<T>(
  work: Promise<T> | (() => T | Promise<T>),
  describe: (detail: string) => string,
): Promise<T> {
  try {
    return await (typeof work === 'function' ? work() : work);
  } catch (cause) {
    throw cause instanceof UsageError
      ? cause
      : new UsageError(describe(errorMessage(cause)), { cause });
  }
}
