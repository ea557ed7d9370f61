import { statSync } from 'node:fs';
import { extensionsIn, findSettingsFiles } from '../../config/settings/settingsPlaces.js';
import { errorCode } from '../../util/errorMessage.js';
import { readTextSync } from '../../util/guardedRead.js';
import { findHome } from '../../util/homeDirectory.js';
import { MAY_BE_WRITTEN_BY_OTHERS } from '../shared/privateFolder.js';
import { isLinked } from '../shared/projectRoot.js';
import type { FilesOfProject } from '../shared/workspace.js';

/** Bytes of a file that is compared at each event. */
const MAX_BYTES = 256 * 1024;

const MAX_PROJECTS = 32;

interface Remembered {
  readonly files: FilesOfProject;
  readonly state: string;
}

/**
 * What was made of the files of each project, for as long as they hold the same: to compare their text takes a tenth of
 * what it takes to understand it. Their times would say less, as what writes into memory leaves them as they are.
 */
export class RememberedFiles {
  readonly #projects = new Map<string, Remembered>();

  /** @param read reads them */
  async of(project: string, read: () => Promise<FilesOfProject>): Promise<FilesOfProject> {
    const state = stateOf(project);
    const known = this.#projects.get(project);
    if (known && known.state === state) return known.files;
    this.#projects.delete(project);
    const files = await read();
    if (state === undefined || !isPlain(files) || state !== stateOf(project)) return files;
    this.#projects.set(project, { files, state });
    const [oldest = ''] = this.#projects.keys();
    if (this.#projects.size > MAX_PROJECTS) this.#projects.delete(oldest);
    return files;
  }
}

/** What depends on more than the files of settings is read each time: consent, extensions, and files that are refused. */
function isPlain({ extensions, problems, review }: FilesOfProject): boolean {
  const isAsked = problems.some(
    ({ severity, kind }) => severity === 'error' || kind === 'untrusted',
  );
  return extensions.length === 0 && !review && !isAsked;
}

/** @returns `undefined` where that is not enough to go by */
function stateOf(project: string): string | undefined {
  const home = findHome();
  const folders = [project, ...(home === undefined ? [] : [home])].map(extensionsIn);
  if (folders.some((folder) => stateOfFile(folder) !== MISSING)) return undefined;
  const states = findSettingsFiles({ workingDir: project }).map(({ file }) => stateOfFile(file));
  return states.includes(undefined) ? undefined : JSON.stringify(states);
}

const MISSING = '-';

/** Nothing watches over this, so that no link is followed. */
function stateOfFile(file: string): string | undefined {
  try {
    if (isLinked(file)) return undefined;
    const { mode, uid, gid } = statSync(file);
    if ((mode & MAY_BE_WRITTEN_BY_OTHERS) !== 0) return undefined;
    return [mode, uid, gid, readTextSync(file, { maxBytes: MAX_BYTES })].join(' ');
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? MISSING : undefined;
  }
}
