import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import picomatch from 'picomatch';
import { linkStatsOf, orUndefined } from '../util/paths.js';
import { ANY_TEXT } from './globs.js';

/** Which files of a directory are meant. */
export interface Chosen {
  /** Whether hidden ones are left out. */
  readonly skipsHidden?: boolean;
  /** Globs of names: only those that match, and those that match not. */
  readonly only?: readonly string[];
  readonly except?: readonly string[];
}

/** Files behind links. */
export interface Linked<File = string> {
  readonly files: readonly File[];
  /** Whether there are more than are looked at. */
  readonly isCut: boolean;
}

interface Reached {
  readonly path: string;
  readonly isLinked: boolean;
}

/** The files that a glob means now and that a link leads to. */
export function listLinked(fixed: string, rest: string): Linked {
  if (fixed.includes(ANY_TEXT) || rest.includes(ANY_TEXT)) return { files: [], isCut: false };
  let reached: readonly Reached[] = [{ path: fixed, isLinked: false }];
  let left = MAX_BELOW;
  for (const name of rest.split('/').filter(Boolean)) {
    const is = picomatch(name);
    const isWild = /[*?[(]/.test(name);
    const found = reached.flatMap((from): readonly Reached[] => {
      const named = join(from.path, name.replaceAll(/\\(.)/g, '$1'));
      if (!isWild) return [{ path: named, isLinked: from.isLinked || isLink(named) }];
      const entries = left > 0 ? entriesOf(from.path) : [];
      left -= entries.length;
      const inside = entries
        .filter((entry) => is(entry.name))
        .map((entry) => ({
          path: join(from.path, entry.name),
          isLinked: from.isLinked || entry.isSymbolicLink(),
        }));
      return name === '**' ? [from, ...inside] : inside;
    });
    reached = found;
  }
  const files = reached.filter(({ isLinked }) => isLinked);
  return {
    files: files.map(({ path }) => path),
    isCut: left <= 0,
  };
}

/** Whether a path is a link itself. */
export function isLink(path: string): boolean {
  return linkStatsOf(path)?.isSymbolicLink() === true;
}

function entriesOf(directory: string) {
  return orUndefined(() => readdirSync(directory, { withFileTypes: true })) ?? [];
}

/** What was found in a directory. */
export interface Below<File = string> {
  readonly files: readonly File[];
  /** All their paths, to look for a text in them at once. */
  readonly text: string;
  /** Whether there are more than are looked at. */
  readonly isCut: boolean;
}

/** At most so many entries of a directory, and of those in it, are looked at for one call. */
const MAX_BELOW = 20_000;
/** Directories with what others wrote, which are not looked into: they may be large. */
const NOT_ENTERED: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** Files in a directory and in those in it. */
export function listBelow(start: string, { skipsHidden, only = [], except = [] }: Chosen): Below {
  const isOnly = only.length > 0 ? picomatch([...only], { dot: true }) : () => true;
  const isExcept = except.length > 0 ? picomatch([...except], { dot: true }) : () => false;
  const files: string[] = [];
  let count = 0;
  const open = [start];
  for (let at = open.shift(); at !== undefined && count < MAX_BELOW; at = open.shift()) {
    for (const entry of entriesOf(at)) {
      const { name } = entry;
      const path = join(at, name);
      count++;
      if ((skipsHidden && name.startsWith('.')) || isExcept(name)) continue;
      const isDirectory = entry.isDirectory();
      if (isDirectory || isOnly(name)) files.push(path);
      if (isDirectory && !NOT_ENTERED.has(name)) open.push(path);
    }
  }
  return {
    files,
    text: files.join('\n').toLowerCase(),
    isCut: count >= MAX_BELOW,
  };
}
