import { commandLine } from '../protocol/identity.js';
import { HookEventName } from '../protocol/types.js';
import { describeEntries, formatSource, openRegistry, type ListedHook } from './hookEntries.js';
import { paint, printJson, printLine, toVisible } from './terminal.js';
import type { TraceCount } from './traceCounts.js';
import { openWorkspace, type WorkspaceOptions } from './workspace.js';

/** The options of `hookstack list`. */
export interface ListOptions extends WorkspaceOptions {
  readonly json?: boolean;
  /** A trace file, for how often each hook has run. */
  readonly trace?: string;
}

/** One hook, as `list --json` writes it; with a trace, what that says of the hook. */
type CountedHook = ListedHook & Partial<TraceCount>;

/**
 * `hookstack list`: every configured hook on stdout.
 *
 * @throws UsageError
 */
export async function list(options: ListOptions): Promise<void> {
  const { config } = await openWorkspace(options, { needsAllFiles: false });
  const registry = await openRegistry(config);
  const enableHooks = config.getEnableHooks();
  const hooks = await withCounts(describeEntries(registry, enableHooks), options.trace);
  if (options.json) printJson({ enableHooks, hooks });
  else printLine(formatHooks(hooks, enableHooks));
}

async function withCounts(
  hooks: readonly ListedHook[],
  trace: string | undefined,
): Promise<readonly CountedHook[]> {
  if (!trace) return hooks;
  const { countRuns } = await import('./traceCounts.js');
  const countOf = await countRuns(trace);
  return hooks.map((hook) => ({ ...hook, ...countOf(hook.event, hook.hook) }));
}

function formatHooks(hooks: readonly CountedHook[], enableHooks: boolean): string {
  const lines = Object.values(HookEventName).flatMap((event) => {
    const ofEvent = hooks.filter((hook) => hook.event === event);
    return ofEvent.length === 0 ? [] : ['', paintHeading(event), ...ofEvent.map(formatHook)];
  });
  const state = enableHooks ? 'Hooks are on.' : 'Hooks are off: set "enableHooks": true.';
  return [hooks.length === 0 ? `${state} None is configured.` : state, ...lines].join('\n');
}

function formatHook(hook: CountedHook): string {
  const state = hook.enabled
    ? paint(process.stdout, 'green', 'active')
    : paint(process.stdout, 'yellow', `not run: ${hook.reason}`);
  const written = commandLine({ ...hook, args: hook.args ?? undefined });
  const facts = [
    `matcher: ${hook.matcher === null ? 'all' : JSON.stringify(hook.matcher)}`,
    `timeout: ${hook.timeoutMs} ms`,
    ...(hook.sequential ? ['sequential'] : []),
    ...(hook.dialect === null ? [] : [`dialect: ${hook.dialect}`]),
    ...(hook.moment === null ? [] : [`moment: ${hook.moment}`]),
    ...(hook.class === null ? [] : [`consent: ${hook.class}`]),
    ...(hook.duplicateOf === null ? [] : [`runs once where "${hook.duplicateOf}" matches too`]),
  ];
  return [
    `  ${toVisible(hook.hook)} [${state}]`,
    ...(hook.hook === written ? [] : [`    command: ${toVisible(written)}`]),
    `    source: ${formatSource(hook)}`,
    `    ${toVisible(facts.join(', '))}`,
    ...(hook.fired === undefined ? [] : [`    ${formatCount(hook.fired, hook.lastVerdict)}`]),
  ].join('\n');
}

function formatCount(fired: number, lastVerdict: string | null = null): string {
  if (lastVerdict === null) return 'not fired in the trace';
  return `fired ${fired} ${fired === 1 ? 'time' : 'times'}, last verdict: ${lastVerdict}`;
}

function paintHeading(text: string): string {
  return paint(process.stdout, 'bold', text);
}
