import type { Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, errorMessage } from '../util/errorMessage.js';
import { isShortage, waitForDescriptors } from '../util/descriptors.js';
import type { Extension } from '../hooks/entry.js';
import {
  ExtensionBudget,
  inPlaceOfExtension,
  readExtension,
  type ExtensionReading,
} from './extensionManifest.js';
import { MAX_PROBLEMS } from '../config/settings/settingsFile.js';
import { extensionsIn } from '../config/settings/settingsPlaces.js';
import { findHome } from '../util/homeDirectory.js';
import { fileError, type FileProblem, type SettingsFile } from '../util/fileProblem.js';

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
  // The user's first, so that a project cannot use up the descriptors that they need, or take their names.
  const ofUser = await readFolder('user', user);
  const ofProject = project === user ? [] : await readFolder('project', project);
  const taken = new Map<string, Extension>();
  const kept = [...ofUser, ...ofProject].map((reading) => dropTaken(reading, taken));
  const inOrder = [...kept.slice(ofUser.length), ...kept.slice(0, ofUser.length)];
  return {
    extensions: inOrder.flatMap(({ extension }) => extension ?? []),
    problems: inOrder.flatMap(({ problems }) => problems),
  };
}

type Scope = NonNullable<Extension['scope']>;

/** Extensions that are read at a time. */
const BATCH = 16;

/** More of them in a project are refused. */
const MAX_PROJECT_EXTENSIONS = 1000;

async function findRealFolder(directory: string): Promise<string> {
  const folder = extensionsIn(directory);
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
    const readings = await readAll(scope, folder, entries);
    return scope === 'project' ? limitProblems(source, readings) : readings;
  } catch (error) {
    const code = errorCode(error);
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

async function readAll(
  scope: Scope,
  folder: string,
  entries: readonly Dirent[],
): Promise<ExtensionReading[]> {
  // Those of a project one by one, so that reading can end once the budget is spent.
  const budget = scope === 'project' ? new ExtensionBudget() : undefined;
  const size = budget ? 1 : BATCH;
  const readings: ExtensionReading[] = [];
  for (let start = 0; start < entries.length; start += size) {
    const batch = entries.slice(start, start + size).map(async (entry) => {
      const path = await findDirectory(folder, entry);
      return path === undefined ? [] : [await readExtension({ scope, path, budget })];
    });
    readings.push(...(await Promise.all(batch)).flat());
    if (budget?.isSpent) break;
  }
  return readings;
}

function limitProblems(
  source: SettingsFile,
  readings: readonly ExtensionReading[],
): ExtensionReading[] {
  const omitted: FileProblem[] = [];
  let left = MAX_PROBLEMS;
  const limited = readings.map(({ problems, ...reading }) => {
    const first = problems.slice(0, left);
    left -= first.length;
    omitted.push(...problems.slice(first.length));
    return { ...reading, problems: first };
  });
  if (omitted.length === 0) return limited;
  const message = `${omitted.length} more problems of extensions of this project; fix those above first`;
  const severity = omitted.some((each) => each.severity === 'error') ? 'error' : 'warning';
  return [...limited, { problems: [{ ...fileError(source, message), severity }] }];
}

async function findDirectory(folder: string, entry: Dirent): Promise<string | undefined> {
  if (entry.name.startsWith('.')) return undefined;
  const path = join(folder, entry.name);
  if (entry.isDirectory()) return path;
  if (!entry.isSymbolicLink()) return undefined;
  const stats = await stat(path).catch(() => undefined);
  return stats?.isDirectory() ? path : undefined;
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
