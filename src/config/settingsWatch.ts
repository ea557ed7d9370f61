import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { joinHookDefinitions } from '../hooks/hookSettings.js';
import type { Extension } from '../hooks/entry.js';
import type { HookDefinitions, WrittenHooks } from '../protocol/types.js';
import type { DebugLogger } from '../util/debugLogger.js';
import { errorMessage } from '../util/errorMessage.js';
import { formatProblem, type FileProblem, type SettingsFile } from '../util/fileProblem.js';
import { isOf, keepExtensions, layersInForce, withLoss, withTightening } from './inForce.js';
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
  'maxAsyncHooks',
  'maxHookText',
  'promptModel',
  'promptBudget',
] as const;

/** What `config.watch` takes. */
export interface WatchOptions {
  /** As for `loadSettings`: the user's file is `.llxprt/settings.json` in here. Default: the home directory. */
  readonly home?: string;
  /** As for `loadSettings`. Default `/etc/llxprt/settings.json`. */
  readonly systemPath?: string;
  /** As for `loadSettings`. `true` is for what the project's files and extensions say when this begins: their changes do not count. */
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
}

/** What is in force of files after one reading. */
interface Reading {
  /** By file: what it says, or what it said before. */
  readonly layers: ReadonlyMap<string, Layer>;
  /** Files, and folders of extensions, of which what they said before is in force. */
  readonly kept: ReadonlySet<string>;
  readonly extensions: readonly Extension[];
  readonly settings: Settings;
  /** Whether it is known which of the keys are those of files. */
  readonly isSure: boolean;
  readonly problems: readonly FileProblem[];
  readonly consents: string;
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

/** For who replaces a file, or is not done with writing it, in ms. */
const GAP_MS = 100;

/** Readings for one event, while files go on to change. */
const MAX_READINGS = 3;

/** The files that a `Config` follows, and what is in force of them: what they said when they were whole. */
export class SettingsWatch {
  readonly #sources: readonly SettingsFile[];
  readonly #files: WatchedFiles;
  #refused = new Set<string>();
  #inForce: Reading | undefined;
  #seen: FilesState | undefined;
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
   * Reads the files anew. For the first time, what is in force is what the options say.
   *
   * @param current the options as they are
   * @returns the options as they are to be; `undefined` where they stay. Never rejects
   */
  async read(current: ConfigOptions): Promise<ReloadedOptions | undefined> {
    this.#isReading = true;
    const isFirst = !this.#inForce;
    try {
      const before = this.#inForce ?? this.#readingOf(current);
      const read = await this.#readUntilCalm(before);
      this.#tell(read, isFirst);
      if (!isFirst) this.#tellOfMiddleware(before, read);
      const made = { ...current, ...(await this.#toOptions(current, before, read)) };
      requireOptions(made);
      this.#inForce = read;
      const options = Object.fromEntries(RELOADED.map((key) => [key, made[key]]));
      const isSame = textOf(options) === textOf(current);
      const isAllowedAnew = !isFirst && read.consents !== before.consents;
      return isSame && !isAllowedAnew ? undefined : options;
    } catch (error) {
      this.#tellOnce(`The settings that have changed do not count: ${errorMessage(error)}`);
      return undefined;
    } finally {
      this.#isReading = false;
    }
  }

  #readingOf(options: ConfigOptions): Reading {
    const layers = layersInForce(this.#sources, options);
    const extensions = (options.extensions ?? []).filter((each) => !isGivenInCode(each));
    const { settings } = mergeLayers([...layers.values()]);
    const { consents } = this.#look();
    return { layers, extensions, settings, consents, kept: new Set(), isSure: false, problems: [] };
  }

  #look(): FilesState {
    return this.#files.look((file) => this.#refused.has(file));
  }

  /** Who writes several files is not done with the first, and who replaces one has it gone for a moment. */
  async #readUntilCalm(before: Reading): Promise<Reading> {
    for (let turn = 1; ; turn += 1) {
      this.#files.forgetNames();
      this.#readAt = Date.now();
      this.#seen = this.#look();
      const read = await this.#readOnce(before, this.#seen);
      const mayBeBack = turn === 1 && [...read.kept].some((file) => !before.kept.has(file));
      if (mayBeBack) await setTimeout(GAP_MS);
      else if (turn >= MAX_READINGS || this.#look().stamp === this.#seen.stamp) return read;
    }
  }

  async #readOnce(before: Reading, { consents }: FilesState): Promise<Reading> {
    const { home, trustProject } = this.options;
    const isFrozen = trustProject === true && this.#inForce !== undefined;
    const found = await Promise.all(
      this.#sources.map(async (source) => {
        const known = isFrozen && source.scope === 'project' && before.layers.get(source.file);
        return known || readLayer(source, { trustProject, home });
      }),
    );
    this.#refused = new Set(
      found.filter(({ status }) => status === 'refused').map(({ source }) => source.file),
    );
    const said = found.map((layer) =>
      withLoss(before.layers.get(layer.source.file), layer, before.isSure),
    );
    const isAllowedAnew = consents !== before.consents && trustProject !== true;
    const kept = new Map(
      said
        .filter(({ problems }) => problems.some(({ severity }) => severity === 'error'))
        .flatMap(({ source }) => {
          const known = before.layers.get(source.file);
          if (!known) return [];
          // What a project said may be something that the user does not allow any more.
          const isDoubtful = isAllowedAnew && source.scope === 'project';
          return [[source.file, isDoubtful ? { ...known, scalars: {}, fallback: {} } : known]];
        }),
    );
    const read = said.map((layer) => kept.get(layer.source.file) ?? layer);
    const layers = read.map((layer) =>
      before.isSure ? withTightening(before.layers.get(layer.source.file), layer, read) : layer,
    );
    const { extensions, problems, kept: keptOnes } = await this.#loadExtensions(before, isFrozen);
    const folders = keptOnes.flatMap(({ directory }) => directory ?? []);
    return {
      layers: new Map(layers.map((layer) => [layer.source.file, layer])),
      kept: new Set([...kept.keys(), ...folders]),
      extensions,
      settings: mergeLayers(layers).settings,
      isSure: before.isSure || kept.size === 0,
      problems: [...new Set([...said, ...layers].flatMap((layer) => layer.problems)), ...problems],
      consents,
    };
  }

  /** @param isFrozen whether those of the project stay as they are */
  async #loadExtensions({ extensions: before }: Reading, isFrozen: boolean) {
    const { home, loadExtensions } = this.options;
    const { workingDir } = this.watched;
    const loaded = await loadExtensions?.({ workingDir, ...(home !== undefined && { home }) });
    if (!isFrozen || !loaded) return keepExtensions(before, loaded);
    const { extensions, ...rest } = keepExtensions(before.filter(isNotOfProject), {
      extensions: loaded.extensions.filter(isNotOfProject),
      problems: loaded.problems.filter(isNotOfProject),
    });
    const ofProject = before.filter((each) => !isNotOfProject(each));
    return { ...rest, extensions: [...ofProject, ...extensions] };
  }

  /** Their code was loaded at the start, and stays. */
  #tellOfMiddleware(before: Reading, read: Reading): void {
    if (middlewareOf(before.extensions) === middlewareOf(read.extensions)) return;
    this.#tellOnce(
      'The middleware of extensions is another one now, which counts once this program is started anew',
    );
  }

  async #toOptions(
    current: ConfigOptions,
    before: Reading,
    { settings, extensions }: Reading,
  ): Promise<ReloadedOptions> {
    const { toOptions, loadExtensions } = this.options;
    if (toOptions) return toOptions(settings, loadExtensions ? extensions : []);
    const followed = RELOADED.filter(
      (key) =>
        key !== 'hooks' &&
        key !== 'extensions' &&
        before.isSure &&
        textOfValue(current[key]) === textOfValue(before.settings[key]),
    );
    return {
      ...Object.fromEntries(followed.map((key) => [key, settings[key as keyof Settings]] as const)),
      hooks: joinHookDefinitions([settings.hooks, this.#notFollowed(current.hooks)]),
      ...(loadExtensions && {
        extensions: [...extensions, ...(current.extensions ?? []).filter(isGivenInCode)],
      }),
    };
  }

  /** Groups of code, and of files that are not among these. */
  #notFollowed(hooks: WrittenHooks = {}): HookDefinitions {
    const files = new Set<string | undefined>(this.#sources.map(({ file }) => file));
    const groups = Object.entries(hooks).map(([event, each]) => [
      event,
      each?.filter((group) => group?.origin === undefined || !files.has(group.origin.file)) ?? [],
    ]);
    return Object.fromEntries(groups) as HookDefinitions;
  }

  /** At first, what is wrong was told when it was read before, unless that came later. */
  #tell(read: Reading, isFirst: boolean): void {
    const told = new Set<string>();
    for (const problem of read.problems) {
      const isBroken = problem.severity === 'error';
      const text = formatProblem(problem);
      const key = isBroken ? `${text} ${this.#seen?.stamp}` : text;
      told.add(key);
      const stays = isBroken && saidBefore(problem, read);
      if ((isFirst && !stays && !read.kept.has(problem.file)) || this.#told.has(key)) continue;
      this.watched.logger.warn(`${text}${stays ? '; what it said before stays in force' : ''}`);
    }
    this.#told = told;
  }

  #tellOnce(message: string): void {
    const key = `${message} ${this.#seen?.stamp}`;
    if (!this.#told.has(key)) this.watched.logger.warn(message);
    this.#told.add(key);
  }
}

function saidBefore(problem: FileProblem, { kept, layers, extensions }: Reading): boolean {
  const { file } = problem;
  const isKept = kept.has(file) && layers.get(file)?.status === 'read';
  return isKept || extensions.some((each) => isOf(problem, each));
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

function isNotOfProject({ scope }: Pick<Extension, 'scope'> | FileProblem): boolean {
  return scope !== 'project';
}

function isGivenInCode({ scope, directory }: Extension): boolean {
  return scope === undefined || directory === undefined;
}
