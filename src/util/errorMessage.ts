import { inspect } from 'node:util';

/** What a thrown value says. Anything can be thrown, also what has no text. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : inspect(error);
}
