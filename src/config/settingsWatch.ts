import { dirname, resolve } from 'node:path';
import { joinHookDefinitions } from '../hooks/hookSettings.js';
import { isFault } from '../hooks/givenHooks.js';
import type { Extension } from '../hooks/entry.js';
import type { HookDefinitions, WrittenHooks } from '../protocol/types.js';
import type { DebugLogger } from '../util/debugLogger.js';
import { errorMessage } from '../util/errorMessage.js';
import { formatProblem, type FileProblem, type SettingsFile } from '../util/fileProblem.js';
import { isInside, realPathOf } from '../util/paths.js';
import { requireOptions, type ConfigOptions } from './configOptions.js';
import { mergeLayers } from './settings/settings.js';
import type { Settings } from './settings/settingsKeys.js';
import { readLayer, type Layer } from './settings/settingsLayer.js';
import { findSettingsFiles } from './settings/settingsPlaces.js';
import { WatchedFiles, type FilesState } from './watchedFiles.js';

/** What of a `Config` can become another while it is in use. */
export type ReloadedOptions = Pick<ConfigOptions, (typeof RELOADED)[number]>;

const RELOADED = [
  'hooks',
  'extensions',
  'disabledHooks',
  'enableHooks',
  'afterModelDisplay',
  'approvals',
  'hookEnvironment',
  'maxParallelHooks',
  'maxHookText',
] as const;

/** What `config.watch` takes. */
export interface WatchOptions {
  /** As for `loadSettings`: the user's file is `.llxprt/settings.json` in here. Default: the home directory. */
  readonly home?: string;
  /** As for `loadSettings`. Default `/etc/llxprt/settings.json`. */
  readonly systemPath?: string;
  /** As for `loadSettings`. */
  readonly trustProject?: boolean;
  /** A settings file in place of the three, as for `loadSettingsFile`. */
  readonly file?: string;
  /** Finds the extensions, usually `loadExtensions`. Without it, those that the host has passed stay. */
  readonly loadExtensions?: (places: {
    readonly workingDir: string;
    readonly home?: string;
  }) => Promise<{
    readonly extensions: readonly Extension[];
    readonly problems: readonly FileProblem[];
  }>;
  /**
   * Makes options of what was read, as the host has made those of `Config`. What it does not name stays; what it throws
   * is told, and all stay. Default: hooks and extensions of files are replaced, and those given in code stay; of the other keys those that the
   * host has passed as the files said them.
   */
  readonly toOptions?: (
    settings: Settings,
    extensions: readonly Extension[],
  ) => ReloadedOptions | Promise<ReloadedOptions>;
  /** Whether a file with a hook that would not run as it is written counts as a broken one. Default false. */
  readonly strict?: boolean;
}

/** The settings of one reading. */
interface Reading {
  readonly settings: Settings;
  readonly extensions: readonly Extension[] | undefined;
}

interface Watched {
  readonly workingDir: string;
  /** One that never throws. */
  readonly logger: DebugLogger;
}

/** Times of files are that coarse on some drives, in ms: one that has changed later may look the same afterwards. */
const COARSE_MS = 3000;
/** The same of drives that know more than whole seconds. */
const FINE_MS = 50;

/** Readings for one event, while files go on to change. */
const MAX_READINGS = 3;

/** The files that a `Config` follows, and what they said when they were whole. */
export class SettingsWatch {
  readonly #sources: readonly SettingsFile[];
  readonly #files: WatchedFiles;
  #layers = new Map<string, Layer>();
  #refused = new Set<string>();
  #extensions: readonly Extension[] = [];
  #last: Reading | undefined;
  #seen: FilesState | undefined;
  #consents = '';
  /** When what was seen last was read, in ms since 1970. */
  #readAt = 0;
  #isReading = false;
  /** What was told, so that it is told once for each change. */
  #told = new Set<string>();

