import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { orUndefined } from './paths.js';
import { hostEnvironment } from './requester.js';

/** HOME, unless that is empty, or relative and so in whatever project is open; then what the system knows, if anything. */
export function findHome(): string | undefined {
  for (const ask of [() => hostEnvironment()['HOME'] ?? '', homedir, () => userInfo().homedir]) {
    // The system may not know the user.
    const home = orUndefined(ask);
    if (home !== undefined && isAbsolute(home)) return home;
  }
  return undefined;
}

/** @throws Error where the user has no home directory */
export function requireHome(): string {
  const home = findHome();
  if (home === undefined) throw new Error('there is no home directory: set HOME');
  return home;
}
