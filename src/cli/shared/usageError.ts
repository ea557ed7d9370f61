/** The command line, or a file that it names, is not usable. The message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