  constructor(
    private readonly watched: Watched,
    private readonly options: WatchOptions,
    private readonly coarseMs = COARSE_MS,
  ) {
    const { workingDir } = watched;
    const { file, home, systemPath, loadExtensions } = options;
    this.#sources =
      file === undefined
        ? findSettingsFiles({ workingDir, home, systemPath })
        : [{ scope: 'file', file: resolve(file) }];
    const withExtensions = loadExtensions !== undefined;
    this.#files = new WatchedFiles({ settings: this.#sources, workingDir, home, withExtensions });
  }

  /** Whether the files may say something else than when they were read. */
  hasChanged(): boolean {
    if (this.#isReading || !this.#seen) return true;
    const { stamp, consents, changedAt } = this.#look();
    const unsureMs = changedAt % 1000 === 0 ? this.coarseMs : Math.min(this.coarseMs, FINE_MS);
    const isSure = this.#readAt - changedAt > unsureMs;
    return !isSure || stamp !== this.#seen.stamp || consents !== this.#seen.consents;
  }

  /**
   * Reads the files anew.
   *
   * @param current the options as they are
   * @param isFirst whether what is wrong has been told already
   * @returns the options as they are to be; `undefined` where they stay. Never rejects
   */
  async read(current: ConfigOptions, isFirst = false): Promise<ReloadedOptions | undefined> {
    this.#isReading = true;
    try {
      const before = this.#last;
      const read = await this.#readUntilCalm(isFirst);
      const made = { ...current, ...(await this.#toOptions(current, before, read)) };
      requireOptions(made);
      const options = Object.fromEntries(RELOADED.map((key) => [key, made[key]]));
      const isSame = textOf(options) === textOf(current);
      const { consents = '' } = this.#seen ?? {};
      const isAllowedAnew = !isFirst && consents !== this.#consents;
      this.#consents = consents;
      return isSame && !isAllowedAnew ? undefined : options;
    } catch (error) {
      this.#tellOnce(`The settings that have changed do not count: ${errorMessage(error)}`);
      return undefined;
    } finally {
      this.#isReading = false;
    }
  }

  #look(): FilesState {
    return this.#files.look((file) => this.#refused.has(file));
  }

  /** Who writes several files is not done with the first. */
  async #readUntilCalm(isFirst: boolean): Promise<Reading> {
    for (let turn = 1; ; turn += 1) {
      this.#files.forgetNames();
      this.#readAt = Date.now();
      this.#seen = this.#look();
      const read = await this.#readOnce(isFirst);
      if (turn >= MAX_READINGS || this.#look().stamp === this.#seen.stamp) {
        return (this.#last = read);
      }
    }
  }

  async #readOnce(isFirst: boolean): Promise<Reading> {
    const { home, trustProject, loadExtensions } = this.options;
    const { workingDir } = this.watched;
    const layers = await Promise.all(
      this.#sources.map((source) => readLayer(source, { trustProject, home })),
    );
    this.#refused = new Set(
      layers.filter(({ status }) => status === 'refused').map(({ source }) => source.file),
    );
    const whole = layers.map((layer) => this.#wholeOf(layer));
    const loaded = await loadExtensions?.({ workingDir, ...(home !== undefined && { home }) });
    if (loaded) this.#followExtensions(keepUnreadable(this.#extensions, loaded), isFirst);
    const problems = [...layers.flatMap((layer) => layer.problems), ...(loaded?.problems ?? [])];
    this.#tell(problems, isFirst);
    const { settings } = mergeLayers(whole);
    return { settings, extensions: loaded && this.#extensions };
  }

  /** Their code was loaded at the start, and stays. */
  #followExtensions(extensions: readonly Extension[], isFirst: boolean): void {
    const isSame = middlewareOf(extensions) === middlewareOf(this.#extensions);
    this.#extensions = extensions;
    if (isFirst || isSame) return;
    this.#tellOnce(
      'The middleware of extensions is another one now, which counts once this program is started anew',
    );
  }

  /** A file that cannot be read says what it said before. One that is gone says nothing. */
  #wholeOf(layer: Layer): Layer {
    const { file } = layer.source;
    const known = this.#layers.get(file);
    if (known && this.#isBroken(layer)) return known;
    this.#layers.set(file, layer);
    return layer;
  }

  #isBroken({ problems }: Layer): boolean {
    return problems.some(
      (problem) =>
        problem.severity === 'error' ||
        (this.options.strict === true && /^hooks\b/u.test(problem.path) && isFault(problem)),
    );
  }

