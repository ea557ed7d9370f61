import { suggestName } from '../config/suggestName.js';
import { isHookEventName } from '../hooks/events.js';
import { fireHook } from '../hooks/hookEventHandler.js';
import { HookEventName } from '../hooks/types.js';
import { readPayload, type PayloadOptions } from './firePayload.js';
import { describeFiring, formatReport, type FireReport } from './fireReport.js';
import { printJson, printLine, printNotice } from './terminal.js';
import { UsageError } from './usageError.js';
import { openWorkspace, type WorkspaceOptions } from './workspace.js';

/** The options of `hookstack fire`. */
export interface FireOptions extends WorkspaceOptions, PayloadOptions {
  readonly json?: boolean;
}

/**
 * `hookstack fire`: one event through the hook stack, and what came of it on stdout.
 *
 * @returns the exit code: 0 proceed, 1 the hook system itself failed, 2 blocked, 3 stopped
 * @throws UsageError
 */
export async function fire(eventName: string, options: FireOptions): Promise<number> {
  if (!isHookEventName(eventName)) {
    const hint = suggestName(eventName, Object.values(HookEventName));
    throw new UsageError(`There is no event "${eventName}"; ${hint}`);
  }
  const payload = await readPayload(eventName, options);
  const { config } = await openWorkspace(options, { forceHooks: true });
  const fired = await fireHook(config, eventName, payload);
  const report = describeFiring(eventName, fired);
  const [fault] = report.results.length === 0 ? (fired?.aggregated.errors ?? []) : [];
  if (options.json) printJson(report);
  else if (!fault) printLine(formatReport(report));
  if (!fault) return exitCodeOf(report);
  printNotice('error', 'red', fault.message);
  return 1;
}

function exitCodeOf({ stopped, blocked }: FireReport): number {
  if (stopped) return 3;
  return blocked ? 2 : 0;
}
