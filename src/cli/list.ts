import { HookEventName } from '../hooks/types.js';
import { describeEntries, formatSource, openRegistry, type ListedHook } from './hookEntries.js';
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
  const registry = await openRegistry(config);
  const enableHooks = config.getEnableHooks();
  const hooks = describeEntries(registry, enableHooks);
  if (options.json) printJson({ enableHooks, hooks });
  else printLine(formatHooks(hooks, enableHooks));
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
    `    source: ${formatSource(hook)}`,
    `    ${toOneLine(facts.join(', '))}`,
  ].join('\n');
}

function paintHeading(text: string): string {
  return paint(process.stdout, 'bold', text);
}
