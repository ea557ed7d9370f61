import type { Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorMessage } from '../util/errorMessage.js';
import { isShortage, waitForDescriptors } from '../util/room.js';
import type { Extension } from '../protocol/entry.js';
import {
  ExtensionBudget,
  inPlaceOfExtension,
  readExtension,
  type ExtensionReading,
} from './extensionManifest.js';
import { fileError, MAX_PROBLEMS } from '../config/settings/jsonFile.js';
import { findHome } from '../util/home.js';
import type { FileProblem } from '../config/settings/settings.js';

/** What `loadExtensions` takes. */
export interface LoadExtensionsOptions {
  /** The project: its extensions are the folders of `.llxprt/extensions` in here. */
  readonly workingDir: string;
  /** The user's are the folders of `.llxprt/extensions` in here. Default: the home directory. */
  readonly home?: string;
}

/** Extensions together with what was wrong with them. */
export interface LoadedExtensions {
  /** The project's first, then the user's, each in the order of their folders' names. */
  readonly extensions: readonly Extension[];
  readonly problems: readonly FileProblem[];
}

/**
 * Finds the extensions of project and user, and reads their manifests: `llxprt-extension.json`, else
 * `gemini-extension.json`, and `hooks/hooks.json`. Runs and imports nothing of them.
 *
 * What is wrong with one is a problem in the result and leaves the others alone; never a throw. Of two with the same
 * name one counts: the user's before the project's.
 */
export async function loadExtensions(options: LoadExtensionsOptions): Promise<LoadedExtensions> {
  const home = options.home ?? findHome();
  const project = await findRealFolder(options.workingDir);
  const user = home === undefined ? undefined : await findRealFolder(home);
  // One after the other: what a project brings must not use up what it takes to read the user's.
  const ofUser = await readFolder('user', user);
  const ofProject = project === user ? [] : await readFolder('project', project);
  // Nor take the place of what the user has installed.
  const taken = new Map<string, Extension>();
  const kept = [...ofUser, ...ofProject].map((reading) => dropTaken(reading, taken));
  const inOrder = [...kept.slice(ofUser.length), ...kept.slice(0, ofUser.length)];
  return {
    extensions: inOrder.flatMap(({ extension }) => extension ?? []),
    problems: inOrder.flatMap(({ problems }) => problems),
  };
}

type Scope = NonNullable<Extension['scope']>;

/** At most this many extensions are read at a time. */
const BATCH = 16;

/** More of them in a project are refused. */
const MAX_PROJECT_EXTENSIONS = 1000;

/** The folder of extensions in a directory, without symbolic links where it exists. */
async function findRealFolder(directory: string): Promise<string> {
  const folder = join(resolve(directory), '.llxprt', 'extensions');
  return realpath(folder).catch(() => folder);
}

async function readFolder(
  scope: Scope,
  folder: string | undefined,
): Promise<readonly ExtensionReading[]> {
  if (folder === undefined) return [];
  const source = { scope, file: folder };
  try {
    const entries = await listEntries(
      folder,
      scope === 'project' ? MAX_PROJECT_EXTENSIONS : Infinity,
    );
    if (!entries) {
      const limit = MAX_PROJECT_EXTENSIONS.toLocaleString('en');
      const message = `refused: a project may have ${limit} extensions, and here are more; none of them counts until there are fewer`;
      return [{ problems: [fileError(source, message)] }];
    }
    return await (scope === 'project'
      ? readWithinBudget(folder, entries)
      : readAll(folder, entries));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    const message = `its extensions cannot be read (${errorMessage(error)}); make the folder readable, or remove it`;
    const reading = { problem: fileError(source, message), isShortage: isShortage(error) };
    return [inPlaceOfExtension(source, reading, 'extensions')];
  }
}

/** The entries of a folder, sorted by name; `undefined` where there are more than `limit`. */
async function listEntries(folder: string, limit: number): Promise<Dirent[] | undefined> {
  const entries: Dirent[] = [];
  for await (const entry of await waitForDescriptors(() => opendir(folder))) {
    if (entries.length >= limit) return undefined;
    entries.push(entry);
  }
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function readAll(folder: string, entries: readonly Dirent[]): Promise<ExtensionReading[]> {
  const readings: ExtensionReading[] = [];
  for (let start = 0; start < entries.length; start += BATCH) {
    const batch = entries.slice(start, start + BATCH).map(async (entry) => {
      const directory = await findDirectory(folder, entry);
      return directory === undefined ? [] : [await readExtension('user', directory)];
    });
    readings.push(...(await Promise.all(batch)).flat());
  }
  return readings;
}

/** Those of a project, until there are more than are read before anybody has allowed them. */
async function readWithinBudget(
  folder: string,
  entries: readonly Dirent[],
): Promise<ExtensionReading[]> {
  const budget = new ExtensionBudget();
  const readings: ExtensionReading[] = [];
  let told = 0;
  const omitted: FileProblem[] = [];
  const tellFirst = ({ problems, ...reading }: ExtensionReading): ExtensionReading => {
    const first = problems.slice(0, Math.max(0, MAX_PROBLEMS - told));
    told += first.length;
    omitted.push(...problems.slice(first.length));
    return { ...reading, problems: first };
  };
  for (const entry of entries) {
    const directory = await findDirectory(folder, entry);
    if (directory === undefined) continue;
    readings.push(tellFirst(await readExtension('project', directory, budget)));
    if (budget.isSpent) break;
  }
  if (omitted.length === 0) return readings;
  const message = `${omitted.length} more problems of extensions of this project; fix those above first`;
  const rest = fileError({ scope: 'project', file: folder }, message);
  const severity = omitted.some((each) => each.severity === 'error') ? 'error' : 'warning';
  return [...readings, { problems: [{ ...rest, severity }] }];
}

async function findDirectory(folder: string, entry: Dirent): Promise<string | undefined> {
  if (entry.name.startsWith('.')) return undefined;
  const path = join(folder, entry.name);
  if (entry.isDirectory()) return path;
  if (!entry.isSymbolicLink()) return undefined;
  const isDirectory = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  return isDirectory ? path : undefined;
}

function dropTaken(reading: ExtensionReading, taken: Map<string, Extension>): ExtensionReading {
  const { extension, nameProblem, problems } = reading;
  if (!extension) return reading;
  const first = taken.get(extension.name);
  if (!first) {
    taken.set(extension.name, extension);
    return reading;
  }
  const message = `the ${first.scope} has an extension of this name in ${first.directory}, which counts; this one is ignored`;
  return { problems: [...problems, ...(nameProblem ? [nameProblem(message)] : [])] };
}
