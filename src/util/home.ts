import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * The home directory of the user: what HOME says, unless that is empty or relative, and so a folder of whatever project
 * is open; then what the system says. `undefined` where there is none.
 */
export function findHome(): string | undefined {
  for (const ask of [homedir, () => userInfo().homedir]) {
    try {
      const home = ask();
      if (isAbsolute(home)) return home;
    } catch {
      // The system does not know the user.
    }
  }
  return undefined;
}

/** @throws Error where the user has no home directory */
export function requireHome(): string {
  const home = findHome();
  if (home === undefined) throw new Error('there is no home directory: set HOME');
  return home;
}
