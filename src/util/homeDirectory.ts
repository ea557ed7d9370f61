import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { orUndefined } from './paths.js';
import { hostEnvironment } from './requester.js';

/** HOME, unless that is empty, or relative and so in whatever project is open; then what the system knows, if anything. */
export function findHome(): string | undefined {
  const named = hostEnvironment()['HOME'];
  if (isHome(named)) return named;
  // The system may not know the user.
  return [homedir, () => userInfo().homedir].map(orUndefined).find(isHome);
}

function isHome(path: string | undefined): path is string {
  return path !== undefined && isAbsolute(path);
}

/** @throws Error where the user has no home directory */
export function requireHome(): string {
  const home = findHome();
  if (home === undefined) throw new Error('there is no home directory: set HOME');
  return home;
}
