import { posix } from 'node:path';
import picomatch from 'picomatch';
import { statsOf } from '../util/paths.js';
import { ANY_TEXT, escapeGlob, globsMeet, readGlob, type ReadGlob } from './globs.js';
import { runWithinLimit } from '../util/limitedRegExp.js';
import type { Place, Roots } from './paths.js';

/** What a pattern says of a file. */
export interface PathMatch {
  /** The file, where it is one in the directory that was named. */
  readonly file?: Place;
  readonly doubt?: string;
}

const SURE: PathMatch = {};
const MAYBE_GLOB = 'the shell puts names of files in the place of wildcards';
const MAYBE_THERE = 'only the shell knows in which directory it runs';

const MANY_FILES: PathMatch = { doubt: 'there are too many files below it to look at' };

const MAX_WILDCARDS = 2;

/** A pattern of files, as in .gitignore, read once; and once for each project. */
export class PathPattern {
  readonly #text: string;
  /** Whether all in a directory was asked for. */
  readonly #isDirectory: boolean;
  /** What a path must hold in any case, in lower case; empty where that is not known. */
  readonly #needle: string;
  /** Whether it has so many wildcards that an expression may take long. */
  readonly #isLong: boolean;
  #isDirectoryThere: boolean | undefined;
  #project: string | undefined;
  #home: string | undefined;
  #tests: { readonly exact: readonly RegExp[]; readonly caseless: readonly RegExp[] } | undefined;
  #globs: readonly ReadGlob[] = [];
  #namedGlobs: readonly ReadGlob[] = [];

  constructor(text: string) {
    this.#isDirectory = /\/(?:\*\*)?$/.test(text);
    const trimmed = text.replace(/(?<=[^/])\/(?:\*\*\/?)?$/, '');
    this.#text = trimmed === '' ? '/' : trimmed;
    this.#needle = needleOf(this.#text);
    this.#isLong = (this.#text.match(/\*+/g) ?? []).length > MAX_WILDCARDS;
  }

  /**
   * Whether a call that names this file may mean one of the pattern.
   *
   * @param skips whether a file in a directory does not count
   */
  find(place: Place, skips: (file: Place) => boolean = () => false): PathMatch | undefined {
    const found = place.isGlob ? this.#findGlob(place) : this.#hasEither(place) && SURE;
    if (found) return found;
    return place.file.isBelow ? this.#findBelow(place, skips) : undefined;
  }

  /** Whether a call that names this file surely means one of the pattern, wherever links lead. */
  holds(place: Place): boolean {
    if (place.isGlob)
      return (
        this.#isDirectory &&
        !/(?:^|\/)\.\.(?:\/|$)/.test(place.file.path) &&
        this.holds(place.start) &&
        !place.linked.isCut &&
        place.linked.files.every((each) => this.holds(each))
      );
    return this.#has(place.lexical, place, false) && this.#has(place.real, place, false);
  }

