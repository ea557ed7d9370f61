import { errorMessage } from '../../util/errorMessage.js';

/** The command line, or a file that it names, is not usable. The message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Makes the failure of some work a `UsageError`. `describe` gets what the failure says. */
export async function orUsageError<T>(
  work: Promise<T>,
  describe: (detail: string) => string,
): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw cause instanceof UsageError
      ? cause
      : new UsageError(describe(errorMessage(cause)), { cause });
  }
}
