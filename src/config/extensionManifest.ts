import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { HookEventName, type HookDefinition, type HookDefinitions } from '../hooks/types.js';
import type { Extension } from './config.js';
import { expecting, readFields, text, type FieldTable } from './fields.js';
import { parseHookDefinitions } from './hookSettings.js';
import {
  inFileOrder,
  readJsonFile,
  warningInto,
  warnOfRepeatedKeys,
  type Warn,
} from './jsonFile.js';
import type { JsonDocument } from './jsonDocument.js';
import { parseMiddlewareEntries } from './middlewareEntries.js';
import type { FileProblem, SettingsFile } from './settings.js';

/** What came of reading an extension's folder. */
export interface ExtensionReading {
  readonly extension?: Extension;
  /** A problem with the extension's name, for whoever knows the others. */
  readonly nameProblem?: (message: string) => FileProblem;
  readonly problems: readonly FileProblem[];
}

const MANIFESTS = ['llxprt-extension.json', 'gemini-extension.json'] as const;

/**
 * Reads the manifest of one extension, and its `hooks/hooks.json`.
 *
 * @param folder absolute path
 * @returns without an `extension` when there is none, or nothing of its manifest counts. Never rejects.
 */
export async function readExtension(
  scope: NonNullable<Extension['scope']>,
  folder: string,
): Promise<ExtensionReading> {
  for (const name of MANIFESTS) {
    const source = { scope, file: join(folder, name) };
    const reading = await readJsonFile(source, 'the manifest of an extension');
    if (reading.status === 'missing') continue;
    if (reading.status !== 'read') return { problems: [reading.problem] };
    return readManifest({ ...reading, scope, source, folder });
  }
  const place = { scope, file: join(folder, MANIFESTS[0]), line: 1, column: 1, path: '' };
  const message = `there is no ${MANIFESTS.join(' or ')}; add one, or remove the folder`;
  return { problems: [{ ...place, message, severity: 'warning' }] };
}

interface Manifest {
  readonly scope: NonNullable<Extension['scope']>;
  readonly source: SettingsFile;
  readonly folder: string;
  readonly value: Record<string, unknown>;
  readonly document: JsonDocument;
}

async function readManifest(manifest: Manifest): Promise<ExtensionReading> {
  const { scope, source, folder, document } = manifest;
  const problems: FileProblem[] = [];
  const warn = warningInto(problems, source, document);
  warnOfRepeatedKeys(document, (key) => MANIFEST_KEYS.has(key), warn);
  const extension = await parseManifest(manifest, warn);
  if (!extension) return { problems: problems.map((each) => ({ ...each, severity: 'error' })) };

  const packed = await readHooksFile(scope, folder);
  const place = { ...source, ...document.locate(['name']), path: 'name' };
  return {
    extension: { ...extension, hooks: joinHooks(extension.hooks, packed.hooks) },
    nameProblem: (message) => ({ ...place, message, severity: 'warning' }),
    problems: [...inFileOrder(problems), ...packed.problems],
  };
}

const MANIFEST_KEYS = new Set(['name', 'version', 'hooks', 'middleware']);

/** Names appear in lists, on terminals and before a slash. */
const extensionName = expecting<string>(
  "a name of letters, digits, '.', '_' and '-'",
  (value) => typeof value === 'string' && /^[\w.-]{1,100}$/.test(value),
);

const IDENTITY_FIELDS: FieldTable<{ readonly name: string; readonly version?: string }> = {
  name: { struct: extensionName, required: true },
  version: { struct: text },
};

async function parseManifest(
  { scope, source, folder, value, document }: Manifest,
  warn: Warn,
): Promise<Extension | undefined> {
  const identity = readFields(value, IDENTITY_FIELDS, 'extension', warn);
  if (!identity) return undefined;
  const origin = { scope: 'extension', file: source.file } as const;
  const { hooks, problems } = parseHookDefinitions(value['hooks'] ?? {}, origin);
  for (const { path, message, kind } of problems) warn(['hooks', ...path], message, kind);
  const directory = await realpath(folder);
  const middleware = await parseMiddlewareEntries(value['middleware'], {
    source,
    directory,
    document,
    warn,
  });
  return { ...identity, isActive: true, scope, directory, hooks, middleware };
}

/** What Gemini's extensions have in a file of their own: `{ "hooks": { event: groups } }`. */
async function readHooksFile(
  scope: SettingsFile['scope'],
  folder: string,
): Promise<{ hooks: HookDefinitions; problems: readonly FileProblem[] }> {
  const file = join(folder, 'hooks', 'hooks.json');
  const reading = await readJsonFile({ scope, file }, 'an object { "hooks": {…} }');
  if (reading.status === 'missing') return { hooks: {}, problems: [] };
  if (reading.status !== 'read') return { hooks: {}, problems: [reading.problem] };
  const problems: FileProblem[] = [];
  const warn = warningInto(problems, { scope, file }, reading.document);
  warnOfRepeatedKeys(reading.document, (key) => key === 'hooks', warn);
  const parsed = parseHookDefinitions(reading.value['hooks'], { scope: 'extension', file });
  for (const { path, message, kind } of parsed.problems) {
    warn(['hooks', ...path], message, kind);
  }
  return { hooks: parsed.hooks, problems: inFileOrder(problems) };
}

function joinHooks(first: HookDefinitions = {}, second: HookDefinitions): HookDefinitions {
  const joined: { [E in HookEventName]?: readonly HookDefinition[] } = { ...first };
  for (const event of Object.values(HookEventName)) {
    const groups = second[event];
    if (groups) joined[event] = [...(first[event] ?? []), ...groups];
  }
  return joined;
}
