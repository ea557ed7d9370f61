import { join, relative } from 'node:path';
import { MAX_PROJECT_FILE_BYTES } from '../../../config/settings/settingsFile.js';
import { formatPath, type Path } from '../../../util/checks.js';
import { parseJsonDocument, type JsonDocument } from '../../../util/jsonDocument.js';
import { isInside, realPathOf } from '../../../util/paths.js';
import { isRecord } from '../../../util/records.js';
import { toOneLine } from '../../shared/terminal.js';
import { UsageError } from '../../shared/usageError.js';
import type { PluginFolder } from './pluginFolder.js';

/** A file of JSON in a plugin. */
export interface Manifest {
  /** Absolute. */
  readonly file: string;
  readonly value: Record<string, unknown>;
  readonly document: JsonDocument;
}

/** Keys that are no data, whatever is done with them. */
const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * @param name of the file in the folder
 * @returns `undefined` where there is none
 * @throws UsageError for one that is none, with its place
 */
export function manifestIn({ root, files }: PluginFolder, name: string) {
  const file = realPathOf(join(root, name)) ?? '';
  // A link may lead elsewhere by now: only what was read counts.
  const content = files.get(relative(root, file));
  return content && parseManifest(file, content.bytes);
}

/** @throws UsageError for what is no manifest, with its place */
export function parseManifest(file: string, bytes: Buffer): Manifest {
  if (bytes.length > MAX_PROJECT_FILE_BYTES) {
    throw new UsageError(`${toOneLine(file)}:1:1: it has more than 1 MB, and is no manifest`);
  }
  const document = parseJsonDocument(new TextDecoder().decode(bytes));
  const { value, syntaxError } = document;
  if (!isRecord(value)) {
    const { line, column } = syntaxError ?? document.locate([]);
    const why = syntaxError ? `not valid JSON: ${syntaxError.message}` : 'expected an object';
    throw new UsageError(`${toOneLine(file)}:${line}:${column}: ${why}; fix it first`);
  }
  const manifest = { file, value, document };
  const unsafe = findUnsafe(value);
  if (unsafe) throw faultIn(manifest, unsafe, 'a key of this name is refused; remove it');
  return manifest;
}

function findUnsafe(value: unknown): Path | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, each] of Object.entries(value)) {
    if (UNSAFE_KEYS.has(key)) return [key];
    const found = findUnsafe(each);
    if (found) return [Array.isArray(value) ? Number(key) : key, ...found];
  }
  return undefined;
}

/** @param message what is wrong, and what to do */
export function faultIn({ file, document }: Manifest, path: Path, message: string): UsageError {
  const { line, column } = document.locate(path);
  return new UsageError(
    `${toOneLine(file)}:${line}:${column}: ${toOneLine(formatPath(path))}: ${message}`,
  );
}

/**
 * @param path that stands in another file of the plugin, at a place there
 * @throws UsageError for one that leads out of the plugin, or to nothing
 */
export function namedManifest(
  folder: PluginFolder,
  manifest: Manifest,
  path: string,
  at: Path,
): Manifest {
  const file = join(folder.root, path);
  if (!isInside(file, folder.root)) {
    throw faultIn(manifest, at, "the path leads out of the plugin's folder");
  }
  const found = manifestIn(folder, relative(folder.root, file));
  if (!found) throw faultIn(manifest, at, 'there is no such file in the plugin');
  return found;
}

/** Names become folders, and stand in lists and on terminals. @throws UsageError for another one, with its place */
export function nameIn(manifest: Manifest, path: Path, name: unknown): string {
  if (typeof name === 'string' && /^\w[\w.-]{0,99}$/u.test(name)) return name;
  throw faultIn(manifest, path, "expected a name of letters, digits, '.', '_' and '-'");
}
