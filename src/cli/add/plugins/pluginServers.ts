import type { Path } from '../../../util/checks.js';
import { isRecord } from '../../../util/records.js';
import { faultIn, type Manifest, manifestIn, namedManifest } from './manifests.js';
import type { PluginFolder } from './pluginFolder.js';

/**
 * The MCP servers of a plugin, which its hooks may name, with its folders in place of their variables.
 *
 * @param variables by their names
 * @throws UsageError for what is none, with its place
 */
export function serversOf(
  folder: PluginFolder,
  manifest: Manifest | undefined,
  variables: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const usual = manifestIn(folder, '.mcp.json');
  const given = manifest ? serversAt(folder, manifest, manifest.value['mcpServers']) : {};
  const all = { ...(usual && listed(usual)), ...given };
  // No shell reads these words.
  return filled(all, variables) as Record<string, unknown>;
}

function serversAt(
  folder: PluginFolder,
  manifest: Manifest,
  value: unknown,
  at: Path = ['mcpServers'],
): Record<string, unknown> {
  if (value === undefined) return {};
  if (typeof value === 'string') return listed(namedManifest(folder, manifest, value, at));
  if (Array.isArray(value)) {
    const each = value.map((item, index) => serversAt(folder, manifest, item, [...at, index]));
    return Object.assign({}, ...each) as Record<string, unknown>;
  }
  if (isRecord(value)) return value;
  throw faultIn(manifest, at, 'expected a path, or an object of MCP servers');
}

/** Some files hold the servers alone. */
function listed({ value }: Manifest): Record<string, unknown> {
  const { mcpServers } = value;
  return isRecord(mcpServers) ? mcpServers : value;
}

function filled(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$\{(\w+)\}/gu, (reference, name: string) =>
      Object.hasOwn(variables, name) ? String(variables[name]) : reference,
    );
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, variables));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, filled(each, variables)]);
  return Object.fromEntries(entries) as unknown;
}
