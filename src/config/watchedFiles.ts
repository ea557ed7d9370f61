import { readdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { consentFileIn, lockFileIn } from '../trust/consentStore.js';
import type { SettingsFile } from '../util/fileProblem.js';
import { findHome } from '../util/homeDirectory.js';
import { linkStatsOf, orUndefined, stampOf, statsOf } from '../util/paths.js';
import { extensionsIn } from './settings/settingsPlaces.js';

/** What the files say of themselves, without being read. */
export interface FilesState {
  /** Of settings and extensions. Another one once a file has changed. */
  readonly stamp: string;
  /** The same of what the user has allowed. */
  readonly consents: string;
  /** When the last of them has changed, in ms since 1970; 0 where there is none. */
  readonly changedAt: number;
}

interface WatchedPlaces {
  readonly settings: readonly SettingsFile[];
  readonly workingDir: string;
  readonly home?: string | undefined;
  /** Whether extensions are read as well. */
  readonly withExtensions: boolean;
}

/** The manifest of an extension. */
export const MANIFEST = 'llxprt-extension.json';
const OF_EXTENSION = [MANIFEST, 'gemini-extension.json', 'hooks/hooks.json'];

/**
 * The files of which the hooks of a host are made. They are looked at, not watched: that also notices a file that an
 * editor has replaced, a link that leads elsewhere, a folder that was missing, and a change on another machine.
 */
export class WatchedFiles {
  readonly #entries = new Map<string, { readonly stamp: string; readonly names: string[] }>();

  constructor(private readonly places: WatchedPlaces) {}

  /**
   * @param isRefused which files of a project could not be read: where such a one is a link, it may lead to a drive that
   *   never answers, and is not followed
   */
  look(isRefused: (file: string) => boolean): FilesState {
    const { settings, workingDir } = this.places;
    const home = this.places.home ?? findHome();
    const looked = settings.map(({ scope, file }) =>
      scope === 'project' && isRefused(file) ? withoutLinks(file) : statsOf(file),
    );
    if (this.places.withExtensions) {
      looked.push(...this.#lookAtExtensions(extensionsIn(workingDir), withoutLinks));
      if (home !== undefined) looked.push(...this.#lookAtExtensions(extensionsIn(home), statsOf));
    }
    const lock = withoutLinks(lockFileIn(workingDir));
    const consents = [home === undefined ? undefined : statsOf(consentFileIn(home)), lock];
    const changes = [...looked, ...consents].map((stats) => stats?.ctimeMs ?? 0);
    return {
      stamp: looked.map(stampOf).join(' '),
      consents: consents.map(stampOf).join(' '),
      changedAt: Math.max(0, ...changes),
    };
  }

  #lookAtExtensions(
    folder: string,
    look: (file: string) => Stats | undefined,
  ): (Stats | undefined)[] {
    const stats = look(folder);
    if (!stats?.isDirectory()) return [stats];
    const files = this.#namesIn(folder, stampOf(stats)).flatMap((name) => [
      look(join(folder, name)),
      ...OF_EXTENSION.map((file) => look(join(folder, name, file))),
    ]);
    return [stats, ...files];
  }

  #namesIn(folder: string, stamp: string): readonly string[] {
    const known = this.#entries.get(folder);
    if (known?.stamp === stamp) return known.names;
    const names = orUndefined(() => readdirSync(folder)) ?? [];
    this.#entries.set(folder, { stamp, names });
    return names;
  }

  /** Reads folders anew, as times of files are coarse. */
  forgetNames(): void {
    this.#entries.clear();
  }
}

/** Of a link on the way to a file, where there is one, else of the file. Nothing watches over this. */
function withoutLinks(file: string): Stats | undefined {
  const folder = linkStatsOf(dirname(file));
  return folder?.isSymbolicLink() ? folder : linkStatsOf(file);
}
