import { realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HookEventName, type HookDefinition, type HookDefinitions } from '../protocol/types.js';
import type { Extension } from '../protocol/entry.js';
import { expecting, readFields, text, type FieldTable } from '../util/checks.js';
import { countHooks, readHookDefinitions } from '../hooks/hookSettings.js';
import {
  fileError,
  MAX_PROJECT_FILE_BYTES,
  MAX_PROJECT_HOOKS,
  ProblemList,
  readJsonFile,
  warnOfRepeatedKeys,
  type JsonFileReading,
  type Warn,
} from '../config/settings/jsonFile.js';
import type { JsonDocument } from '../util/jsonDocument.js';
import { blockInPlaceOf, parseMiddlewareEntries } from './middlewareEntries.js';
import type { FileProblem, SettingsFile } from '../config/settings/settings.js';

/** What came of reading an extension's folder. */
export interface ExtensionReading {
  readonly extension?: Extension;
  /** A problem with the extension's name, for whoever knows the others. */
  readonly nameProblem?: (message: string) => FileProblem;
  readonly problems: readonly FileProblem[];
}

const MANIFESTS = ['llxprt-extension.json', 'gemini-extension.json'] as const;

/** What may still be read of the extensions of a project, before anybody has allowed anything of them. */
export class ExtensionBudget {
  #bytes = MAX_PROJECT_FILE_BYTES;
  #entries = MAX_PROJECT_HOOKS;

  /** Whether there is nothing left of it. */
  get isSpent(): boolean {
    return this.#bytes <= 0 || this.#entries < 0;
  }

  spend(reading: Exclude<JsonFileReading, { status: 'missing' }>): void {
    this.#bytes -= reading.size ?? 0;
    if (reading.status !== 'read') return;
    const { hooks, middleware } = reading.value;
    this.#entries -= countHooks(hooks) + (Array.isArray(middleware) ? middleware.length : 0);
  }
}

/**
 * Reads the manifest of one extension, and its `hooks/hooks.json`.
 *
 * @param folder absolute path
 * @param budget what of a project is read at most
 * @returns without an `extension` when there is none, or nothing of its manifest counts. Never rejects.
 */
export async function readExtension(
  scope: NonNullable<Extension['scope']>,
  folder: string,
  budget?: ExtensionBudget,
): Promise<ExtensionReading> {
  for (const name of MANIFESTS) {
    const source = { scope, file: join(folder, name) };
    const reading = await readWithin(source, 'the manifest of an extension', budget);
    if (reading.status === 'missing') continue;
    if (reading.status === 'read')
      return readManifest({ ...reading, scope, source, folder, budget });
    return inPlaceOfExtension(source, reading, basename(folder));
  }
  const place = { scope, file: join(folder, MANIFESTS[0]), line: 1, column: 1, path: '' };
  const message = `there is no ${MANIFESTS.join(' or ')}; add one, or remove the folder`;
  return { problems: [{ ...place, message, severity: 'warning' }] };
}

async function readWithin(
  source: SettingsFile,
  what: string,
  budget: ExtensionBudget | undefined,
): Promise<JsonFileReading> {
  const reading = await readJsonFile(source, what);
  if (!budget || reading.status === 'missing') return reading;
  budget.spend(reading);
  if (!budget.isSpent) return reading;
  const message = `refused: the extensions of a project may hold ${MAX_PROJECT_HOOKS.toLocaleString('en')} hooks and middleware together, and 1 MB of text; nothing in this file counts until there are fewer`;
  return { status: 'invalid', problem: fileError(source, message) };
}

/**
 * What stands for an extension that cannot be read: nothing, unless it is for want of descriptors and not the project's.
 * Then it blocks, since a policy of the user may be in it.
 */
export function inPlaceOfExtension(
  source: SettingsFile & { readonly scope: NonNullable<Extension['scope']> },
  { problem, isShortage }: { readonly problem: FileProblem; readonly isShortage?: boolean },
  name: string,
): ExtensionReading {
  const { scope } = source;
  if (scope === 'project' || !isShortage) return { problems: [problem] };
  const middleware = blockInPlaceOf(source, problem.message);
  return { extension: { name, isActive: true, scope, middleware }, problems: [problem] };
}

interface Manifest {
  readonly scope: NonNullable<Extension['scope']>;
  readonly source: SettingsFile;
  readonly folder: string;
  readonly value: Record<string, unknown>;
  readonly document: JsonDocument;
  readonly budget: ExtensionBudget | undefined;
}

async function readManifest(manifest: Manifest): Promise<ExtensionReading> {
  const { scope, source, folder, document, budget } = manifest;
  const list = new ProblemList(source, document);
  warnOfRepeatedKeys(document, (key) => MANIFEST_KEYS.has(key), list.warn);
  const extension = await parseManifest(manifest, list.warn);
  const problems = list.inOrder();
  if (!extension) return { problems: problems.map((each) => ({ ...each, severity: 'error' })) };

  const packed = await readHooksFile(scope, folder, budget);
  const place = { ...source, ...document.locate(['name']), path: 'name' };
  const { hooks, middleware = [] } = extension;
  return {
    extension: {
      ...extension,
      hooks: joinHooks(hooks, packed.hooks),
      middleware: [...middleware, ...packed.middleware],
    },
    nameProblem: (message) => ({ ...place, message, severity: 'warning' }),
    problems: [...problems, ...packed.problems],
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
  const hooks = readHookDefinitions(value['hooks'] ?? {}, origin, (path, message, kind) =>
    warn(['hooks', ...path], message, kind),
  );
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
  scope: NonNullable<Extension['scope']>,
  folder: string,
  budget: ExtensionBudget | undefined,
): Promise<Required<Pick<Extension, 'hooks' | 'middleware'>> & Pick<ExtensionReading, 'problems'>> {
  const source = { scope, file: join(folder, 'hooks', 'hooks.json') };
  const reading = await readWithin(source, 'an object { "hooks": {…} }', budget);
  if (reading.status === 'missing') return { hooks: {}, middleware: [], problems: [] };
  if (reading.status !== 'read') {
    const { extension, problems } = inPlaceOfExtension(source, reading, '');
    return { hooks: {}, middleware: extension?.middleware ?? [], problems };
  }
  const list = new ProblemList(source, reading.document);
  warnOfRepeatedKeys(reading.document, (key) => key === 'hooks', list.warn);
  const origin = { scope: 'extension', file: source.file } as const;
  const hooks = readHookDefinitions(reading.value['hooks'], origin, (path, message, kind) =>
    list.warn(['hooks', ...path], message, kind),
  );
  return { hooks, middleware: [], problems: list.inOrder() };
}

function joinHooks(first: HookDefinitions = {}, second: HookDefinitions): HookDefinitions {
  const joined: { [E in HookEventName]?: readonly HookDefinition[] } = { ...first };
  for (const event of Object.values(HookEventName)) {
    const groups = second[event];
    if (groups) joined[event] = [...(first[event] ?? []), ...groups];
  }
  return joined;
}
