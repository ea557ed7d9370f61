import { HookRegistry, type HookRegistryEntry } from '../hooks/hookRegistry.js';
import { hookIdentity } from '../hooks/identity.js';
import { HookEventName, HookType } from '../hooks/types.js';
import { normalizeTimeout } from '../process/normalizeTimeout.js';
import { CliLogger } from './cliLogger.js';
import { paint, printJson, printLine, toOneLine } from './terminal.js';
import { openWorkspace, type WorkspaceOptions } from './workspace.js';

/** The options of `hookstack list`. */
export interface ListOptions extends WorkspaceOptions {
  readonly json?: boolean;
}

/**
 * `hookstack list`: every configured hook on stdout.
 *
 * @throws UsageError
 */
export async function list(options: ListOptions): Promise<void> {
  const { config } = await openWorkspace(options, { needsAllFiles: false });
  // The hook system has no registry while hooks are off, and then too they are worth a look.
  const registry = new HookRegistry(config, new CliLogger('llxprt:core:hooks:registry'));
  await registry.initialize();
  const enableHooks = config.getEnableHooks();
  const hooks = Object.values(HookEventName).flatMap((event) =>
    registry
      .getAllHooks()
      .filter((entry) => entry.eventName === event)
      .map((entry, index, ofEvent) =>
        describeEntry(entry, enableHooks, ofEvent.slice(0, index).find(isSameCommand(entry))),
      ),
  );
  if (options.json) printJson({ enableHooks, hooks });
  else printLine(formatHooks(hooks, enableHooks));
}

/** One hook, as `list --json` writes it. */
type ListedHook = ReturnType<typeof describeEntry>;

function describeEntry(
  entry: HookRegistryEntry,
  enableHooks: boolean,
  earlier: HookRegistryEntry | undefined,
) {
  const { config, eventName, origin, source, matcher, sequential = false } = entry;
  const reason = findReason(entry, enableHooks);
  return {
    event: eventName,
    hook: hookIdentity(config),
    command: config.command,
    source: origin?.scope ?? source,
    file: origin?.file ?? null,
    matcher: matcher ?? null,
    sequential,
    dialect: config.dialect ?? null,
    timeoutMs: normalizeTimeout(config.timeout).timeoutMs,
    enabled: reason === null,
    reason,
    duplicateOf: earlier ? hookIdentity(earlier.config) : null,
  };
}

/** Where both match, a command runs once for an event, and the first entry counts. */
function isSameCommand({ config }: HookRegistryEntry): (other: HookRegistryEntry) => boolean {
  return (other) =>
    other.enabled &&
    config.type === HookType.Command &&
    other.config.command === config.command &&
    other.config.dialect === config.dialect;
}

/** Why a hook would not run; `null` for one that would. */
function findReason({ skipped, config }: HookRegistryEntry, enableHooks: boolean): string | null {
  if (skipped === 'disabled') return 'disabled by name';
  if (skipped !== undefined) return skipped;
  if (config.type !== HookType.Command) return `type ${config.type} cannot be run`;
  return enableHooks ? null : 'hooks are off';
}

function formatHooks(hooks: readonly ListedHook[], enableHooks: boolean): string {
  const lines = Object.values(HookEventName).flatMap((event) => {
    const ofEvent = hooks.filter((hook) => hook.event === event);
    return ofEvent.length === 0 ? [] : ['', paintHeading(event), ...ofEvent.map(formatHook)];
  });
  const state = enableHooks ? 'Hooks are on.' : 'Hooks are off: set "enableHooks": true.';
  return [hooks.length === 0 ? `${state} None is configured.` : state, ...lines].join('\n');
}

function formatHook(hook: ListedHook): string {
  const state = hook.enabled
    ? paint(process.stdout, 'green', 'active')
    : paint(process.stdout, 'yellow', `not run: ${hook.reason}`);
  const facts = [
    `matcher: ${hook.matcher === null ? 'all' : JSON.stringify(hook.matcher)}`,
    `timeout: ${hook.timeoutMs} ms`,
    ...(hook.sequential ? ['sequential'] : []),
    ...(hook.dialect === null ? [] : [`dialect: ${hook.dialect}`]),
    ...(hook.duplicateOf === null ? [] : [`runs once where "${hook.duplicateOf}" matches too`]),
  ];
  return [
    `  ${toOneLine(hook.hook)} [${state}]`,
    ...(hook.hook === hook.command ? [] : [`    command: ${toOneLine(hook.command)}`]),
    `    source: ${hook.source}${hook.file === null ? '' : ` ${toOneLine(hook.file)}`}`,
    `    ${toOneLine(facts.join(', '))}`,
  ].join('\n');
}

function paintHeading(text: string): string {
  return paint(process.stdout, 'bold', text);
}
