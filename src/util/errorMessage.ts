import { inspect } from 'node:util';

/** The message of a thrown value. It may be any value, also one whose getters throw. */
export function errorMessage(error: unknown): string {
  try {
    if (error instanceof Error) return error.message;
    return typeof error === 'string' ? error : inspect(error);
  } catch {
    return 'an error that cannot be shown';
  }
}

/** The code of the system's or Node's error, such as `ENOENT`; also of errors of another realm. */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
