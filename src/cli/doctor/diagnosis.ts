import { parseJsonDocument } from '../../util/jsonDocument.js';
import { canPrevent, events, failsClosed } from '../../protocol/events.js';
import { findLikelyCause, lastLine } from '../../run/explainStderr.js';
import { findFailure } from '../../run/hookFailure.js';
import type { RawAnswer } from '../../run/hookRun.js';
import { isAsked } from '../../protocol/identity.js';
import { describeNoise, readHookOutput } from '../../protocol/readHookOutput.js';
import type { CommandHookConfig, HookEventName } from '../../protocol/types.js';
import type { CommandOutcome } from '../../process/command/outcome.js';
import { toOneLine } from '../shared/terminal.js';

/** `error` is what the hook's author cannot have meant. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface ObservedRun {
  readonly hook: CommandHookConfig;
  readonly event: HookEventName;
  readonly outcome: CommandOutcome;
  /** In our own format, whatever the hook's dialect. */
  readonly said: RawAnswer;
  /** From the runner, one sentence each. */
  readonly remarks: readonly string[];
  /** The exception that stderr tells of. */
  readonly why: string | undefined;
  readonly timeoutMs: number;
}

export function describeEnding({ hook, event, outcome, said, timeoutMs }: ObservedRun): string {
  const failure = findFailure(outcome, timeoutMs, failsClosed(hook, event));
  if (failure) return `${failure.what}, so that ${consequenceOf(hook, event)}`;
  if (outcome.exitCode === 0) {
    const who = hook.type === 'prompt' ? 'the model' : 'the server';
    const how = isAsked(hook) ? `${who} answered` : 'exit code 0';
    return isMisread(outcome, hook, event)
      ? `${how}, and what it printed is no answer`
      : `${how}: it has an answer, or no objection`;
  }
  return canPrevent(event, said)
    ? 'exit code 2: it blocks'
    : `exit code 2: it objects, which cannot prevent ${event}`;
}

export function diagnose(run: ObservedRun): Finding[] {
  const findings = [...diagnoseEnding(run), ...diagnoseOutput(run)];
  // What went wrong early explains the rest.
  const isFaulty = findings.some(({ severity }) => severity === 'error');
  return isFaulty ? findings : [...findings, ...diagnoseHabits(run)];
}

export function diagnoseEnding(run: ObservedRun): Finding[] {
  const { hook, event, outcome, why, timeoutMs } = run;
  const { exitCode, stderr } = outcome;
  const failure = findFailure(outcome, timeoutMs, failsClosed(hook, event));
  const cause = findLikelyCause(stderr, exitCode ?? undefined);
  const hint = cause?.isFile
    ? '; it ran in a scratch directory, where files of the project are found through $LLXPRT_PROJECT_DIR'
    : '';
  const isUnclear =
    failure?.kind === 'exit' && exitCode === 1 && why === undefined && events[event].canBlock;
  const code = isUnclear ? '; only exit code 2 blocks' : '';
  const advice = failure?.advice === undefined ? '' : `; ${failure.advice}`;
  if (failure) return [error(`it ${failure.what}${quoteOf(run)}${hint}${code}${advice}`)];
  if (exitCode !== 2) return [];
  if (why !== undefined) return [error(`it ${why}${hint}`)];
  if (stderr.trim() !== '') return [];
  return [warning('it blocks without a reason; write one to stderr')];
}

const PLAIN_TEXT =
  'stdout is not JSON and is taken as plain text; print one JSON object, and nothing else';

function diagnoseOutput({ hook, event, outcome, said, why, ...run }: ObservedRun): Finding[] {
  const { ending, exitCode, stdout } = outcome;
  const noise = ending === 'exit' && exitCode !== 0 && stdout.trim() !== '';
  const broken = ending === 'exit' && exitCode === 0 ? findBreak(stdout) : undefined;
  if (isMisread(outcome, hook, event)) {
    const [told = PLAIN_TEXT] = describeNoise(stdout.trim());
    return [error(`${told} (${broken})`)];
  }
  const remarks = run.remarks.filter((remark) => remark !== why);
  const { unreadable } = said.exitCode === 0 ? readHookOutput(said.stdout) : {};
  const misread = broken === undefined && unreadable !== undefined;
  return [
    ...remarks.map((remark) => (misread ? error(remark) : warning(remark))),
    ...(noise ? [warning(`stdout does not count beside exit code ${exitCode}; stderr does`)] : []),
  ];
}

/** A text that was meant as an answer. */
function isMisread(
  { ending, exitCode, stdout }: CommandOutcome,
  hook: CommandHookConfig,
  event: HookEventName,
): boolean {
  if (ending !== 'exit' || exitCode !== 0) return false;
  return (stdout.includes('{') || failsClosed(hook, event)) && findBreak(stdout) !== undefined;
}

function diagnoseHabits({ hook, event, outcome, timeoutMs }: ObservedRun): Finding[] {
  const { ending, durationMs, inputTaken } = outcome;
  const findings: Finding[] = [];
  if (durationMs > timeoutMs / 2) {
    const share = Math.round((durationMs / timeoutMs) * 100);
    findings.push(
      warning(
        `it took ${durationMs} ms, ${share} % of its timeout, after which ${consequenceOf(hook, event)}`,
      ),
    );
  }
  if (ending === 'exit' && !inputTaken) {
    findings.push(warning('it did not read its input, so that it says the same to every event'));
  }
  return findings;
}

function consequenceOf(hook: CommandHookConfig, event: HookEventName): string {
  return failsClosed(hook, event)
    ? 'the operation is blocked (onFailure: "deny")'
    : 'the operation goes on without it';
}

/** Position and excerpt of the syntax error. */
function findBreak(stdout: string): string | undefined {
  if (stdout.trim() === '') return undefined;
  const { syntaxError } = parseJsonDocument(stdout, true);
  if (!syntaxError) return undefined;
  const { line, column, message } = syntaxError;
  const rest = stdout.split(/\r\n|\r|\n/u)[line - 1]?.slice(column - 1) ?? '';
  const excerpt = toOneLine(rest).slice(0, 40);
  return `line ${line}, column ${column}: ${message}${excerpt === '' ? ', and it ends there' : ` at ${JSON.stringify(excerpt)}`}`;
}

/** What stderr says: why it failed, else its last line. */
function quoteOf({ why, outcome }: ObservedRun): string {
  if (why !== undefined) return `: ${why}`;
  const line = toOneLine(lastLine(outcome.stderr));
  return line && ` (${line})`;
}

function error(message: string): Finding {
  return { severity: 'error', message };
}

function warning(message: string): Finding {
  return { severity: 'warning', message };
}
