import { isDeepStrictEqual } from 'node:util';
import type { HookConsent } from '../../trust/consent.js';
import type { ConsentItem, ConsentReview, HookRegistryEntry } from '../../hooks/entry.js';
import type { Config } from '../../config/config.js';
import { settingsFileIn } from '../../config/settings/settingsPlaces.js';
import { listModules, toProjectModule } from '../../extensions/extensionMiddleware.js';
import type { JsonDocument, Position } from '../../util/jsonDocument.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { failsClosed } from '../../protocol/events.js';
import { hookIdentity } from '../../protocol/identity.js';
import { isRecord } from '../../util/records.js';
import { SilentLogger } from './cliLogger.js';
import { plural } from './terminal.js';
import { openRegistry, openWorkspace, unreadableFiles, type Workspace } from './workspace.js';

export interface ReviewedItem {
  readonly review: ConsentReview;
  /** Of a hook. */
  readonly name?: string;
  /** Whether it is a hook that denies where it fails. */
  readonly isGuard?: boolean;
  /** Absolute path. */
  readonly file?: string;
  readonly position?: Position;
}

export interface ReviewedProject {
  readonly consent: HookConsent;
  readonly items: readonly ReviewedItem[];
  /** Files of the project that cannot be read, and may hold more. */
  readonly unreadable: readonly string[];
}

/** All that needs the user's consent, whatever --trust and the environment say. */
export async function reviewProject(cwd: string | undefined): Promise<ReviewedProject> {
  return reviewWorkspace(await openToReview(cwd));
}

/** @param isQuiet whether problems of the files are told already */
export function openToReview(cwd: string | undefined, isQuiet = false): Promise<Workspace> {
  return openWorkspace({ cwd }, { needsAllFiles: false, asksForConsent: true, isQuiet });
}

/** @param workspace opened without a `settings` file, or nothing needs consent */
export async function reviewWorkspace({
  config,
  problems,
  review,
}: Pick<Workspace, 'config' | 'problems' | 'review'>): Promise<ReviewedProject> {
  // The report shows what is skipped.
  const registry = await openRegistry(config, new SilentLogger('llxprt:core:hooks:registry'));
  const documents: Documents = new Map();
  const items: ReviewedItem[] = [];
  if (review) items.push({ review, ...(await locateSettings(review, config, documents)) });
  for (const entry of registry.getAllHooks()) {
    const { review: reviewed, config: hook, eventName } = entry;
    if (!reviewed) continue;
    const facts = { name: hookIdentity(hook), isGuard: failsClosed(hook, eventName) };
    items.push({ review: reviewed, ...facts, ...(await locateHook(entry, documents)) });
  }
  const consent = await config.getConsent();
  return {
    consent,
    items: [...items, ...(await reviewModules(config, consent))],
    unreadable: unreadableFiles(problems),
  };
}

async function reviewModules(config: Config, consent: HookConsent): Promise<ReviewedItem[]> {
  const modules = listModules(config.getExtensions()).filter(
    ({ extension }) => extension.scope === 'project',
  );
  const reviews = await consent.reviewModules(modules.map(toProjectModule));
  return reviews.map((review, index) => {
    const place = modules[index]?.middleware.place;
    return { review, file: place?.file, position: place };
  });
}

/** Where the first key stands. */
async function locateSettings(
  { item }: ConsentReview,
  config: Config,
  documents: Documents,
): Promise<Omit<ReviewedItem, 'review'>> {
  const file = settingsFileIn(config.getWorkingDir());
  const document = await openDocument(file, documents);
  const [position] = Object.keys(item.definition)
    .flatMap((key) => document?.locate([key]) ?? [])
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { file, position };
}

/** Where a hook stands in its settings file; without a position where it is not found there. */
export async function locateHook(
  { origin, eventName, config }: HookRegistryEntry,
  documents: Documents,
): Promise<Omit<ReviewedItem, 'review'>> {
  const file = origin?.file;
  if (file === undefined) return {};
  const document = await openDocument(file, documents);
  if (!document) return { file };
  const events = isRecord(document.value) ? document.value['hooks'] : undefined;
  const groups = isRecord(events) ? events[eventName] : undefined;
  for (const [index, group] of listOf(groups).entries()) {
    const hooks = isRecord(group) ? listOf(group['hooks']) : [];
    const found = hooks.findIndex(
      (hook) =>
        isRecord(hook) &&
        (hook['command'] ?? '') === config.command &&
        hook['url'] === config.url &&
        hook['tool'] === config.tool &&
        hook['prompt'] === config.prompt &&
        hook['name'] === config.name &&
        isDeepStrictEqual(hook['args'], config.args),
    );
    if (found === -1) continue;
    return { file, position: document.locate(['hooks', eventName, index, 'hooks', found]) };
  }
  return { file };
}

/** Read already, by file. */
export type Documents = Map<string, Promise<JsonDocument | undefined>>;

function openDocument(file: string, documents: Documents): Promise<JsonDocument | undefined> {
  const reading = documents.get(file) ?? readDocument(file);
  documents.set(file, reading);
  return reading;
}

async function readDocument(file: string): Promise<JsonDocument | undefined> {
  const reading = await readJsonFile(file, { groupMayWrite: true });
  return reading.status === 'read' ? reading.document : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Such as `2 hooks, 1 module and the settings`. */
export function countItems(items: readonly ConsentItem[]): string {
  const countOf = (kind: ConsentItem['kind']) => items.filter((item) => item.kind === kind).length;
  const [hooks, modules] = [countOf('hook'), countOf('middleware')];
  const parts = [
    ...(hooks > 0 ? [plural(hooks, 'hook')] : []),
    ...(modules > 0 ? [plural(modules, 'module')] : []),
    ...(countOf('settings') > 0 ? ['the settings'] : []),
  ];
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}
