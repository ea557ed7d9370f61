import type { ExtensionMiddleware } from '../hooks/entry.js';
import { realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import { checkPosition } from '../stack.js';
import { STACK_NAMES, type StackName } from '../protocol/stages.js';
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
  formatPath,
} from '../util/checks.js';
import { checkGuardedFile } from '../util/guardedFile.js';
import { guardOf, type FileCheck } from '../config/settings/settingsFile.js';
import { isInside } from '../util/paths.js';
import type { SettingsFile } from '../util/fileProblem.js';

/**
 * Checks what stands under `middleware`, entry by entry. Imports nothing.
 *
 * @param directory real path of the extension
 * @param check that of the manifest
 */
export async function parseMiddlewareEntries(
  raw: unknown = [],
  source: SettingsFile,
  directory: string,
  check: FileCheck,
): Promise<ExtensionMiddleware[]> {
  if (!Array.isArray(raw)) {
    check.warn(['middleware'], `expected an array, got ${describe(raw)}; it is ignored`);
    return [];
  }
  const parsed: ExtensionMiddleware[] = [];
  // One after the other: each opens a file.
  for (const [index, entry] of raw.entries()) {
    parsed.push(...(await parseEntry(entry, ['middleware', index], source, directory, check)));
  }
  return parsed;
}

type EntryFields = Omit<ExtensionMiddleware, 'place' | 'fault' | 'before' | 'after'> & {
  // Still unchecked.
  readonly before?: string;
  readonly after?: string;
};

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
  source: SettingsFile,
  directory: string,
  check: FileCheck,
): Promise<ExtensionMiddleware[]> {
  if (!isRecord(raw)) {
    const expected = '{ "module": "./file.js", "stack": "tool" }';
    check.warn(path, `expected ${expected}, got ${describe(raw)}; it is ignored`);
    return [];
  }
  let fault = '';
  const report = (at: Path, message: Message) => {
    fault = textOf(message);
    check.warn([...path, ...at], message);
  };
  reportUnknownKeys(raw, ENTRY_FIELDS, report);
  const entry = await readEntry(raw, source.scope, directory, report);
  const place = { ...source, ...check.document.locate(path), path: formatPath(path) };
  if (entry) return [{ ...entry, place }];
  if (raw['policy'] !== true) return [];
  return inPlaceOf(raw, directory, { policy: true, place, fault });
}

/** @returns `undefined` when it cannot be used; what was reported last says why */
async function readEntry(
  raw: Record<string, unknown>,
  scope: SettingsFile['scope'],
  directory: string,
  report: (at: Path, message: Message) => void,
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
  const named = resolve(directory, fields.module);
  const module = await realpath(named).catch(() => named);
  const objection = await objectToModule(module, fields.module, scope, directory);
  if (objection === undefined) return { ...others, ...position, module };
  report(['module'], `${objection}; the whole middleware is ignored`);
  return undefined;
}

/** Only a file inside of the extension's folder counts, and only if nobody else could have written it. */
async function objectToModule(
  module: string,
  path: string,
  scope: SettingsFile['scope'],
  directory: string,
): Promise<string | undefined> {
  if (!isInside(module, directory)) return `${describe(path)} is outside of the extension's folder`;
  const reading = await checkGuardedFile(module, guardOf(scope));
  if (reading.status === 'missing') {
    return `there is no file ${describe(path)} in the extension's folder`;
  }
  return reading.status === 'refused'
    ? `${describe(path)} is refused: ${reading.reason}`
    : undefined;
}

/** In place of an extension that cannot be read and may have policies. */
export function blockInPlaceOf(place: SettingsFile, fault: string): ExtensionMiddleware[] {
  const at = { ...place, line: 1, column: 1, path: '' };
  return inPlaceOf({}, dirname(place.file), { policy: true, place: at, fault });
}

/** A policy of an unknown stack blocks both stacks that surround operations. */
function inPlaceOf(
  raw: Record<string, unknown>,
  directory: string,
  broken: Pick<ExtensionMiddleware, 'policy' | 'place' | 'fault'>,
): ExtensionMiddleware[] {
  // With these two it is recognized as one that was allowed.
  const module = resolve(directory, typeof raw['module'] === 'string' ? raw['module'] : 'module');
  const name = typeof raw['name'] === 'string' ? { name: raw['name'] } : {};
  const named = STACK_NAMES.filter((stack) => stack === raw['stack']);
  const stacks: readonly StackName[] = named.length > 0 ? named : ['tool', 'model'];
  return stacks.map((stack) => ({ ...broken, ...name, stack, module }));
}
