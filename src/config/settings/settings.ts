import { resolve } from 'node:path';
import { ofProject } from '../../hooks/disabledHooks.js';
import { joinHookDefinitions } from '../../hooks/hookSettings.js';
import type { FileProblem, SettingsFile } from '../../util/fileProblem.js';
import type { Settings } from './settingsKeys.js';
import type { ConsentReview } from '../../hooks/entry.js';
import { readLayer, type Layer, type LayerOptions } from './settingsLayer.js';
import { findSettingsFiles, type SettingsPlaces } from './settingsPlaces.js';

/** Settings, where they came from, and what was wrong there. */
export interface LoadedSettings {
  readonly settings: Settings;
  readonly problems: readonly FileProblem[];
  /** The files that were read, the one with the highest priority first. */
  readonly files: readonly SettingsFile[];
  readonly origins: SettingsOrigins;
  /** What the user's consent says of the project's keys besides `hooks`, where one of them needs it. */
  readonly review?: ConsentReview;
}

/** Which files say what decides whether a hook runs. */
export interface SettingsOrigins {
  /** The one whose `enableHooks` counts; undefined where none says anything. */
  readonly enableHooks: SettingsFile | undefined;
  /** Those that name a hook in `disabledHooks`, by that name; names of a project's file begin with `project:`. */
  readonly disabledHooks: ReadonlyMap<string, readonly SettingsFile[]>;
  /** The one whose `approvals` counts, where one has them. */
  readonly approvals: SettingsFile | undefined;
}

/** What `loadSettings` takes. What the user has allowed is read in the home directory, too. */
export interface LoadSettingsOptions extends SettingsPlaces {
  /**
   * Whether the user trusts the project: `true` lets all of its file count. `false` lets it add `hooks`, with their
   * origin, so that they can be listed, and say what only tightens where nobody else says anything: `enableHooks: true`,
   * `afterModelDisplay: "hold"` and `approvals: { whenNobody: "deny" }`. Default: `true` if the user has allowed what it says besides its hooks with
   * `hookstack trust`, exactly as it is now; else `false`.
   */
  readonly trustProject?: boolean;
}

/**
 * Reads the settings of project, user and system. Scalars of the first override those of the next, hooks
 * and `disabledHooks` add up; those of the project concern its own hooks alone, and begin with `project:`. Comments and trailing commas are fine; a missing file is normal.
 *
 * What is wrong in a file is a problem in the result and leaves the other files alone; never a throw.
 */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const sources = findSettingsFiles(options);
  const { trustProject, home }: LayerOptions = options;
  return mergeLayers(
    await Promise.all(sources.map((source) => readLayer(source, { trustProject, home }))),
  );
}

/**
 * Reads one settings file, named by the user, in place of the three of `loadSettings`. Its groups have
 * the scope `file`.
 *
 * What is wrong is a problem in the result; so is a missing file.
 */
export async function loadSettingsFile(file: string): Promise<LoadedSettings> {
  return mergeLayers([await readLayer({ scope: 'file', file: resolve(file) })]);
}

/** What several files say together; the one with the highest priority comes first. */
export function mergeLayers(read: readonly Layer[]): LoadedSettings {
  const layers = read.map(bindNames);
  const merged: Layer['scalars'] = {};
  const byRisingPriority = [
    ...layers.map(({ source, fallback }) => ({ source, scalars: fallback })),
    ...layers.toReversed(),
  ];
  for (const { scalars } of byRisingPriority) Object.assign(merged, scalars);
  const sourceOf = (key: keyof Layer['scalars']) =>
    byRisingPriority.findLast(({ scalars }) => scalars[key] !== undefined)?.source;
  return {
    settings: {
      enableHooks: false,
      ...merged,
      hooks: joinHookDefinitions(layers.map(({ hooks }) => hooks)),
      disabledHooks: [...new Set(layers.flatMap((layer) => layer.scalars.disabledHooks ?? []))],
    },
    problems: layers.flatMap(({ problems }) => problems),
    files: layers.filter(({ status }) => status === 'read').map(({ source }) => source),
    review: layers.find(({ review }) => review)?.review,
    origins: {
      enableHooks: sourceOf('enableHooks'),
      disabledHooks: findDisablers(layers),
      approvals: sourceOf('approvals'),
    },
  };
}

/** Of `disabledHooks`, as it depends on the file which hooks a name means. */
function bindNames(layer: Layer): Layer {
  const { disabledHooks } = layer.scalars;
  if (layer.source.scope !== 'project' || !disabledHooks) return layer;
  return { ...layer, scalars: { ...layer.scalars, disabledHooks: disabledHooks.map(ofProject) } };
}

function findDisablers(layers: readonly Layer[]): Map<string, readonly SettingsFile[]> {
  const disablers = new Map<string, SettingsFile[]>();
  for (const { source, scalars } of layers) {
    for (const name of new Set(scalars.disabledHooks)) {
      disablers.set(name, [...(disablers.get(name) ?? []), source]);
    }
  }
  return disablers;
}
