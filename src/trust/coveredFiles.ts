import { createHash } from 'node:crypto';
import { readdirSync, type Dirent, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { findObjection } from '../util/guardedFile.js';
import { piecesOf, reasonOf, withRegularFile } from '../util/guardedRead.js';
import { errorMessage } from '../util/errorMessage.js';
import { isShortage } from '../util/descriptors.js';
import type { CommandCoverage } from './commandCoverage.js';
import type { ConsentClass, FileDigests } from '../protocol/entry.js';
import { linkStatsOf, shownPath } from './fileSystem.js';
import { NO_FILES, watchFiles, type FileWatch, type Found } from './fileWatch.js';
import { isInside, realPathOf, statsOf } from '../util/paths.js';
import { OverBudget, type ReviewBudget } from './reviewBudget.js';

/** The files that consent to something covers, as they are now. */
export interface CoveredFiles {
  readonly class: ConsentClass;
  /** Why it is not pinned: the end of "because it …" for open ones, a sentence for those that are pinned by file. */
  readonly why?: string;
  /** Names of the folders that are covered as a whole. */
  readonly folders: readonly string[];
  /** Names of the scripts that are started. */
  readonly scripts: readonly string[];
  readonly files: FileDigests;
  /** Why it must not run, whatever anybody allows. */
  readonly refusal?: string;
  readonly watch: FileWatch;
}

/** What a folder may hold that is covered as a whole. */
interface FolderLimits {
  readonly files: number;
  readonly bytes: number;
  /** Whether everything in it belongs to it, as in the folder of an extension; so it may be any folder. */
  readonly isOwn: boolean;
}

const SCRIPT_FOLDER: FolderLimits = { files: 500, bytes: 10 * 1024 * 1024, isOwn: false };
const MODULE_FOLDER: FolderLimits = { files: 1000, bytes: 32 * 1024 * 1024, isOwn: true };
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Why consent to a hook covers less than the folder of its script. */
class Less extends Error {
  constructor(
    readonly isOpen: boolean,
    message: string,
  ) {
    super(message);
  }
}

/** Looks at the files of the hooks of one project. Each file is read once, however many hooks start it. */
export class FileCoverage {
  readonly #digests = new Map<string, Promise<string>>();
  readonly #listings = new Map<string, readonly Found[] | Less>();

  /** @param project absolute real path */
  constructor(
    private readonly project: string,
    private readonly budget: ReviewBudget,
  ) {}

  /**
   * Digests what a command starts, together with the folder that it lies in.
   *
   * @throws OverBudget
   */
  async ofCommand(coverage: CommandCoverage): Promise<CoveredFiles> {
    if (coverage.open !== undefined) return openFiles(coverage.open);
    const found = new Map<string, Found>();
    const folders = new Set<string>();
    const whys = new Set<string>();
    try {
      for (const { path, ignoresCompiled } of coverage.scripts) {
        const script = this.#look(path);
        found.set(path, script);
        for (const folder of new Set([dirname(path), dirname(script.real)].map(realOrThrow))) {
          const listing = this.#list(folder, SCRIPT_FOLDER, ignoresCompiled);
          if (listing instanceof Less) {
            if (listing.isOpen) throw listing;
            whys.add(listing.message);
            continue;
          }
          folders.add(shownPath(folder, this.project));
          for (const each of listing) found.set(each.path, each);
        }
      }
      for (const path of coverage.files) found.set(path, this.#look(path));
    } catch (error) {
      if (error instanceof Less) return openFiles(error.message);
      throw error;
    }
    if (coverage.files.length + coverage.folders.length > 0) whys.add(DATA);
    const isPinned = whys.size === 0;
    return {
      class: isPinned ? 'pinned' : 'pinned by file',
      ...(!isPinned && { why: [...whys].join(', and ') }),
      folders: [...folders],
      scripts: coverage.scripts.map(({ path }) => shownPath(path, this.project)),
      ...(await this.#digestAll([...found.values()], coverage.watched)),
    };
  }

  /** Digests every file of a folder, as for a module, which may import all of them. */
  async ofFolder(folder: string): Promise<CoveredFiles> {
    const real = realPathOf(folder) ?? folder;
    const listing = this.#list(real, MODULE_FOLDER);
    if (listing instanceof Less) {
      return {
        ...openFiles(listing.message),
        refusal: `it ${listing.message}: bundle its modules`,
      };
    }
    const folders = [shownPath(real, this.project)];
    return { class: 'pinned', folders, scripts: [], ...(await this.#digestAll(listing)) };
  }

  async #digestAll(
    found: readonly Found[],
    paths?: readonly string[],
  ): Promise<Pick<CoveredFiles, 'files' | 'refusal' | 'watch'>> {
    this.budget.look(found.length);
    const files: [string, string][] = [];
    let refusal: string | undefined;
    for (const each of found) {
      if (!each.isFile) continue;
      const name = shownPath(each.path, this.project);
      const led = each.real === each.path ? '' : ` at ${shownPath(each.real, this.project)}`;
      try {
        files.push([name, `${await this.#digest(each.real)}${led}`]);
      } catch (error) {
        if (error instanceof OverBudget || isShortage(error)) throw error;
        refusal ??= `${name}: ${reasonOf(error)}`;
      }
    }
    return {
      files: Object.fromEntries(files.toSorted(([a], [b]) => (a < b ? -1 : 1))),
      ...(refusal !== undefined && { refusal }),
      watch: watchFiles(found, paths),
    };
  }

  #digest(file: string): Promise<string> {
    let digest = this.#digests.get(file);
    if (!digest) this.#digests.set(file, (digest = digestFile(file, this.budget)));
    return digest;
  }

  #look(path: string): Found {
    this.budget.look();
    const real = realOrThrow(path);
    const stats = statsOf(real);
    if (!stats?.isFile())
      throw new Less(true, `starts ${shownPath(path, this.project)}, which is not a file`);
    if (stats.size > MAX_FILE_BYTES) {
      throw new Less(true, `names ${shownPath(path, this.project)}, which is too large to check`);
    }
    return { path, real, isFile: true, stats };
  }

  #list(folder: string, limits: FolderLimits, ignoresCompiled = false): readonly Found[] | Less {
    const key = `${limits.files} ${ignoresCompiled} ${folder}`;
    let listing = this.#listings.get(key);
    if (!listing) {
      try {
        listing = this.#walk(folder, limits, ignoresCompiled);
      } catch (error) {
        if (!(error instanceof Less)) throw error;
        listing = error;
      }
      this.#listings.set(key, listing);
    }
    return listing;
  }

  #walk(top: string, limits: FolderLimits, ignoresCompiled: boolean): Found[] {
    const shownTop = shownPath(top, this.project);
    const holder = limits.isOwn ? undefined : HOLDERS.get(shownTop);
    if (holder) throw new Less(false, `its script lies in ${holder}`);
    const found: Found[] = [];
    const folders = [top];
    let files = 0;
    let bytes = 0;
    for (const folder of folders) {
      found.push({ path: folder, real: folder, isFile: false, stats: linkStatsOf(folder) });
      for (const entry of entriesOf(folder)) {
        this.budget.look();
        const path = join(folder, entry.name);
        if (ignoresCompiled && entry.isFile() && isCompiled(path)) continue;
        if (entry.isDirectory()) {
          if (!limits.isOwn && TOO_MUCH.has(entry.name)) {
            throw new Less(false, `the folder ${shownTop} of its script holds ${entry.name}`);
          }
          folders.push(path);
          continue;
        }
        const each = this.#inspect(path, entry, limits);
        found.push(each);
        files++;
        bytes += each.stats?.size ?? 0;
        if (files > limits.files || bytes > limits.bytes) {
          const what = `holds more than ${limits.files} files or ${limits.bytes} bytes`;
          throw new Less(
            limits.isOwn,
            limits.isOwn ? what : `the folder ${shownTop} of its script ${what}`,
          );
        }
      }
    }
    return found;
  }

  #inspect(path: string, entry: Dirent, { isOwn }: FolderLimits): Found {
    const name = shownPath(path, this.project);
    // A name that is no UTF-8 could be that of another file.
    if (entry.name.includes('\uFFFD'))
      throw new Less(true, `is beside ${name}, whose name is no UTF-8`);
    const real = entry.isSymbolicLink() ? realPathOf(path) : path;
    const stats = real === undefined ? undefined : statsOf(real);
    if (real === undefined || !stats)
      throw new Less(true, `is beside ${name}, which leads to nothing`);
    if (!isOwn && entry.isSymbolicLink() && !isInside(real, this.project)) {
      throw new Less(true, `is beside ${name}, which leads out of the project`);
    }
    if (stats.isFile()) return { path, real, isFile: true, stats };
    throw new Less(
      true,
      `is beside ${name}, which is ${stats.isDirectory() ? 'a link to a folder' : 'no file'}`,
    );
  }
}

