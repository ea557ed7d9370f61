import { statSync } from 'node:fs';
import { extensionsIn, findSettingsFiles } from '../../config/settings/settingsPlaces.js';
import { errorCode } from '../../util/errorMessage.js';
import { findHome } from '../../util/surroundings.js';
import type { FilesOfProject } from '../shared/workspace.js';

/**
 * Ms. A file that has changed less than this before it was read may change again without a trace: not every file system
 * keeps a time that is finer.
 */
const SETTLED_MS = 3000;

const MAY_BE_WRITTEN_BY_OTHERS = 0o022;

interface Remembered {
  readonly files: FilesOfProject;
  readonly stamp: string;
}

/** What was read for each project, for as long as the system says that its files are the same ones, unchanged. */
export class RememberedFiles {
  readonly #projects = new Map<string, Remembered>();

  /** @param now ms, on the clock of the system, which may be set */
  constructor(private readonly now: () => number = Date.now) {}

  /** @param read reads them */
  async of(project: string, read: () => Promise<FilesOfProject>): Promise<FilesOfProject> {
    const stamp = stampOf(project, this.now());
    const known = this.#projects.get(project);
    if (known && known.stamp === stamp) return known.files;
    const files = await read();
    const isKept = stamp !== undefined && isPlain(files) && stamp === stampOf(project, this.now());
    if (isKept) this.#projects.set(project, { files, stamp });
    else this.#projects.delete(project);
    return files;
  }
}

/** What depends on more than the files of settings is read each time: consent, extensions, and files that are refused. */
function isPlain({ extensions, problems, review }: FilesOfProject): boolean {
  return (
    extensions.length === 0 && !review && problems.every(({ severity }) => severity !== 'error')
  );
}

/**
 * What the system says of all settings, so that no change of one leaves it the same: nobody can set the time of a change back.
 *
 * @returns `undefined` where that is not enough to go by
 */
function stampOf(project: string, now: number): string | undefined {
  const home = findHome();
  const folders = [project, ...(home === undefined ? [] : [home])].map(extensionsIn);
  if (folders.some((folder) => stampOfFile(folder, now) !== MISSING)) return undefined;
  const stamps = findSettingsFiles({ workingDir: project }).map(({ file }) =>
    stampOfFile(file, now),
  );
  return stamps.every((stamp) => stamp !== undefined) ? stamps.join(' ') : undefined;
}

const MISSING = '-';

function stampOfFile(file: string, now: number): string | undefined {
  try {
    const { dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs, ctimeMs } = statSync(file, {
      bigint: true,
    });
    const isSettled = Math.abs(now - Number(ctimeMs)) > SETTLED_MS;
    if (!isSettled || (Number(mode) & MAY_BE_WRITTEN_BY_OTHERS) !== 0) return undefined;
    return [dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? MISSING : undefined;
  }
}
