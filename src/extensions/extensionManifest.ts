import { realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Extension, ExtensionMiddleware } from '../hooks/entry.js';
import {
  FileCheck,
  MAX_PROJECT_FILE_BYTES,
  MAX_PROJECT_HOOKS,
  readSettingsFile,
  type SettingsFileReading,
} from '../config/settings/settingsFile.js';
import { countHooks, joinHookDefinitions } from '../hooks/hookSettings.js';
import { expecting, readFields, text, type FieldTable } from '../util/checks.js';
import { fileError, type FileProblem, type SettingsFile } from '../util/fileProblem.js';
import { blockInPlaceOf, parseMiddlewareEntries } from './middlewareEntries.js';

export interface ExtensionReading {
  readonly extension?: Extension;
  /** Makes a problem with the extension's name, if it is already taken. */
  readonly nameProblem?: (message: string) => FileProblem;
  readonly problems: readonly FileProblem[];
}

const MANIFESTS = ['llxprt-extension.json', 'gemini-extension.json'] as const;

/** What may still be read of the extensions of a project, before anybody has allowed anything of them. */
export class ExtensionBudget {
  #bytes = MAX_PROJECT_FILE_BYTES;
  #entries = MAX_PROJECT_HOOKS;

  get isSpent(): boolean {
    return this.#bytes <= 0 || this.#entries < 0;
  }

  spend(reading: Exclude<SettingsFileReading, { status: 'missing' }>): void {
    this.#bytes -= reading.text?.length ?? 0;
    if (reading.status !== 'read') return;
    const { hooks, middleware } = reading.value;
    this.#entries -= countHooks(hooks) + (Array.isArray(middleware) ? middleware.length : 0);
  }
}

export interface ExtensionFolder {
  readonly scope: NonNullable<Extension['scope']>;
  /** Absolute. */
  readonly path: string;
  /** Only for those of a project. */
  readonly budget?: ExtensionBudget;
}

/**
 * Reads the manifest of one extension, and its `hooks/hooks.json`.
 *
 * @returns without an `extension` when there is none, or nothing of its manifest counts. Never rejects.
 */
export async function readExtension(folder: ExtensionFolder): Promise<ExtensionReading> {
  for (const name of MANIFESTS) {
    const source = sourceIn(folder, name);
    const reading = await readWithin(folder, source, 'the manifest of an extension');
    if (reading.status === 'read') return readManifest(folder, source, reading);
    if (reading.status === 'missing') continue;
    return inPlaceOfExtension(source, reading, basename(folder.path));
  }
  const message = `there is no ${MANIFESTS.join(' or ')}; add one, or remove the folder`;
  const problem = fileError(sourceIn(folder, MANIFESTS[0]), message);
  return { problems: [{ ...problem, severity: 'warning' }] };
}

interface ExtensionFile extends SettingsFile {
  readonly scope: ExtensionFolder['scope'];
}

function sourceIn({ scope, path }: ExtensionFolder, name: string): ExtensionFile {
  return { scope, file: join(path, name) };
}

async function readWithin(
  { budget }: ExtensionFolder,
  source: SettingsFile,
  what: string,
): Promise<SettingsFileReading> {
  const reading = await readSettingsFile(source, what);
  if (!budget || reading.status === 'missing') return reading;
  budget.spend(reading);
  if (!budget.isSpent) return reading;
  const message = `refused: the extensions of a project may hold ${MAX_PROJECT_HOOKS.toLocaleString('en')} hooks and middleware together, and 1 MB of text; nothing in this file counts until there are fewer`;
  return { status: 'invalid', problem: fileError(source, message) };
}

/** Why a file of extensions, or their folder, cannot be read. */
interface ReadingFailure {
  readonly problem: FileProblem;
  readonly isShortage?: boolean;
}

/** What takes the place of an extension that cannot be read: nothing, unless it may have policies of the user. */
export function inPlaceOfExtension(
  source: ExtensionFile,
  failure: ReadingFailure,
  name: string,
): ExtensionReading {
  const problems = [failure.problem];
  const middleware = inPlaceOfPolicies(source, failure);
  if (middleware.length === 0) return { problems };
  return { extension: { name, isActive: true, scope: source.scope, middleware }, problems };
}

/** A file of the user that cannot be read for want of descriptors blocks all calls, as it may name a policy. */
function inPlaceOfPolicies(
  source: ExtensionFile,
  { problem, isShortage = false }: ReadingFailure,
): ExtensionMiddleware[] {
  if (source.scope === 'project' || !isShortage) return [];
  return blockInPlaceOf(source, problem.message);
}

const MANIFEST_KEYS = new Set(['name', 'version', 'hooks', 'middleware', 'mcpServers']);

/** Limited, as names appear in lists, on terminals and before a slash. */
const extensionName = expecting<string>(
  "a name of letters, digits, '.', '_' and '-'",
  (value) => typeof value === 'string' && /^[\w.-]{1,100}$/.test(value),
);

const IDENTITY_FIELDS: FieldTable<{ readonly name: string; readonly version?: string }> = {
  name: { struct: extensionName, required: true },
  version: { struct: text },
};

async function readManifest(
  folder: ExtensionFolder,
  source: ExtensionFile,
  { value, document }: Extract<SettingsFileReading, { status: 'read' }>,
): Promise<ExtensionReading> {
  const check = new FileCheck(source, document, (key) => MANIFEST_KEYS.has(key));
  const identity = readFields(value, IDENTITY_FIELDS, 'extension', check.warn);
  if (!identity) {
    return { problems: check.problems().map((each) => ({ ...each, severity: 'error' })) };
  }
  const { scope, file } = source;
  const servers = value['mcpServers'];
  const hooks = check.readHooks(value['hooks'] ?? {}, { scope: 'extension', file }, servers);
  const directory = await realpath(folder.path);
  const middleware = await parseMiddlewareEntries(value['middleware'], source, directory, check);
  const packed = await readHooksFile(folder, servers);
  const nameProblem = fileError(source, '', document.locate(['name']));
  return {
    extension: {
      ...identity,
      isActive: true,
      scope,
      directory,
      hooks: joinHookDefinitions([hooks, packed.hooks ?? {}]),
      middleware: [...middleware, ...(packed.middleware ?? [])],
    },
    nameProblem: (message) => ({ ...nameProblem, path: 'name', message, severity: 'warning' }),
    problems: [...check.problems(), ...packed.problems],
  };
}

/** Extensions of Gemini CLI have their hooks in this file: `{ "hooks": { event: groups } }`. */
async function readHooksFile(
  folder: ExtensionFolder,
  servers: unknown,
): Promise<Pick<Extension, 'hooks' | 'middleware'> & Pick<ExtensionReading, 'problems'>> {
  const source = sourceIn(folder, join('hooks', 'hooks.json'));
  const reading = await readWithin(folder, source, 'an object { "hooks": {…} }');
  if (reading.status === 'missing') return { problems: [] };
  if (reading.status !== 'read') {
    return { middleware: inPlaceOfPolicies(source, reading), problems: [reading.problem] };
  }
  const check = new FileCheck(source, reading.document, (key) => key === 'hooks');
  const origin = { scope: 'extension', file: source.file } as const;
  const hooks = check.readHooks(reading.value['hooks'], origin, servers);
  return { hooks, problems: check.problems() };
}
