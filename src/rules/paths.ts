import { existsSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHome } from '../util/homeDirectory.js';
import { orUndefined, realPathOf } from '../util/paths.js';
import { isLink, listBelow, listLinked, type Below, type Chosen, type Linked } from './folders.js';
import { ANY_TEXT, escapeGlob, readGlob, type ReadGlob } from './globs.js';

/** The directories that patterns and paths start from. */
export interface Roots {
  readonly project: string;
  readonly realProject: string;
  readonly home: string | undefined;
}

/** A file that a call may read or write, as it names it. */
export interface NamedFile extends Chosen {
  readonly path: string;
  /** What is shown to people; default the path. */
  readonly shown?: string;
  /** Absolute path that it starts from; `undefined` where only the shell knows. */
  readonly directory: string | undefined;
  /** Whether it mostly is there, as what a tool is to read. */
  readonly isThere?: boolean;
  /** Whether the path is a glob. */
  readonly isGlob?: boolean;
  /** Whether nothing but names is told of them, and no content. */
  readonly isNames?: boolean;
  /** Whether all files below it are meant, where it is a directory. */
  readonly isBelow?: boolean;
  /** Why this is not certain, the end of "It cannot be told, as …". */
  readonly doubt?: string;
}

let last: Pick<Roots, 'project' | 'realProject'> | undefined;

export function rootsOf(project: string): Roots {
  // A project stays where it is.
  if (last?.project !== project) last = { project, realProject: realPathOfAny(project) };
  return new RootsOfCall(project, last.realProject);
}

class RootsOfCall implements Roots {
  constructor(
    readonly project: string,
    readonly realProject: string,
  ) {}

  /** The environment is read from the system each time, and few patterns ask. */
  get home(): string | undefined {
    return findHome();
  }
}

/** A file in all the forms that patterns are compared with, each found out once. */
export class Place {
  /** Absolute, `..` removed by the text alone. */
  readonly lexical: string;
  /** Whether it is not one path. */
  readonly isGlob: boolean;
  #forms: string | undefined;
  readonly #unresolved: string;
  #real: string | undefined;
  #isCaseless: boolean | undefined;
  #globs: readonly ReadGlob[] | undefined;
  #below: Below<Place> | undefined;
  #linked: Linked<Place> | undefined;

