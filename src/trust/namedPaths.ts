import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import type { CommandFolders } from '../shell/readCommand.js';
import { isInside, realPathOf, statsOf } from '../util/paths.js';
import { leadsThroughSystem, linkStatsOf, shownPath } from './fileSystem.js';
import type { ReviewBudget } from './reviewBudget.js';

/** Where a command runs; folders are absolute real paths. */
export interface CommandPlace extends CommandFolders {
  /** The search path of its environment. */
  readonly searchPath: string;
  readonly budget: ReviewBudget;
}

/** Why a command is open. */
export class Open extends Error {}

/** Bytes: a longer word is the name of no file. */
const MAX_PATH = 4096;

/** The paths that the words of a command name, as far as they are in the project. Any that may leave it makes it open. */
export class NamedPaths {
  /** Absolute paths of files that are read. */
  readonly files = new Set<string>();
  readonly folders = new Set<string>();
  /** Absolute paths that lead elsewhere once they are links. */
  readonly watched = new Set<string>();
  readonly #outputs: string[] = [];

  constructor(private readonly place: CommandPlace) {}

  /** Refuses to write beside the files that are read or started. */
  checkOutputs(started: readonly string[]): void {
    const files = [...started, ...this.files];
    const output = this.#outputs.find((path) => files.some((file) => isBeside(path, file)));
    if (output !== undefined) throw new Open(`writes ${this.show(output)}, beside what it starts`);
  }

  /** A program that is named by its path counts as the machine's where its folder is on the search path. */
  isOfMachine(word: string): boolean {
    if (!word.includes('/')) return true;
    return this.place.searchPath.split(delimiter).includes(dirname(word));
  }

  /** The path of a program of the project; `undefined` for one of the machine. */
  locate(word: string): string | undefined {
    if (word.includes('/')) return this.inProject(word);
    const found = this.place.searchPath
      .split(delimiter)
      .filter((entry) => isAbsolute(entry))
      .map((entry) => join(entry, word))
      .find((path) => statsOf(path)?.isFile());
    return found === undefined ? undefined : this.inProject(found);
  }

  /** The absolute path of a word that leads into the project. `undefined` for one that is outside. */
  inProject(word: string): string | undefined {
    const path = this.#at(word);
    if (leadsThroughSystem(path)) throw new Open(`names ${word}, which may be anything`);
    const real = realPathOf(path);
    const isNamed = this.#covers(resolve(path));
    const isReal = real !== undefined && this.#covers(real);
    if (!isNamed && !isReal && !climbs(word)) return undefined;
    if (climbs(word)) throw new Open(`names ${word}, which leads upwards`);
    if (real === undefined) throw new Open(`names ${word}, which does not exist`);
    if (!isReal) throw new Open(`names ${word}, which leads out of the project`);
    return isNamed ? resolve(path) : real;
  }

  #covers(path: string): boolean {
    const { project, extension } = this.place;
    return isInside(path, project) || (extension !== undefined && isInside(path, extension));
  }

  /** What a program of the machine reads. A name of nothing is a word like any other. */
  addData(word: string): void {
    const path = this.#at(word);
    const stats = word.length < MAX_PATH ? statsOf(path) : undefined;
    const real = stats && realPathOf(path);
    if (real === undefined) {
      if (this.#covers(resolve(path))) this.#watch(path);
      return;
    }
    if (!(this.#covers(resolve(path)) || this.#covers(real))) return;
    if (leadsThroughSystem(path)) throw new Open(`names ${word}, which may be anything`);
    if (climbs(word)) throw new Open(`names ${word}, which leads upwards`);
    if (!this.#covers(real)) throw new Open(`names ${word}, which leads out of the project`);
    if (stats?.isFile()) this.files.add(resolve(path));
    else if (stats?.isDirectory()) this.folders.add(real);
    else throw new Open(`names ${word}, which is neither a file nor a folder`);
  }

  /** A file that is written; the link that it may be is followed when the command runs. */
  addOutput(word: string): void {
    if (/^\/dev\/(?:null|stderr|stdout)$/u.test(word)) return;
    const path = this.#at(word);
    if (leadsThroughSystem(path) || climbs(word))
      throw new Open(`writes ${word}, which may be anything`);
    if (linkStatsOf(path)?.isSymbolicLink()) throw new Open(`writes through the link ${word}`);
    const real = join(realPathOf(dirname(path)) ?? dirname(path), basename(path));
    if (!this.#covers(real)) throw new Open(`writes ${word}, which is outside of the project`);
    this.#outputs.push(real);
    this.#watch(path);
  }

  /** The path may become a link, and so may its folder. */
  #watch(path: string): void {
    this.watched.add(resolve(path)).add(dirname(resolve(path)));
  }

  /** Not normalized: where a link leads decides what is above it. */
  #at(word: string): string {
    this.place.budget.look();
    return isAbsolute(word) ? word : `${this.place.project}/${word}`;
  }

  show(path: string): string {
    return shownPath(path, this.place.project);
  }
}

/** With `..` in it, where a path leads would depend on a link in its middle, which may change. */
function climbs(word: string): boolean {
  return word.split('/').includes('..');
}

/** Whether a path is that of a file, or in its folder, as the file is named or as its links resolve. */
function isBeside(path: string, file: string): boolean {
  return [dirname(file), dirname(realPathOf(file) ?? file)].some((folder) =>
    isInside(path, realPathOf(folder) ?? folder),
  );
}
