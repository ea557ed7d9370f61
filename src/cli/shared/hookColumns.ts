import type { Config } from '../config/config.js';
import { defaultTimeoutOf } from '../dialects/words.js';
import { HookRegistry, type HookRegistryEntry } from '../hooks/hookRegistry.js';
import { hookIdentity } from '../protocol/identity.js';
import { findSubstitutes } from '../protocol/sameCommand.js';
import { HookEventName, HookType } from '../protocol/types.js';
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
  return Object.values(HookEventName).flatMap((event) => {
    const ofEvent = registry.getAllHooks().filter(({ eventName }) => eventName === event);
    const substitutes = findSubstitutes(ofEvent.filter(({ enabled }) => enabled));
    return ofEvent.map((entry) => describeEntry(entry, enableHooks, substitutes.get(entry)));
  });
}

/** One hook, as `list --json` writes it. */
export type ListedHook = ReturnType<typeof describeEntry>;

/** @param substitute the entry that runs in its place, where both match */
export function describeEntry(entry: HookRegistryEntry, enableHooks: boolean, substitute = entry) {
  const { config, eventName, origin, extension, source, matcher, sequential = false } = entry;
  const { review } = entry;
  const reason = findReason(entry, enableHooks);
  return {
    event: eventName,
    hook: hookIdentity(config),
    command: config.command,
    args: config.args ?? null,
    source: origin?.scope ?? source,
    file: origin?.file ?? null,
    extension: extension?.name ?? null,
    matcher: matcher ?? null,
    sequential,
    dialect: config.dialect ?? null,
    moment: config.moment ?? null,
    timeoutMs: normalizeTimeout(config.timeout, defaultTimeoutOf(config, eventName)).timeoutMs,
    enabled: reason === null,
    reason,
    class: review && review.status !== 'refused' ? review.class : null,
    duplicateOf: substitute === entry ? null : hookIdentity(substitute.config),
  };
}

/** Why a hook would not run; `null` for one that would. */
export function findReason(
  { skipped, config, review }: HookRegistryEntry,
  enableHooks: boolean,
): string | null {
  if (skipped === 'disabled') return 'disabled by name';
  if (skipped === 'refused') return review?.reason?.replace(/^is (?=refused)/u, '') ?? skipped;
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
