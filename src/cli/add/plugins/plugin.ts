import { basename } from 'node:path';
import { findTooManyHooks } from '../../../config/settings/settingsFile.js';
import type { Path } from '../../../util/checks.js';
import { isRecord } from '../../../util/records.js';
import { type Source, sourceOf } from '../../migrate/sources.js';
import { UsageError } from '../../shared/usageError.js';
import { faultIn, type Manifest, manifestIn, namedManifest, nameIn } from './manifests.js';
import type { Offer } from './marketplace.js';
import { type PluginFolder, readFolder } from './pluginFolder.js';
import { serversOf } from './pluginServers.js';

/** A plugin of Claude Code, as it was read. */
export interface Plugin {
  readonly name: string;
  readonly version: string | undefined;
  readonly folder: PluginFolder;
  /** Files with hooks. */
  readonly sources: readonly Source[];
  /** MCP servers that its hooks may name. */
  readonly servers: Readonly<Record<string, unknown>>;
}

/** Where a plugin has its folders once it is installed. Both are absolute. */
export interface PluginPlaces {
  readonly root: string;
  readonly data: string;
}

const MANIFEST = '.claude-plugin/plugin.json';
const HOOKS = 'hooks/hooks.json';

/**
 * Reads a plugin. Runs nothing of it.
 *
 * @param offer the plugin as its marketplace lists it
 * @param placesOf where it will be, by its name
 * @throws UsageError for one that cannot be taken over, with the place
 */
export async function readPlugin(
  path: string,
  offer: Offer | undefined,
  placesOf: (name: string) => PluginPlaces,
): Promise<Plugin> {
  const folder = await readFolder(path);
  const manifest = manifestIn(folder, MANIFEST);
  const { name, version } = identityOf(folder, manifest, offer);
  const variables = variablesOf(placesOf(name));
  const servers = serversOf(folder, manifest, variables);
  const sources = hookManifests(folder, manifest, offer).map((each) =>
    toSource(each, variables, servers),
  );
  return { name, version, folder, sources, servers };
}

function identityOf({ root }: PluginFolder, manifest: Manifest | undefined, offer?: Offer) {
  const { name, version } = manifest?.value ?? {};
  const given =
    manifest && name !== undefined
      ? nameIn(manifest, ['name'], name)
      : (offer?.name ?? nameOfFolder(root));
  if (manifest && version !== undefined && !isVersion(version)) {
    throw faultIn(manifest, ['version'], 'expected a version of up to 100 plain characters');
  }
  return { name: given, version: isVersion(version) ? version : undefined };
}

function nameOfFolder(root: string): string {
  const name = basename(root);
  if (/^\w[\w.-]{0,99}$/u.test(name)) return name;
  throw new UsageError(
    `${root} has no ${MANIFEST}, and its name can be none of a plugin: write one`,
  );
}

function isVersion(version: unknown): version is string {
  return typeof version === 'string' && /^[\w.+~^-]{1,100}$/u.test(version);
}

/** Where hooks are written, and at which path of that file. */
interface HookPlace {
  readonly manifest: Manifest;
  readonly hooks: unknown;
  readonly at: Path;
}

/** The file that every plugin may have, and what its manifest, or its marketplace, names or holds. */
function hookManifests(
  folder: PluginFolder,
  manifest: Manifest | undefined,
  offer: Offer | undefined,
): HookPlace[] {
  const named = [
    ...(manifest ? placesIn(folder, manifest, manifest.value['hooks'], ['hooks']) : []),
    ...offered(folder, offer),
  ];
  const usual = manifestIn(folder, HOOKS);
  const all = usual ? [ofFile(usual), ...named] : named;
  const seen = new Set<string>();
  return all.filter(({ manifest: { file }, at }) => {
    const key = JSON.stringify([file, at]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function offered(folder: PluginFolder, offer: Offer | undefined): HookPlace[] {
  if (!offer) return [];
  const { plugins } = offer.place.value;
  const entry: unknown = Array.isArray(plugins) ? plugins[offer.at] : undefined;
  const hooks = isRecord(entry) ? entry['hooks'] : undefined;
  return placesIn(folder, offer.place, hooks, ['plugins', offer.at, 'hooks']);
}

function placesIn(folder: PluginFolder, manifest: Manifest, hooks: unknown, at: Path): HookPlace[] {
  if (hooks === undefined) return [];
  if (Array.isArray(hooks)) {
    return hooks.flatMap((each, index) => placesIn(folder, manifest, each, [...at, index]));
  }
  if (typeof hooks === 'string') return [ofFile(namedManifest(folder, manifest, hooks, at))];
  if (!isRecord(hooks)) throw faultIn(manifest, at, 'expected a path, or an object of hooks');
  return isRecord(hooks['hooks'])
    ? [{ manifest, hooks: hooks['hooks'], at: [...at, 'hooks'] }]
    : [{ manifest, hooks, at }];
}

function ofFile(manifest: Manifest): HookPlace {
  return { manifest, hooks: manifest.value['hooks'], at: ['hooks'] };
}

function toSource(
  { manifest, hooks, at }: HookPlace,
  variables: Record<string, string>,
  mcpServers: object,
): Source {
  const { file, document } = manifest;
  const tooMany = findTooManyHooks(hooks);
  if (tooMany !== undefined) throw faultIn(manifest, at, tooMany);
  const locate = ([, ...within]: Path) => document.locate([...at, ...within]);
  const value = { hooks: withVariables(hooks, variables), mcpServers };
  return sourceOf(file, { value, document: { locate } }, 'claude');
}

/** What each hook of a plugin finds in its environment; our own names beside those of Claude Code. */
function variablesOf({ root, data }: PluginPlaces): Record<string, string> {
  return {
    CLAUDE_PLUGIN_ROOT: root,
    CLAUDE_PLUGIN_DATA: data,
    LLXPRT_PLUGIN_ROOT: root,
    LLXPRT_PLUGIN_DATA: data,
  };
}

/** Their names. */
export const PLUGIN_VARIABLES: ReadonlySet<string> = new Set(
  Object.keys(variablesOf({ root: '', data: '' })),
);

function withVariables(value: unknown, variables: Record<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => withVariables(each, variables));
  if (!isRecord(value)) return value;
  if (typeof value['type'] !== 'string' && typeof value['command'] !== 'string') {
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, each]) => [key, withVariables(each, variables)]));
  }
  // What is below a hook, such as the input of a tool, is none.
  if (typeof value['command'] !== 'string') return value;
  const { env, ...others } = value;
  return { ...others, env: { ...(isRecord(env) && env), ...variables } };
}
