import { commandLine } from '../../protocol/identity.js';
import { HookEventName } from '../../protocol/types.js';
import { errorCode } from '../../util/errorMessage.js';
import {
  columnTexts,
  describeEntries,
  formatSource,
  whyHooksAreOff,
  type ListedHook,
  type TraceCount,
} from '../shared/hookColumns.js';
import { openTrace } from '../shared/readTrace.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { paint, printJson, printLine, printNotice, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { openRegistry, openWorkspace } from '../shared/workspace.js';

/**
 * The columns are in `shared/hookColumns.ts`.
 *
 * @returns the exit code: 0 listed, 2 a file that counts cannot be read
 */
export async function list({
  trace,
  json,
  ...options
}: WorkspaceOptions & { readonly trace?: string }): Promise<number> {
  const { config, origins, isIncomplete } = await openWorkspace(options, { needsAllFiles: false });
  const registry = await openRegistry(config);
  const enableHooks = config.getEnableHooks();
  const countOf = trace ? await countRuns(trace) : undefined;
  const hooks = describeEntries(registry, { enableHooks, origins }, countOf);
  if (json) printJson({ enableHooks, hooks });
  else printLine(formatHooks(hooks, enableHooks, origins.enableHooks?.file));
  return isIncomplete ? 2 : 0;
}

/** @returns 0 for a hook that the file does not know */
async function countRuns(file: string): Promise<(event: string, hook: string) => TraceCount> {
  const counts = new Map<string, TraceCount>();
  for (const { kind, event, name, verdict } of await openTraceIfThere(file)) {
    if (kind !== 'hook') continue;
    const key = `${event}\0${name}`;
    counts.set(key, { fired: (counts.get(key)?.fired ?? 0) + 1, lastVerdict: verdict });
  }
  return (event, hook) => counts.get(`${event}\0${hook}`) ?? { fired: 0, lastVerdict: null };
}

/** HOOKSTACK_TRACE may name a file that the first run is to create. */
async function openTraceIfThere(file: string): ReturnType<typeof openTrace> {
  try {
    return await openTrace(file);
  } catch (error) {
    if (!(error instanceof UsageError) || errorCode(error.cause) !== 'ENOENT') throw error;
    printNotice('note', `${file} is not there yet`);
    return [];
  }
}

function formatHooks(
  hooks: readonly ListedHook[],
  enableHooks: boolean,
  file: string | undefined,
): string {
  const lines = Object.values(HookEventName).flatMap((event) => {
    const ofEvent = hooks.filter((hook) => hook.event === event);
    return ofEvent.length === 0 ? [] : ['', paint('bold', event), ...ofEvent.map(formatHook)];
  });
  const state = enableHooks ? 'Hooks are on.' : `Hooks are off: ${whyHooksAreOff(file)}.`;
  return [hooks.length === 0 ? `${state} None is configured.` : state, ...lines].join('\n');
}

function formatHook(hook: ListedHook): string {
  const state = hook.enabled
    ? paint('green', 'active')
    : paint('yellow', `not run: ${toVisible(hook.reason ?? '')}`);
  const written = commandLine({ ...hook, args: hook.args ?? undefined });
  return [
    `  ${toVisible(hook.hook)} [${state}]`,
    ...(hook.hook === written || written === '' ? [] : [`    command: ${toVisible(written)}`]),
    `    source: ${formatSource(hook)}`,
    `    ${columnTexts(hook)}`,
  ].join('\n');
}
