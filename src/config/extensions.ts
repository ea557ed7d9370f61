import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorMessage } from '../errorMessage.js';
import type { Extension } from './config.js';
import { readExtension, type ExtensionReading } from './extensionManifest.js';
import { fileError } from './jsonFile.js';
import type { FileProblem } from './settings.js';

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
  const [project, user] = await Promise.all(
    [options.workingDir, options.home ?? homedir()].map(findRealFolder),
  );
  const [ofProject, ofUser] = await Promise.all([
    project === user ? [] : readFolder('project', project),
    readFolder('user', user),
  ]);
  // What a project brings must not take the place of what the user has installed.
  const taken = new Map<string, Extension>();
  const kept = [...ofUser, ...ofProject].map((reading) => dropTaken(reading, taken));
  const inOrder = [...kept.slice(ofUser.length), ...kept.slice(0, ofUser.length)];
  return {
    extensions: inOrder.flatMap(({ extension }) => extension ?? []),
    problems: inOrder.flatMap(({ problems }) => problems),
  };
}

type Scope = NonNullable<Extension['scope']>;

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
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const directories = await Promise.all(entries.map((entry) => findDirectory(folder, entry)));
    const found = directories.flatMap((directory) => directory ?? []);
    return await Promise.all(found.toSorted().map((directory) => readExtension(scope, directory)));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    const message = `its extensions cannot be read (${errorMessage(error)}); make the folder readable, or remove it`;
    return [{ problems: [fileError({ scope, file: folder }, message)] }];
  }
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
