import type { ConsentReview, HookConsent } from '../config/consent.js';
import type { Config } from '../config/config.js';
import { listModules, toProjectModule } from '../config/extensionMiddleware.js';
import { readGuardedFile } from '../config/guardedFile.js';
import { parseJsonDocument, type Position } from '../config/jsonDocument.js';
import { DebugLogger } from '../debugLogger.js';
import { HookRegistry, type HookRegistryEntry } from '../hooks/hookRegistry.js';
import { isRecord } from '../hooks/merge.js';
import { openWorkspace } from './workspace.js';

/** One hook or middleware module of a project, and whether it may run. */
export interface ReviewedItem {
  readonly review: ConsentReview;
  /** Absolute path of the file that it is written in. */
  readonly file?: string;
  readonly position?: Position;
}

/** All of a project that needs consent. */
export interface ReviewedProject {
  readonly consent: HookConsent;
  readonly items: readonly ReviewedItem[];
}

/**
 * Looks at everything of a project that needs consent.
 *
 * @throws UsageError when `cwd` is no directory
 */
export async function reviewProject(cwd: string | undefined): Promise<ReviewedProject> {
  const { config } = await openWorkspace({ cwd }, { needsAllFiles: false, asksForConsent: true });
  // What is skipped is told here in full.
  const registry = new HookRegistry(config, new SilentLogger('llxprt:core:hooks:registry'));
  await registry.initialize();
  const items: ReviewedItem[] = [];
  for (const entry of registry.getAllHooks()) {
    if (entry.review) items.push({ review: entry.review, ...(await locate(entry)) });
  }
  const consent = await config.getConsent();
  return { consent, items: [...items, ...(await reviewModules(config, consent))] };
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

class SilentLogger extends DebugLogger {
  override warn(message: string, details?: object): void {
    this.debug(message, details);
  }
}

async function locate({
  origin,
  eventName,
  config,
}: HookRegistryEntry): Promise<Omit<ReviewedItem, 'review'>> {
  const file = origin?.file;
  const reading =
    file === undefined ? undefined : await readGuardedFile(file, { groupMayWrite: true });
  if (reading?.status !== 'read') return { file };
  const document = parseJsonDocument(reading.text);
  const events = isRecord(document.value) ? document.value['hooks'] : undefined;
  const groups = isRecord(events) ? events[eventName] : undefined;
  for (const [index, group] of listOf(groups).entries()) {
    const hooks = isRecord(group) ? listOf(group['hooks']) : [];
    const found = hooks.findIndex(
      (hook) =>
        isRecord(hook) && hook['command'] === config.command && hook['name'] === config.name,
    );
    if (found === -1) continue;
    return { file, position: document.locate(['hooks', eventName, index, 'hooks', found]) };
  }
  return { file };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
