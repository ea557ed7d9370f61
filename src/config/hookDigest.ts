import type { CommandHookConfig, HookDefinition, HookEventName } from '../hooks/types.js';
import { isRecord } from '../hooks/merge.js';
import { findWords } from './commandWords.js';
import { digestFiles, digestFolder, sha256, type FileDigests } from './fileDigest.js';
import { findNamedFiles, type NamedFiles, type SearchPlaces } from './namedFiles.js';

/** A hook of a project, as far as it decides what runs. */
export interface ProjectHook {
  readonly event: HookEventName;
  readonly group: Omit<HookDefinition, 'hooks' | 'origin'>;
  readonly config: CommandHookConfig;
  /** The project's extension that brings it, where one does. */
  readonly extension?: { readonly name: string; readonly directory?: string };
}

/** A middleware module of a project's extension. */
export interface ProjectModule {
  readonly extension: string;
  /** Absolute path of the extension's folder. */
  readonly directory: string;
  /** Its entry in the manifest. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/** What somebody allows: exactly this, with exactly these files. */
export interface ConsentItem {
  readonly kind: 'hook' | 'middleware';
  /** Every field that decides what runs and when. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly files: FileDigests;
  /** `sha256:…` of all of that. */
  readonly digest: string;
}

/** An item as it is now, or why it must not run whatever anybody allows. */
export interface Inspection {
  readonly item: ConsentItem;
  readonly refusal?: string;
}

/** What a hook was when it was looked at, to tell cheaply whether it still is. */
export interface HookInspection extends Inspection {
  readonly signature: string;
  /** Whether the signature tells apart what happens from now on: clocks of file systems are coarse. */
  readonly isSettled: boolean;
}

/** Files that changed this many ms ago cannot change again without another time stamp. */
const SETTLING_MS = 1000;

/** Reads a hook's files, and digests them and its definition. */
export async function inspectHook(
  hook: ProjectHook,
  project: string,
  words = wordsOfHook(hook),
): Promise<HookInspection> {
  const startedAt = Date.now();
  const named = nameFiles(hook, project, words);
  if (named instanceof Error)
    return { ...inspection(hook, project, {}, named.message), signature: '', isSettled: false };
  const { files, refusal } = await digestFiles(named.files, project);
  return {
    ...inspection(hook, project, files, refusal),
    signature: named.signature,
    isSettled: named.changedAt < startedAt - SETTLING_MS,
  };
}

/** What a hook's files are like, without reading them. Equal to an earlier one while nothing has changed. */
export function signatureOfHook(
  hook: ProjectHook,
  project: string,
  words: readonly string[],
): string | undefined {
  const named = nameFiles(hook, project, words);
  return named instanceof Error ? undefined : named.signature;
}

/** Reads the whole folder of a module's extension, since a module imports others. */
export async function inspectModule(module: ProjectModule, project: string): Promise<Inspection> {
  const { files, refusal } = await digestFolder(module.directory, project);
  const definition = canonical({ ...module.entry, extension: module.extension });
  return { item: makeItem('middleware', definition, files), refusal };
}

/** The words of a hook's command and of its own variables that may name files. */
export function wordsOfHook({ config }: ProjectHook): readonly string[] {
  const texts = [config.command, ...Object.values(config.env ?? {})];
  return [...new Set(texts.flatMap(findWords))];
}

function nameFiles(
  { extension }: ProjectHook,
  project: string,
  words: readonly string[],
): NamedFiles | RangeError {
  const bases = extension?.directory === undefined ? [project] : [project, extension.directory];
  const places: SearchPlaces = { project, bases, searchPath: process.env['PATH'] };
  try {
    return findNamedFiles(words, places);
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}

function inspection(
  { event, group, config, extension }: ProjectHook,
  project: string,
  files: FileDigests,
  refusal: string | undefined,
): Inspection {
  // Where the project is on this machine changes nothing of what runs.
  const { extensionPath: _, ...fields } = config;
  const definition = canonical({ ...group, ...fields, event, extension: extension?.name });
  return { item: makeItem('hook', definition, files), refusal };
}

/** The same for the same content, in whatever order its keys were written. */
function canonical(
  definition: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return sortKeys(definition) as Readonly<Record<string, unknown>>;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.toSorted(byKey).map(([key, item]) => [key, sortKeys(item)]));
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function makeItem(
  kind: ConsentItem['kind'],
  definition: Readonly<Record<string, unknown>>,
  files: FileDigests,
): ConsentItem {
  const sorted = Object.fromEntries(Object.entries(files).toSorted(byKey));
  return { kind, definition, files: sorted, digest: digestOf({ kind, definition, files: sorted }) };
}

/** The digest of what an item says, in whatever order that was written. */
export function digestOf({ kind, definition, files }: Omit<ConsentItem, 'digest'>): string {
  return sha256(JSON.stringify([kind, sortKeys(definition), sortKeys(files)]));
}