  async #toOptions(
    current: ConfigOptions,
    before: Reading | undefined,
    { settings, extensions = [] }: Reading,
  ): Promise<ReloadedOptions> {
    const { toOptions } = this.options;
    if (toOptions) return toOptions(settings, extensions);
    const followed = RELOADED.filter(
      (key) =>
        key !== 'hooks' &&
        key !== 'extensions' &&
        before !== undefined &&
        textOfValue(current[key]) === textOfValue(before.settings[key]),
    );
    return {
      ...Object.fromEntries(followed.map((key) => [key, settings[key as keyof Settings]] as const)),
      hooks: joinHookDefinitions([settings.hooks, givenInCode(current.hooks)]),
      ...(this.options.loadExtensions && {
        extensions: [...extensions, ...(current.extensions ?? []).filter(isGivenInCode)],
      }),
    };
  }

  #tell(problems: readonly FileProblem[], isFirst: boolean): void {
    const told = new Set<string>();
    for (const problem of problems) {
      const isBroken = problem.severity === 'error';
      const text = formatProblem(problem);
      const key = isBroken ? `${text} ${this.#seen?.stamp}` : text;
      told.add(key);
      if (isFirst || this.#told.has(key)) continue;
      const stays = isBroken && this.#saidBefore(problem);
      this.watched.logger.warn(`${text}${stays ? '; what it said before stays in force' : ''}`);
    }
    this.#told = told;
  }

  #saidBefore({ file }: FileProblem): boolean {
    const layer = this.#layers.get(file);
    const isKept = layer?.status === 'read' && !this.#isBroken(layer);
    return isKept || this.#extensions.some((each) => isOf(file, each));
  }

  #tellOnce(message: string): void {
    const key = `${message} ${this.#seen?.stamp}`;
    if (!this.#told.has(key)) this.watched.logger.warn(message);
    this.#told.add(key);
  }
}

/** What those keys say of options that can become others. */
function textOf(options: ConfigOptions): string {
  return JSON.stringify(RELOADED.map((key) => options[key] ?? null));
}

function textOfValue(value: unknown): string {
  return JSON.stringify(value ?? null);
}

function middlewareOf(extensions: readonly Extension[]): string {
  return JSON.stringify(extensions.flatMap(({ middleware = [] }) => middleware));
}

/** Groups of files have an origin. */
function givenInCode(hooks: WrittenHooks = {}): HookDefinitions {
  const groups = Object.entries(hooks).map(([event, each]) => [
    event,
    each?.filter((group) => group?.origin === undefined) ?? [],
  ]);
  return Object.fromEntries(groups) as HookDefinitions;
}

function isGivenInCode({ scope, directory }: Extension): boolean {
  return scope === undefined || directory === undefined;
}

/** Extensions as they are now; of one that cannot be read, what it was. */
function keepUnreadable(
  before: readonly Extension[],
  { extensions, problems }: { extensions: readonly Extension[]; problems: readonly FileProblem[] },
): readonly Extension[] {
  const files = problems.filter(({ severity }) => severity === 'error').map(({ file }) => file);
  const kept = before.filter((each) => files.some((file) => isOf(file, each)));
  if (kept.length === 0) return extensions;
  const directories = new Set(kept.map(({ directory }) => directory));
  const names = new Set(kept.map(({ name }) => name));
  const others = extensions.filter(
    ({ directory, name }) => !directories.has(directory) && !names.has(name),
  );
  return [...kept, ...others];
}

/** Whether a file is one of an extension, or a folder that it is in. */
function isOf(file: string, { directory }: Extension): boolean {
  if (directory === undefined) return false;
  const folder = realPathOf(dirname(file)) ?? dirname(file);
  return isInside(folder, directory) || isInside(directory, realPathOf(file) ?? file);
}