  #hasEither(place: Place): boolean {
    if (!place.mayHold(this.#needle)) return false;
    return this.#has(place.lexical, place, true) || this.#has(place.real, place, true);
  }

  /** @param otherwise what counts where that takes too long to find out */
  #has(path: string, place: Place, otherwise: boolean): boolean {
    const { exact, caseless } = this.#testsFor(place.roots);
    const tests = place.isCaseless ? caseless : exact;
    const run = () => tests.some((test) => test.test(path));
    if (!this.#isLong) return run();
    try {
      return runWithinLimit(run);
    } catch {
      return otherwise;
    }
  }

  #findGlob(place: Place): PathMatch | undefined {
    if (place.file.isNames && this.#isPassedOver(place)) return undefined;
    this.#testsFor(place.roots);
    const wanted = this.#meansAllIn(place) ? this.#globs : this.#namedGlobs;
    const isMet =
      place.globs.some((glob) => wanted.some((each) => globsMeet(each, glob))) ||
      place.linked.files.some((each) => this.#hasEither(each));
    const { doubt = place.file.isGlob ? MAYBE_GLOB : MAYBE_THERE } = place.file;
    if (isMet) return { doubt };
    return place.linked.isCut ? MANY_FILES : undefined;
  }

  /** Whether a list of names by their endings, such as `*.json`, does not ask for what the pattern names. */
  #isPassedOver({ lexical }: Place): boolean {
    const isByEnding = /\/\*[^/]*\/?$/.test(lexical);
    const isOfHome = this.#text.startsWith('~');
    const isNamed = isOfHome || lexical.toLowerCase().includes(this.#needle);
    return isByEnding && !isNamed && !this.#isDirectory;
  }

  /**
   * Whether what lies in a directory that matches may be meant as well. Any file could be in one, so that the pattern has to
   * be one of a directory; and for a path of which the shell alone knows the directory, surely so.
   */
  #meansAllIn(place: Place): boolean {
    if (this.#isDirectory) return true;
    if (!place.lexical.includes(ANY_TEXT)) {
      // Any directory in src/**/*.ts could be called id_rsa: a name that may be anywhere is one of a file then.
      const isAnywhere = !this.#text.includes('/') && /[*?[]/.test(posix.dirname(place.lexical));
      return !isAnywhere && /(?:^|\/)\.?[^.*?[/]+$/.test(this.#text);
    }
    return (this.#isDirectoryThere ??= this.#isThere(place.roots));
  }

  #isThere(roots: Roots): boolean {
    const [path = '*'] = anchored(this.#text, roots);
    return !/[*?[{]/.test(path) && statsOf(path.replaceAll('\\', ''))?.isDirectory() === true;
  }

  #findBelow(place: Place, skips: (file: Place) => boolean): PathMatch | undefined {
    const { files, text, isCut } = place.below;
    if (text.includes(this.#needle)) {
      const file = files.find((each) => this.#hasEither(each) && !skips(each));
      if (file) return { file };
    }
    return isCut ? MANY_FILES : undefined;
  }

  #testsFor(roots: Roots) {
    const { project, home } = roots;
    if (this.#tests && this.#project === project && this.#home === home) return this.#tests;
    const globs = anchored(this.#text, roots);
    const sources = globs.map((glob) => {
      // The parser has it that a directory comes first, also where the file is at the root of the disk.
      const isAnywhere = glob.startsWith('/**/');
      const { output } = parse(isAnywhere ? glob.slice('/**'.length) : glob, OPTIONS);
      return `^${isAnywhere ? '(?:/.*)?' : ''}(?:${output})(?:/.*)?$`;
    });
    this.#project = project;
    this.#home = home;
    this.#isDirectoryThere = undefined;
    this.#globs = globs.map((glob) => readGlob(glob, { dot: true, below: true }));
    this.#namedGlobs = globs.map((glob) => readGlob(glob, { dot: true }));
    return (this.#tests = {
      exact: sources.map((source) => new RegExp(source, 's')),
      caseless: sources.map((source) => new RegExp(source, 'is')),
    });
  }
}

/** Its types name none of the options of the others, which it takes. */
const parse = picomatch.parse as unknown as (
  glob: string,
  options: picomatch.PicomatchOptions,
) => { readonly output: string };
const OPTIONS = { dot: true, nonegate: true, noext: true, fastpaths: false };

/** The pattern as globs of absolute paths. */
function anchored(text: string, { project, realProject, home }: Roots): readonly string[] {
  if (text.startsWith('//')) return [text.slice(1)];
  if (text === '~' || text.startsWith('~/')) return [escapeGlob(home ?? '/~') + text.slice(1)];
  const isAnywhere = !text.includes('/') || text.startsWith('**/');
  if (isAnywhere) return [text.startsWith('**') ? `/${text}` : `/**/${text}`];
  return [...new Set([project, realProject])].map((root) =>
    posix.normalize(`${escapeGlob(root)}/${text}`).replace(/(?<=.)\/$/, ''),
  );
}

function needleOf(text: string): string {
  if (/[[{(\\]|\.\./.test(text)) return '';
  const runs = text.replaceAll(/(?<=^|\/)\.\//g, '').match(/[\w.-]+/g) ?? [];
  return (runs.toSorted((a, b) => b.length - a.length)[0] ?? '').toLowerCase();
}
