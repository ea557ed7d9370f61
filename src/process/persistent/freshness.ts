import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { StartOptions } from '../command/execution.js';

/** A word of a shell command, with its quotes: runs of quoted text and of what is no space and no operator. */
const WORD = /(?:'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|[^\s'"\\;|&<>()])+/g;
const QUOTING = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|\$\{?(\w+)\}?/g;

/** A `~/` that a shell expands. */
const HOME = /^(\w+=)?~\//;

/** At most this many files of a command are looked at before each event. */
const MAX_FILES = 16;

/**
 * The files that a command names by a path from its directory, from / or from ~: of its words, and what stands behind a
 * `=` in them, those that are regular files. A program that is looked up on the PATH is none of them, and neither is what
 * a script loads.
 *
 * @returns absolute paths
 */
export function findNamedFiles({ command, args, cwd, env, extraEnv }: StartOptions): string[] {
  const variables = { ...env, ...extraEnv };
  const words = args
    ? [command, ...args]
    : (command.match(WORD) ?? []).map((word) =>
        unquote(word.replace(HOME, '$1$$HOME/'), variables),
      );
  const candidates = words.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]);
  const paths = new Set(candidates.map((word) => path.resolve(cwd, word)));
  return [...paths].filter((file) => stampOf(file) !== '').slice(0, MAX_FILES);
}

function unquote(word: string, variables: Readonly<Record<string, string | undefined>>): string {
  return word.replaceAll(
    QUOTING,
    (_all, single?: string, double?: string, escaped?: string, name?: string) =>
      name === undefined
        ? (single ?? (double === undefined ? escaped : unquote(double, variables)) ?? '')
        : (variables[name] ?? ''),
  );
}

/**
 * What changes whenever one of the files does, without reading it, or when another directory stands in the place of
 * `cwd`. Takes a few µs for each.
 */
export function stampFiles(files: readonly string[], cwd: string): string {
  let stamps = `${placeOf(cwd)} `;
  for (const file of files) stamps += `${stampOf(file)} `;
  return stamps;
}

/** Which directory stands at a path, and whether one does. */
export function placeOf(directory: string): string {
  try {
    const stats = statSync(directory, { throwIfNoEntry: false });
    return stats ? `${stats.dev}:${stats.ino}` : '';
  } catch {
    return '';
  }
}

/** Empty for what is no regular file. */
function stampOf(file: string): string {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!stats?.isFile()) return '';
    return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
  } catch {
    return '';
  }
}

/**
 * The resident memory of a process and of all that it has started and that still hangs on it, in MB. 0 where the system
 * does not say.
 */
export function residentMemory(pid: number): number {
  let kilobytes = 0;
  const family = [pid];
  // Grows while it is walked through; a process that has ended meanwhile has neither memory nor children.
  for (const each of family) {
    const [, resident = 0] = /^VmRSS:\s+(\d+) kB/m.exec(readProcess(`${each}/status`)) ?? [];
    kilobytes += Number(resident);
    family.push(...childrenOf(each));
  }
  return kilobytes / 1024;
}

/** Each thread of a process has its own. */
function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.flatMap((thread) =>
      readProcess(`${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function readProcess(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'latin1');
  } catch {
    return '';
  }
}
