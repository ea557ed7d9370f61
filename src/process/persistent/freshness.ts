import path from 'node:path';
import { readWords } from '../../shell/shellWords.js';
import { stampOf, statsOf } from '../../util/paths.js';
import type { StartOptions } from '../command/execution.js';

/** At most this many files of a command are looked at before each event. */
const MAX_FILES = 16;

/** Ms after which a look is an old one, also for events that have come before it. */
const OLD_MS = 10;

/**
 * The files that a command names by a path from its directory, from / or from ~: of its words, and what stands behind a
 * `=` in them, those that are regular files. A program that is looked up on the PATH is none of them, and neither is what
 * a script loads.
 *
 * @returns absolute paths
 */
export function findNamedFiles({ command, args, cwd, env, extraEnv }: StartOptions): string[] {
  const words = args ? [command, ...args] : readWords(command, { ...env, ...extraEnv });
  const candidates = words.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]);
  const paths = new Set(candidates.map((word) => path.resolve(cwd, word)));
  return [...paths].filter((file) => fileStamp(file) !== '').slice(0, MAX_FILES);
}

/** Tells whether the files that a command names, or its directory, are others than before. */
export class Freshness {
  readonly #cwd: string;
  readonly #files: readonly string[];
  #stamps: string;
  #isKnown = false;
  #lookedAt = -Infinity;

  constructor(options: StartOptions) {
    this.#cwd = options.cwd;
    this.#files = findNamedFiles(options);
    this.#stamps = this.#read();
  }

  /** Whether somebody has looked in this very turn of the event loop, so that looking again tells nothing. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /**
   * Whether anything has changed since it was last looked at. Events that wait in a line share a look.
   *
   * @param since when the event came, on the clock of `performance.now()`: what has changed before is always seen
   */
  hasChanged(since = Infinity): boolean {
    const now = performance.now();
    const isRecent = this.#lookedAt > since && now - this.#lookedAt < OLD_MS;
    if (this.#isKnown || isRecent) return false;
    this.#lookedAt = now;
    this.#isKnown = true;
    queueMicrotask(() => (this.#isKnown = false));
    const before = this.#stamps;
    this.#stamps = this.#read();
    return this.#stamps !== before;
  }

  #read(): string {
    const { dev, ino } = statsOf(this.#cwd) ?? {};
    let stamps = `${dev}:${ino}`;
    for (const file of this.#files) stamps += ` ${fileStamp(file)}`;
    return stamps;
  }
}

/** Empty for anything but a regular file. */
function fileStamp(file: string): string {
  const stats = statsOf(file);
  return stats?.isFile() ? stampOf(stats) : '';
}
