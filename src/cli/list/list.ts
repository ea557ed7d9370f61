import { commandLine } from '../../protocol/identity.js';
import { HookEventName } from '../../protocol/types.js';
import {
  columnTexts,
  describeEntries,
  formatSource,
  type ListedHook,
} from '../shared/hookColumns.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { paint, printJson, printLine, toVisible } from '../shared/terminal.js';
import { openRegistry, openWorkspace } from '../shared/workspace.js';

export interface ListOptions extends WorkspaceOptions {
  readonly trace?: string;
}

/** The columns are in `shared/hookColumns.ts`. */
export async function list({ trace, json, ...options }: ListOptions): Promise<void> {
  const { config } = await openWorkspace(options, { needsAllFiles: false });
  const registry = await openRegistry(config);
  const enableHooks = config.getEnableHooks();
  const countOf = trace ? await (await import('./countRuns.js')).countRuns(trace) : undefined;
  const hooks = describeEntries(registry, enableHooks, countOf);
  if (json) printJson({ enableHooks, hooks });
  else printLine(formatHooks(hooks, enableHooks));
}

function formatHooks(hooks: readonly ListedHook[], enableHooks: boolean): string {
  const lines = Object.values(HookEventName).flatMap((event) => {
    const ofEvent = hooks.filter((hook) => hook.event === event);
    return ofEvent.length === 0 ? [] : ['', paint('bold', event), ...ofEvent.map(formatHook)];
  });
  const state = enableHooks ? 'Hooks are on.' : 'Hooks are off: set "enableHooks": true.';
  return [hooks.length === 0 ? `${state} None is configured.` : state, ...lines].join('\n');
}

function formatHook(hook: ListedHook): string {
  const state = hook.enabled
    ? paint('green', 'active')
    : paint('yellow', `not run: ${hook.reason}`);
  const written = commandLine({ ...hook, args: hook.args ?? undefined });
  return [
    `  ${toVisible(hook.hook)} [${state}]`,
    ...(hook.hook === written ? [] : [`    command: ${toVisible(written)}`]),
    `    source: ${formatSource(hook)}`,
    `    ${columnTexts(hook)}`,
  ].join('\n');
}
