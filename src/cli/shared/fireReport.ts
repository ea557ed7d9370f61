import { isAsking } from '../../approvals/question.js';
import { canPrevent, events } from '../../protocol/events.js';
import { hookIdentity, isAsked, shortIdentity } from '../../protocol/identity.js';
import type { ProcessedHookResult } from '../../protocol/hookOutput.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionResult,
} from '../../protocol/types.js';
import { lastLine } from '../../run/explainStderr.js';
import { paint, printNotice, toOneLine, toVisible } from './terminal.js';

export type FireReport = ReturnType<typeof describeFiring>;

/** @param fired `undefined` when no hook had anything to do with the event */
export function describeFiring(event: HookEventName, fired: ProcessedHookResult | undefined) {
  const output = fired?.aggregated.finalOutput;
  const blocked = output?.isBlockingDecision() ?? false;
  const stopped = fired?.shouldStop ?? false;
  return {
    event,
    proceed: !blocked && !stopped,
    blocked,
    stopped,
    /** Whether hooks want a person to be asked. */
    asks: fired !== undefined && events[event].canAsk === true && isAsking(fired.aggregated),
    reason: output?.reason ?? null,
    stopReason: output?.stopReason ?? null,
    /** In plan order. */
    decidedBy: fired?.aggregated.decidedBy ?? null,
    systemMessage: fired?.systemMessage ?? null,
    suppressOutput: output?.suppressOutput ?? null,
    hookSpecificOutput: output?.hookSpecificOutput ?? null,
    success: fired?.aggregated.success ?? true,
    results: fired?.aggregated.results.map(describeHook) ?? [],
  };
}

function describeHook(result: HookExecutionResult) {
  return {
    hook: hookIdentity(result.hookConfig),
    success: result.success,
    // What a server or a model has answered is read as that of a command that ends with code 0.
    exitCode: isAsked(result.hookConfig) ? null : (result.exitCode ?? null),
    signal: result.signal ?? null,
    durationMs: Math.round(result.duration),
    stdout: result.stdout ?? null,
    stderr: result.stderr ?? null,
    output: result.output ?? null,
    error: result.error?.message ?? null,
    why: result.why ?? null,
    matched: result.matched ?? null,
  };
}

/** Why a hook failed, blocked by accident or said what does not count, in one sentence; else `undefined`. */
export function whyOf({ success, exitCode, why, error, stderr }: HookReport): string | undefined {
  const hasFailed = !success && exitCode !== 2;
  const said = why ?? error ?? (hasFailed ? lastLine(stderr ?? '') : '');
  return said === '' ? undefined : said;
}

/**
 * Says of persistent hooks that what was seen is not what an agent sees, which keeps their processes: one that does not
 * speak the protocol answers here, and fails there.
 */
export function tellOrdinary(hooks: readonly CommandHookConfig[]): void {
  const names = hooks
    .filter(({ persistent }) => persistent)
    .map((hook) => `"${toOneLine(shortIdentity(hook))}"`);
  if (names.length === 0) return;
  printNotice(
    'note',
    `persistent hooks ran here for one event alone, as ordinary ones (${[...new Set(names)].join(', ')}); hookstack doctor tries them as an agent keeps them`,
  );
}

type HookReport = FireReport['results'][number];

/** @param nothingRan what is said where no hook ran */
export function formatReport(report: FireReport, nothingRan = ''): string {
  const hooks = report.results.length === 0 ? [nothingRan] : report.results.map(formatHook);
  return [...hooks, '', formatVerdict(report), ...formatEffects(report)].join('\n');
}

function formatHook(hook: HookReport): string {
  const isHealthy = hook.success || hook.exitCode === 2;
  const facts = [
    hook.signal === null ? hook.exitCode !== null && `exit code ${hook.exitCode}` : hook.signal,
    `${hook.durationMs} ms`,
    hook.output?.decision && `decision ${hook.output.decision}`,
    hook.matched !== null && `by ${toOneLine(hook.matched)}`,
  ].filter(Boolean);
  const title = paint(isHealthy ? 'bold' : ['bold', 'red'], toVisible(hook.hook));
  return [
    `${title}: ${facts.join(', ')}`,
    ...formatText('error', hook.error),
    ...formatText('why', hook.why),
    ...formatText('stdout', hook.stdout),
    ...formatText('stderr', hook.stderr),
  ].join('\n');
}

/** In characters. It says what to do next last. */
const MAX_REASON = 1000;

function formatVerdict(report: FireReport): string {
  const { event, blocked, stopped, reason, stopReason, results } = report;
  if (stopped) return paint('red', `Verdict: stopped: ${toOneLine(stopReason ?? '', MAX_REASON)}`);
  if (report.asks) return paint('yellow', 'Verdict: a person is to be asked');
  if (!blocked) return paint('green', 'Verdict: proceed');
  const verdict = paint('red', `Verdict: blocked: ${toOneLine(reason ?? '', MAX_REASON)}`);
  const outputs = [{}, ...results.map(({ output }) => output ?? {})];
  return outputs.some((output) => canPrevent(event, output))
    ? verdict
    : `${verdict}\n  A block of ${event} has no effect on the operation: this event cannot prevent it`;
}

function formatEffects(report: FireReport): string[] {
  const specific = report.hookSpecificOutput && JSON.stringify(report.hookSpecificOutput, null, 2);
  const authors = report.decidedBy?.map(toVisible).join(', ') ?? '';
  return [
    // A single hook is named above.
    ...(report.results.length > 1 ? formatText('decided by', authors) : []),
    ...(report.blocked || report.stopped ? [] : formatText('reason', report.reason)),
    ...formatText('systemMessage', report.systemMessage),
    ...(report.suppressOutput ? ['  suppressOutput: true'] : []),
    ...formatText('hookSpecificOutput', specific),
  ];
}

function formatText(label: string, text: string | null): string[] {
  const lines = removeControls(text ?? '').trimEnd();
  return lines === '' ? [] : [`  ${label}: ${lines.replaceAll('\n', '\n    ')}`];
}
