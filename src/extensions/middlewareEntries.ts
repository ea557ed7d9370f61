import type { ExtensionMiddleware } from '../protocol/entry.js';
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import { checkPosition } from '../stack.js';
import { type type StackName, STACK_NAMES } from '../protocol/stages.js';
import {
  describe,
  expecting,
  flag,
  nonBlankText,
  oneOf,
  positiveCount,
  readFields,
  reportUnknownKeys,
  text,
  textOf,
  type FieldTable,
  type Message,
  type Path,
} from '../util/checks.js';
import { formatPath } from '../hooks/hookSettings.js';
import type { JsonDocument } from '../util/jsonDocument.js';
import { checkGuardedFile } from '../util/guardedFile.js';
import { guardOf, type Warn } from '../config/settings/jsonFile.js';
import type { SettingsFile } from '../config/settings/settings.js';

/** The manifest that the entries stand in. */
interface Manifest {
  readonly source: SettingsFile;
  /** Real path of the extension. */
  readonly directory: string;
  readonly document: JsonDocument;
  readonly warn: Warn;
}

/** Checks what stands under `middleware`, entry by entry. Imports nothing. */
export async function parseMiddlewareEntries(
  raw: unknown = [],
  manifest: Manifest,
): Promise<ExtensionMiddleware[]> {
  if (!Array.isArray(raw)) {
    manifest.warn(['middleware'], `expected an array, got ${describe(raw)}; it is ignored`);
    return [];
  }
  const parsed: ExtensionMiddleware[] = [];
  // One after the other: each opens a file.
  for (const [index, entry] of raw.entries()) {
    parsed.push(...(await parseEntry(entry, ['middleware', index], manifest)));
  }
  return parsed;
}

/** The keys of an entry, the positions still unchecked. */
interface EntryFields {
  readonly stack: StackName;
  readonly module: string;
  readonly name?: string;
  readonly before?: string;
  readonly after?: string;
  readonly policy?: boolean;
  readonly deadlineMs?: number;
  readonly options?: unknown;
}

const ENTRY_FIELDS: FieldTable<EntryFields> = {
  stack: { struct: oneOf(...STACK_NAMES), required: true },
  module: { struct: nonBlankText, required: true },
  name: { struct: nonBlankText },
  before: { struct: text, vital: true },
  after: { struct: text, vital: true },
  policy: { struct: flag },
  deadlineMs: { struct: positiveCount },
  options: { struct: expecting('anything', () => true) },
};

async function parseEntry(
  raw: unknown,
  path: Path,
  manifest: Manifest,
): Promise<ExtensionMiddleware[]> {
  if (!isRecord(raw)) {
    const expected = '{ "module": "./file.js", "stack": "tool" }';
    manifest.warn(path, `expected ${expected}, got ${describe(raw)}; it is ignored`);
    return [];
  }
  let fault = '';
  const report = (at: Path, message: Message) => {
    fault = textOf(message);
    manifest.warn([...path, ...at], message);
  };
  reportUnknownKeys(raw, ENTRY_FIELDS, report);
  const entry = await readEntry(raw, report, manifest);
  const place = { ...manifest.source, ...manifest.document.locate(path), path: formatPath(path) };
  if (entry) return [{ ...entry, place }];
  if (raw['policy'] !== true) return [];
  return inPlaceOf(raw, manifest.directory, { policy: true, place, fault });
}

/** @returns `undefined` when it cannot be used; what was reported last says why */
async function readEntry(
  raw: Record<string, unknown>,
  report: (at: Path, message: Message) => void,
  { source, directory }: Manifest,
): Promise<Omit<ExtensionMiddleware, 'place'> | undefined> {
  const fields = readFields(raw, ENTRY_FIELDS, 'middleware', report);
  if (!fields) return undefined;
  const { before, after, ...others } = fields;
  const position = { before, after };
  try {
    checkPosition(fields.stack, position);
  } catch (error) {
    const key = before === undefined ? 'after' : 'before';
    report([key], `${errorMessage(error)}; the whole middleware is ignored`);
    return undefined;
  }
  const found = await findModule(source.scope, directory, fields.module);
  if ('objection' in found) {
    report(['module'], `${found.objection}; the whole middleware is ignored`);
    return undefined;
  }
  return { ...others, ...position, module: found.module };
}

/** Real path of a module; only a file inside of the extension's folder that nobody else could have written. */
async function findModule(
  scope: SettingsFile['scope'],
  directory: string,
  path: string,
): Promise<{ readonly module: string } | { readonly objection: string }> {
  const named = resolve(directory, path);
  const module = await realpath(named).catch(() => named);
  const inside = relative(directory, module);
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    return { objection: `${describe(path)} is outside of the extension's folder` };
  }
  const reading = await checkGuardedFile(module, guardOf(scope));
  if (reading.status === 'missing') {
    return { objection: `there is no file ${describe(path)} in the extension's folder` };
  }
  if (reading.status === 'refused') {
    return { objection: `${describe(path)} is refused: ${reading.reason}` };
  }
  return { module };
}

/** In place of what an extension has that cannot be read: policies may be among it. */
export function blockInPlaceOf(place: SettingsFile, fault: string): ExtensionMiddleware[] {
  const at = { ...place, line: 1, column: 1, path: '' };
  return inPlaceOf({}, dirname(place.file), { policy: true, place: at, fault });
}

/** A policy without a stack might stand in any: nothing gets past it in either of those that surround operations. */
function inPlaceOf(
  raw: Record<string, unknown>,
  directory: string,
  broken: Pick<ExtensionMiddleware, 'policy' | 'place' | 'fault'>,
): ExtensionMiddleware[] {
  // By these two it is known as one that was allowed.
  const module = resolve(directory, typeof raw['module'] === 'string' ? raw['module'] : 'module');
  const name = typeof raw['name'] === 'string' ? { name: raw['name'] } : {};
  const named = STACK_NAMES.filter((stack) => stack === raw['stack']);
  const stacks: readonly StackName[] = named.length > 0 ? named : ['tool', 'model'];
  return stacks.map((stack) => ({ ...broken, ...name, stack, module }));
}
