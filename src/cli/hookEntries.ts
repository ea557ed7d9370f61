import type { Config } from '../config/config.js';
import { HookRegistry, type HookRegistryEntry } from '../hooks/hookRegistry.js';
import { hookIdentity } from '../hooks/identity.js';
import { HookEventName, HookType } from '../hooks/types.js';
import { normalizeTimeout } from '../process/normalizeTimeout.js';
import { CliLogger } from './cliLogger.js';
import { toVisible } from './terminal.js';

/** Reads the hooks of a project. The hook system has none while hooks are off, and then too they are worth a look. */
export async function openRegistry(config: Config): Promise<HookRegistry> {
  const registry = new HookRegistry(config, new CliLogger('llxprt:core:hooks:registry'));
  await registry.initialize();
  return registry;
}

/** All hooks, by event. */
export function describeEntries(registry: HookRegistry, enableHooks: boolean): ListedHook[] {
  return Object.values(HookEventName).flatMap((event) =>
    registry
      .getAllHooks()
      .filter((entry) => entry.eventName === event)
      .map((entry, index, ofEvent) =>
        describeEntry(entry, enableHooks, ofEvent.slice(0, index).find(isSameCommand(entry))),
      ),
  );
}

/** One hook, as `list --json` writes it. */
export type ListedHook = ReturnType<typeof describeEntry>;

export function describeEntry(
  entry: HookRegistryEntry,
  enableHooks: boolean,
  earlier?: HookRegistryEntry,
) {
  const { config, eventName, origin, extension, source, matcher, sequential = false } = entry;
  const { review } = entry;
  const reason = findReason(entry, enableHooks);
  return {
    event: eventName,
    hook: hookIdentity(config),
    command: config.command,
    source: origin?.scope ?? source,
    file: origin?.file ?? null,
    extension: extension?.name ?? null,
    matcher: matcher ?? null,
    sequential,
    dialect: config.dialect ?? null,
    timeoutMs: normalizeTimeout(config.timeout).timeoutMs,
    enabled: reason === null,
    reason,
    class: review && review.status !== 'refused' ? review.class : null,
    duplicateOf: earlier ? hookIdentity(earlier.config) : null,
  };
}

/** Where both match, a command runs once for an event, and the first entry counts. */
export function isSameCommand({
  config,
}: HookRegistryEntry): (other: HookRegistryEntry) => boolean {
  return (other) =>
    other.enabled &&
    config.type === HookType.Command &&
    other.config.command === config.command &&
    other.config.extensionPath === config.extensionPath &&
    other.config.dialect === config.dialect;
}

/** Why a hook would not run; `null` for one that would. */
export function findReason(
  { skipped, config, review }: HookRegistryEntry,
  enableHooks: boolean,
): string | null {
  if (skipped === 'disabled') return 'disabled by name';
  if (skipped !== undefined) return skipped;
  if (config.type !== HookType.Command) return `type ${config.type} cannot be run`;
  if (review && review.status !== 'allowed') return 'untrusted, and denies';
  return enableHooks ? null : 'hooks are off';
}

/** Where a hook is from, on one line. */
export function formatSource({
  source,
  extension,
  file,
}: Pick<ListedHook, 'source' | 'extension' | 'file'>): string {
  return [source, extension, file]
    .flatMap((part) => part ?? [])
    .map(toVisible)
    .join(' ');
}
