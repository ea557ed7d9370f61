import { planContext } from '../../../middleware/planner.js';
import type { Config } from '../../config/config.js';
import { fireHook } from '../../hooks/fireHook.js';

import type { ProcessedHookResult } from '../../protocol/hookOutput.js';
import type { EventFields, HookEventName, HookPayload, Moment } from '../../protocol/types.js';
import { decodeFields, requireNamedEvent } from '../shared/eventFields.js';
import type { Explanation } from '../shared/explanation.js';
import {
  describeFiring,
  formatReport,
  tellOrdinary,
  type FireReport,
} from '../shared/fireReport.js';
import { clearProgress, showProgress } from '../shared/progress.js';
import { printJson, printLine, printNotice } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { tellWaiting } from '../shared/waitingHooks.js';
import { withTrace } from '../shared/withTrace.js';
import { openWorkspace, type Workspace } from '../shared/workspace.js';
import { readFields, type FireOptions } from './fireOptions.js';

/** @returns the exit code: 0 proceed, 1 the hook system itself failed, 2 blocked, 3 stopped */
export async function fire(eventName: string | undefined, options: FireOptions): Promise<number> {
  const { record, repeat = 1 } = options;
  const recorder = record === undefined ? undefined : await import('./record.js');
  const { event, fields, moment, text } = await readEvent(eventName, options);
  if (record !== undefined) recorder?.checkRecord(record, moment);
  const workspace = await openWorkspace(options, {
    forceHooks: true,
    firesOnce: repeat === 1,
    asyncHooks: 'wait',
    withMiddleware: true,
  });
  if (text !== undefined) {
    const { noticePlaceholders } = await import('./replay.js');
    noticePlaceholders(text, workspace);
  }
  const payload = decodeFields(event, fields, moment);
  const explanation = options.explain ? await explainFired(workspace, event, payload) : undefined;
  const { config, settings } = workspace;
  const recording = { trace: options.trace, fleet: settings.fleet };
  const { fired, durations } = await withTrace(recording, config, () =>
    tellWaiting(config, options.json === true, () =>
      fireRepeatedly(config, event, payload, repeat),
    ),
  );
  const report = describeFiring(event, fired);
  const [fault] = report.results.length === 0 ? (fired?.aggregated.errors ?? []) : [];
  const idle = !fault && report.results.length === 0;
  const silence = idle ? await explainSilence(workspace, event, payload) : undefined;
  const latencyMs = options.repeat === undefined ? undefined : latencyOf(durations);
  if (options.json) printJson({ ...report, notRun: silence?.notRun, explanation, latencyMs });
  else
    await printText({
      report: fault ? undefined : report,
      nothingRan: silence?.text,
      explanation,
      latencyMs,
    });
  if (fault) {
    printNotice('error', fault.message);
    return 1;
  }
  const ran = fired?.aggregated.results ?? [];
  if (repeat === 1) tellOrdinary(ran.map(({ hookConfig }) => hookConfig));
  if (record !== undefined) await recorder?.writeRecord(record, event, fields, report);
  if (report.stopped) return 3;
  return report.blocked ? 2 : 0;
}

interface ChosenEvent {
  readonly event: HookEventName;
  readonly fields: EventFields<HookEventName>;
  readonly moment?: Moment;
  /** The input, as a trace has it. */
  readonly text?: string;
}

async function readEvent(
  eventName: string | undefined,
  options: FireOptions,
): Promise<ChosenEvent> {
  const named = eventName === undefined ? undefined : requireNamedEvent(eventName);
  const { fromTrace } = options;
  if (fromTrace !== undefined) {
    const { readRecorded } = await import('./replay.js');
    const recorded = await readRecorded(fromTrace, options);
    if (!named || named.event === recorded.event) return recorded;
    throw new UsageError(
      `The event in ${fromTrace} is a ${recorded.event} and no ${named.event}; leave the name out, or name another --span`,
    );
  }
  if (options.span !== undefined) throw new UsageError('--span needs --from-trace FILE');
  if (named) return { ...named, fields: await readFields(named.event, options, named.moment) };
  throw new UsageError(
    'There is no event: name one, such as BeforeTool, or a trace with --from-trace FILE',
  );
}

async function explainFired<E extends HookEventName>(
  workspace: Workspace,
  event: E,
  payload: HookPayload<E>,
): Promise<Explanation> {
  const { callOf, explainEvent } = await import('../shared/explanation.js');
  const call = callOf(workspace.config, event, payload);
  return explainEvent(workspace, event, planContext({ event, payload }), call);
}

/** Why no hook ran. */
async function explainSilence<E extends HookEventName>(
  workspace: Workspace,
  event: E,
  payload: HookPayload<E>,
) {
  const { describeNothingRan, findNotRun } = await import('../shared/explanation.js');
  const found = await findNotRun(workspace, event, payload);
  const notRun = found.notRun.map(({ hook, reason }) => ({ hook, reason }));
  return { notRun, text: describeNothingRan(event, payload, found) };
}

async function fireRepeatedly<E extends HookEventName>(
  config: Config,
  event: E,
  payload: HookPayload<E>,
  times: number,
): Promise<{ fired: ProcessedHookResult | undefined; durations: readonly number[] }> {
  const durations: number[] = [];
  let fired: ProcessedHookResult | undefined;
  for (let index = 0; index < times; index++) {
    showProgress(index, times, event);
    const startedAt = performance.now();
    fired = await fireHook(config, event, payload);
    durations.push(performance.now() - startedAt);
  }
  clearProgress(times);
  return { fired, durations };
}

/** @param durations in ms, at least one */
function latencyOf(durations: readonly number[]) {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (fraction: number) => Math.round(quantile(sorted, fraction) * 10) / 10;
  const [min, q1, median, q3, max] = [at(0), at(0.25), at(0.5), at(0.75), at(1)];
  return { count: sorted.length, min, q1, median, q3, max };
}

/** Linear interpolation. */
function quantile(sorted: readonly number[], fraction: number): number {
  const position = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(position)] ?? 0;
  const above = sorted[Math.ceil(position)] ?? 0;
  return below + (above - below) * (position % 1);
}

async function printText(shown: {
  readonly report: FireReport | undefined;
  readonly nothingRan: string | undefined;
  readonly explanation: Explanation | undefined;
  readonly latencyMs: ReturnType<typeof latencyOf> | undefined;
}): Promise<void> {
  const { report, nothingRan, explanation, latencyMs } = shown;
  if (explanation) {
    const { formatExplanation } = await import('../shared/explanationText.js');
    printLine(`${formatExplanation(explanation)}\n`);
  }
  if (report) printLine(formatReport(report, nothingRan));
  if (!latencyMs) return;
  const { count, min, q1, median, q3, max } = latencyMs;
  printLine(
    `\nFired ${count} times: min ${min} ms, quartiles ${q1}, ${median} and ${q3} ms, max ${max} ms`,
  );
}
