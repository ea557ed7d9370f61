import { parseJsonDocument } from '../../util/jsonDocument.js';
import { canPrevent, failsClosed } from '../../protocol/events.js';
import { findFailure } from '../../run/hookFailure.js';
import type { Said } from '../../run/hookRun.js';
import { readHookOutput } from '../../protocol/readHookOutput.js';
import type { CommandHookConfig, HookEventName } from '../../protocol/types.js';
import type { CommandOutcome } from '../../process/runCommand.js';
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
  readonly said: Said;
  /** From the runner, one sentence each. */
  readonly remarks: readonly string[];
  /** The exception that stderr tells of. */
  readonly why: string | undefined;
  readonly timeoutMs: number;
}

export function describeEnding({ hook, event, outcome, said, timeoutMs }: ObservedRun): string {
  const failure = findFailure(outcome, timeoutMs, failsClosed(hook, event));
  if (failure) return `${failure.what}, so that ${consequenceOf(hook, event)}`;
  if (outcome.exitCode === 0) return 'exit code 0: it has an answer, or no objection';
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

function diagnoseEnding(run: ObservedRun): Finding[] {
  const { hook, event, outcome, timeoutMs } = run;
  const failure = findFailure(outcome, timeoutMs, failsClosed(hook, event));
  const [, cause, about] = CAUSES.find(([pattern]) => pattern.test(outcome.stderr)) ?? [];
  const hint =
    about === 'file'
      ? `; it ran in a scratch directory, where files of the project are found through $LLXPRT_PROJECT_DIR`
      : '';
  if (failure) {
    return [error(`it ${failure.what}${cause ? `: ${cause}` : ''}${quoteOf(run)}${hint}`)];
  }
  if (outcome.exitCode !== 2) return [];
  if (cause) {
    return [
      error(
        `it blocks by accident: ${cause} gives exit code 2, which means block${quoteOf(run)}${hint}`,
      ),
    ];
  }
  if (outcome.stderr.trim() !== '') return [];
  return [warning('it blocks without a reason; write one to stderr')];
}

function diagnoseOutput({ hook, event, outcome, said, remarks }: ObservedRun): Finding[] {
  const { ending, exitCode, stdout } = outcome;
  const noise = ending === 'exit' && exitCode !== 0 && stdout.trim() !== '';
  const broken = ending === 'exit' && exitCode === 0 ? findBreak(stdout) : undefined;
  if (broken !== undefined && (stdout.includes('{') || failsClosed(hook, event))) {
    return [error(`stdout is not JSON and is taken as plain text: ${broken}`)];
  }
  const { unreadable } = said.exitCode === 0 ? readHookOutput(said.stdout) : {};
  const misread = broken === undefined && unreadable !== undefined;
  return [
    ...remarks.map((remark) => (misread ? error(remark) : warning(remark))),
    ...(noise ? [warning(`stdout does not count beside exit code ${exitCode}; stderr does`)] : []),
  ];
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

/**
 * Messages and what they mean. Whole messages, since the reason of a block may contain single words of them. With
 * `file`, a hint about the scratch directory is added.
 */
const CAUSES: readonly (readonly [pattern: RegExp, words: string, about?: 'file'])[] = [
  [/can't open file '[^'\n]*': \[Errno \d+\]/u, 'Python does not find its file', 'file'],
  [/Error: Cannot find module '/u, 'Node does not find its file', 'file'],
  [
    /^\S+: (?:-c: )?(?:line )?\d+: .*(?:syntax error|unexpected EOF|unterminated)/imu,
    'a syntax error of a shell script',
  ],
  [/^\S+: (?:-c: )?(?:line )?\d+: .*not found/mu, 'a command that is not found'],
  [
    /^\S+: (?:-c: )?(?:line )?\d+: .*Permission denied/mu,
    'a file that may not be executed: run chmod +x on it',
  ],
  [
    /Argument list too long/u,
    'an event of 256 KiB that is handed on as an argument: hand it on through stdin',
  ],
  [/bad interpreter/u, 'the interpreter of its first line is not there'],
  [
    /^\S+: .*(?:No such file or directory|can't open|cannot access)/mu,
    'a file that is not there',
    'file',
  ],
  [
    /^\S+: .*(?:unrecognized|invalid|illegal|unknown) option|^usage: /imu,
    'an option that a program does not know',
  ],
  [/^(?:jq: (?:parse )?error|parse error: )/mu, 'an error of jq'],
  [/^Traceback \(most recent call last\)/mu, 'an exception in Python'],
  [/^(?:\w*)Error: .*\n\s+at /mu, 'an exception in Node'],
];

/** What stderr says: its exception, else its first line. */
function quoteOf({ why, outcome }: ObservedRun): string {
  if (why !== undefined) return `: ${why}`;
  const line = toOneLine(outcome.stderr.trim().split('\n')[0] ?? '');
  return line && ` (${line})`;
}

function error(message: string): Finding {
  return { severity: 'error', message };
}

function warning(message: string): Finding {
  return { severity: 'warning', message };
}