const DATA = 'a program of the machine reads them as data';

/** Folders that hold much else, and change without any hook. */
const HOLDERS: ReadonlyMap<string, string> = new Map([
  ['.', "the project's root folder"],
  ['.llxprt', 'the folder of the settings'],
]);

const TOO_MUCH: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** Compiled files that Python from 3.8 on does not read, as hooks of projects run with another folder for these. */
function isCompiled(path: string): boolean {
  return /[\\/]__pycache__[\\/][^\\/]+\.cpython-3(?:[89]|\d\d)[^\\/]*\.pyc(?:\.\d+)?$/u.test(path);
}

function openFiles(why: string): CoveredFiles {
  return { class: 'open', why, folders: [], scripts: [], files: {}, watch: NO_FILES };
}

function realOrThrow(path: string): string {
  const real = realPathOf(path);
  if (real === undefined) throw new Less(true, `names ${path}, which does not exist`);
  return real;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isShortage(error)) throw error;
    throw new Less(true, `lies in a folder that cannot be read (${errorMessage(error)})`);
  }
}

function digestFile(file: string, budget: ReviewBudget): Promise<string> {
  const limits = {
    maxBytes: Infinity,
    objectTo: (stats: Stats) => findObjection(file, stats, true),
  };
  return withRegularFile(file, limits, async (handle, { size }) => {
    budget.read(size);
    const hash = createHash('sha256');
    // What grows meanwhile has changed, which the next look notices.
    for await (const piece of piecesOf(file, handle, { end: size })) hash.update(piece);
    return `sha256:${hash.digest('hex')}`;
  });
}