  constructor(
    readonly file: NamedFile,
    readonly roots: Roots,
  ) {
    const path = expandHome(file.path, roots);
    const from = file.directory ?? `/${ANY_TEXT}`;
    this.#unresolved = isAbsolute(path) ? path : `${from}/${path}`;
    this.lexical = file.isGlob ? posix.normalize(this.#unresolved) : resolve(this.#unresolved);
    this.isGlob = file.isGlob === true || this.lexical.includes(ANY_TEXT);
  }

  /** Without links; of what is not there, that of the nearest directory that is. */
  get real(): string {
    return (this.#real ??= realPathOfAny(this.#unresolved, this.file.isThere));
  }

  /** Whether one of its forms may hold a text in lower case: a cheap look before all others. */
  mayHold(text: string): boolean {
    const { lexical, real } = this;
    this.#forms ??= (real === lexical ? real : `${lexical}\n${real}`).toLowerCase();
    return this.#forms.includes(text);
  }

  get isCaseless(): boolean {
    return (this.#isCaseless ??= isCaselessAt(dirname(this.real)));
  }

  get globs(): readonly ReadGlob[] {
    if (this.#globs) return this.#globs;
    const { fixed, rest } = splitGlob(this.lexical);
    const real = fixed.includes(ANY_TEXT) ? fixed : realPathOfAny(fixed);
    const forms = real === fixed ? [this.lexical] : [this.lexical, join(escapeGlob(real), rest)];
    return (this.#globs = forms.map((form) => readGlob(form, { dot: false })));
  }

  /** The directory in which a glob starts. */
  get start(): Place {
    const { fixed } = splitGlob(this.lexical);
    return new Place({ path: fixed, directory: '/' }, this.roots);
  }

  /** Of the files that a glob means now, those behind a link, of which its text tells nothing. */
  get linked(): Linked<Place> {
    if (this.#linked) return this.#linked;
    const { fixed, rest } = splitGlob(this.lexical);
    return (this.#linked = this.#withPlaces(listLinked(fixed, rest)));
  }

  /** The files in a directory, and in those in it. */
  get below(): Below<Place> {
    const start = this.isGlob ? splitGlob(this.lexical).fixed : this.real;
    return (this.#below ??= this.#withPlaces(listBelow(start, this.file)));
  }

  #withPlaces<L extends { readonly files: readonly string[] }>(list: L) {
    const { roots } = this;
    return { ...list, files: list.files.map((path) => new Place({ path, directory: '/' }, roots)) };
  }
}

/** What is before the first name with a wildcard, and all from there on. */
function splitGlob(glob: string): { readonly fixed: string; readonly rest: string } {
  const wild = glob.search(/[*?[\0]|(?<=[@!+])\(/);
  const at = wild < 0 ? glob.length : glob.lastIndexOf('/', wild);
  return { fixed: glob.slice(0, at).replaceAll(/\\(.)/g, '$1') || '/', rest: glob.slice(at) };
}

/** The beginnings of a path that stand for a home directory, and what is said of a file in a URL. */
function expandHome(path: string, roots: Roots): string {
  if (path.startsWith('file:')) return orUndefined(() => fileURLToPath(path)) ?? path;
  const home = path.startsWith('~') ? roots.home : undefined;
  if (home === undefined) return path;
  const [, user = '', rest = ''] = /^~([^/]*)([^]*)$/.exec(path) ?? [];
  if (user === '' || user === basename(home)) return home + rest;
  if (user === 'root') return `/root${rest}`;
  return /^[\w.-]+$/.test(user) ? join(dirname(home), user) + rest : path;
}

/** Characters. */
const MAX_PATH = 4096;
/** Links that lead to nothing, one after the other. */
const MAX_LINKS = 40;

/**
 * `..` is followed as the system does it, after links. What is not there is no error, as errors take their time.
 *
 * @param isThere whether it mostly is, so that a look before would take longer
 */
function realPathOfAny(given: string, isThere = false, links = 0): string {
  // No system takes a longer one; programs may shorten it first.
  const path = given.length > MAX_PATH ? resolve(given) : given;
  if (path.length > MAX_PATH) return path;
  const real = isThere || existsSync(path) ? realPathOf(path) : undefined;
  if (real !== undefined || path === '/' || links > MAX_LINKS) return real ?? path;
  const trimmed = path.replace(/\/+(?:\.\/*)*$/, '') || '/';
  const parent = realPathOfAny(dirname(trimmed), false, links);
  const name = basename(trimmed);
  if (name === '..') return dirname(parent);
  const target = isLink(trimmed) ? orUndefined(() => readlinkSync(trimmed)) : undefined;
  return target === undefined
    ? join(parent, name === '.' ? '' : name)
    : realPathOfAny(resolve(parent, target), false, links + 1);
}

const MAX_KNOWN = 1000;
const caseless = new Map<string, boolean>();

/** Whether upper and lower case are one in a directory, or in the nearest one above it that is there. */
function isCaselessAt(directory: string): boolean {
  if (directory.length > MAX_PATH) return isCaselessAt('/');
  const known = caseless.get(directory);
  if (known !== undefined) return known;
  if (caseless.size > MAX_KNOWN) caseless.clear();
  const name = basename(directory);
  const other = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase();
  const inode = inodeOf(directory);
  const isKnown = other !== name && inode !== undefined;
  const is = isKnown
    ? inodeOf(join(dirname(directory), other)) === inode
    : directory === dirname(directory)
      ? process.platform === 'darwin' || process.platform === 'win32'
      : isCaselessAt(dirname(directory));
  caseless.set(directory, is);
  return is;
}

function inodeOf(path: string): string | undefined {
  const stats = orUndefined(() => statSync(path, { throwIfNoEntry: false }));
  return stats && `${stats.dev}:${stats.ino}`;
}
