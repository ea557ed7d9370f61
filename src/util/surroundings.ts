import { AsyncLocalStorage } from 'node:async_hooks';
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/** What a process has from whoever started it. */
export interface Surroundings {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Takes what is said on stderr. Default: as before. */
  readonly say?: ((text: string) => void) | undefined;
}

const others = new AsyncLocalStorage<Surroundings>();

/** Does some work for another process, with its environment, and its stderr. */
export function within<T>(surroundings: Surroundings, work: () => T): T {
  return others.run({ say: others.getStore()?.say, ...surroundings }, work);
}

/** The environment of whoever asked for what is being done: of this process, unless it works for another one. */
export function hostEnvironment(): Readonly<NodeJS.ProcessEnv> {
  return others.getStore()?.env ?? process.env;
}

/** Writes to the stderr of whoever asked for what is being done. */
export function writeError(text: string): void {
  const say = others.getStore()?.say;
  if (say) say(text);
  else process.stderr.write(text);
}

/** HOME, unless that is empty, or relative and so in whatever project is open; then what the system knows, if anything. */
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
