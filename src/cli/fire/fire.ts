import { writeFile } from 'node:fs/promises';
import { planContext } from '../../middleware/planner.js';
import type { Config } from '../config/config.js';
import { errorMessage } from '../util/errorMessage.js';
import { fireHook } from '../hooks/hookEventHandler.js';
import type { ProcessedHookResult } from '../protocol/processedResult.js';
import type { HookEventName, HookPayload } from '../protocol/types.js';
import { requireNamedEvent, type NamedEvent } from './eventName.js';
import type { Explanation } from './explain.js';
import { decodeFields, readFields, type PayloadOptions } from './firePayload.js';
import { describeFiring, formatReport, type FireReport } from './fireReport.js';
import { latencyOf, type Latency } from './latency.js';
import { Progress } from './progress.js';
import { printJson, printLine, printNotice, toOneLine } from './terminal.js';
import { withTrace, type TraceOption } from './traceOption.js';
import type { Recorded, ReplayOptions } from './replay.js';
import { UsageError } from './usageError.js';
import { openWorkspace, type Workspace, type WorkspaceOptions } from './workspace.js';

/** The options of `hookstack fire`. */
export interface FireOptions extends WorkspaceOptions, PayloadOptions, ReplayOptions, TraceOption {
  readonly json?: boolean;
  /** Says as well which hooks run and why not the others. */
  readonly explain?: boolean;
  /** How often the event is fired. Default 1. */
  readonly repeat?: number;
  /** A `*.hooktest.json` to write. */
  readonly record?: string;
}

/**
 * `hookstack fire`: one event through the hook stack, and what came of it on stdout.
 *
 * @param eventName may be missing where the event comes from a trace
 * @returns the exit code: 0 proceed, 1 the hook system itself failed, 2 blocked, 3 stopped
 * @throws UsageError
 */
export async function fire(eventName: string | undefined, options: FireOptions): Promise<number> {
  const { record, repeat = 1 } = options;
  if (record !== undefined) await checkRecordName(record);
  const { recorded, event, fields, moment } = await readEvent(eventName, options);
  if (record !== undefined && moment === 'asked') {
    throw new UsageError(
      '--record cannot write this event: a *.hooktest.json fires events of our names alone',
    );
  }
  const workspace = await openWorkspace(options, {
    forceHooks: true,
    firesOnce: repeat === 1,
    withMiddleware: true,
  });
  if (recorded) {
    const { noticePlaceholders } = await import('./replay.js');
    noticePlaceholders(recorded, workspace);
  }
  const payload = decodeFields(event, fields, moment);
  const explanation = options.explain ? await explainFired(workspace, event, payload) : undefined;
  const { config } = workspace;
  const { fired, durations } = await withTrace(options, config, () =>
    fireRepeatedly(config, event, payload, repeat),
  );
  const report = describeFiring(event, fired);
  const [fault] = report.results.length === 0 ? (fired?.aggregated.errors ?? []) : [];
  const latencyMs = options.repeat === undefined ? undefined : latencyOf(durations);
  if (options.json) {
    printJson({ ...report, ...(explanation && { explanation }), ...(latencyMs && { latencyMs }) });
  } else {
    await printText({ report: fault ? undefined : report, explanation, latencyMs });
  }
  if (fault) {
    printNotice('error', 'red', fault.message);
    return 1;
  }
  if (record !== undefined) await writeRecord(record, event, fields, report);
  return exitCodeOf(report);
}

/** What is fired: as options say it, or as a trace has it. */
async function readEvent(
  eventName: string | undefined,
  options: FireOptions,
): Promise<Pick<Recorded, 'event' | 'fields' | 'moment'> & { readonly recorded?: Recorded }> {
  const { event: named, moment }: Partial<NamedEvent> =
    eventName === undefined ? {} : requireNamedEvent(eventName);
  if (options.fromTrace === undefined) {
    if (options.span !== undefined) throw new UsageError('--span needs --from-trace FILE');
    if (named) return { event: named, moment, fields: await readFields(named, options, moment) };
    throw new UsageError(
      'There is no event: name one, such as BeforeTool, or a trace with --from-trace FILE',
    );
  }
  const { readRecorded } = await import('./replay.js');
  const recorded = await readRecorded(options.fromTrace, options);
  const { event } = recorded;
  if (named && named !== event) {
    throw new UsageError(
      `The event in ${options.fromTrace} is a ${event} and no ${named}; leave the name out, or name another --span`,
    );
  }
  return { ...recorded, recorded };
}

async function explainFired<E extends HookEventName>(
  workspace: Workspace,
  event: E,
  payload: HookPayload<E>,
): Promise<Explanation> {
  const { explainEvent } = await import('./explain.js');
  return explainEvent(workspace, event, planContext({ event, payload }));
}

async function fireRepeatedly<E extends HookEventName>(
  config: Config,
  event: E,
  payload: HookPayload<E>,
  times: number,
): Promise<{ fired: ProcessedHookResult | undefined; durations: readonly number[] }> {
  const progress = new Progress(times);
  const durations: number[] = [];
  let fired: ProcessedHookResult | undefined;
  while (durations.length < times) {
    if (times > 1) progress.next(event);
    const startedAt = performance.now();
    fired = await fireHook(config, event, payload);
    durations.push(performance.now() - startedAt);
  }
  if (times > 1) progress.clear();
  return { fired, durations };
}

async function printText(shown: {
  readonly report: FireReport | undefined;
  readonly explanation: Explanation | undefined;
  readonly latencyMs: Latency | undefined;
}): Promise<void> {
  const { report, explanation, latencyMs } = shown;
  if (explanation) {
    const { formatExplanation } = await import('./explainText.js');
    printLine(`${formatExplanation(explanation)}\n`);
  }
  if (report) printLine(formatReport(report));
  if (!latencyMs) return;
  const { count, min, q1, median, q3, max } = latencyMs;
  printLine(
    `\nFired ${count} times: min ${min} ms, quartiles ${q1}, ${median} and ${q3} ms, max ${max} ms`,
  );
}

async function checkRecordName(file: string): Promise<void> {
  const { HOOK_TEST_SUFFIX } = await import('./hookTest.js');
  if (file.endsWith(HOOK_TEST_SUFFIX)) return;
  throw new UsageError(
    `--record ${file} must end in ${HOOK_TEST_SUFFIX}, so that hookstack test finds it`,
  );
}

async function writeRecord(
  file: string,
  event: HookEventName,
  input: object,
  report: FireReport,
): Promise<void> {
  const { expectationsOf } = await import('./hookTest.js');
  const test = { event, input, expect: expectationsOf(report) };
  try {
    await writeFile(file, `${JSON.stringify(test, null, 2)}\n`, { flag: 'wx' });
  } catch (cause) {
    throw new UsageError(
      `--record ${file} cannot be written (${errorMessage(cause)}); name a new file in a directory that exists`,
      { cause },
    );
  }
  printNotice('recorded', 'green', toOneLine(file));
}

function exitCodeOf({ stopped, blocked }: FireReport): number {
  if (stopped) return 3;
  return blocked ? 2 : 0;
}
