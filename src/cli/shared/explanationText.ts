import { findUnmatchableNames } from '../../validate/matching.js';
import { events, isOfTool } from '../../protocol/events.js';
import type { ExplainedHook, Explanation } from './explanation.js';
import { PERSISTENT_LIMITS } from '../../process/command/limits.js';
import { columnTexts, conditionText, formatSource, whyHooksAreOff } from './hookColumns.js';
import { paint, toVisible } from './terminal.js';

const LINE_WIDTH = 100;

export function formatExplanation(explanation: Explanation): string {
  const { hooks, environment, withheld } = explanation;
  const running = hooks.filter(({ runs }) => runs);
  const others = hooks.filter(({ runs }) => !runs);
  const isStarted = running.some(({ verdict }) => verdict === null);
  return [
    formatHeading(explanation, running.length),
    ...running.map((hook) => `\n  ${hook.order}. ${formatHook(hook, explanation)}`),
    ...(others.length > 0 ? ['\nNot run:'] : []),
    ...others.map((hook) => `\n  - ${formatHook(hook, explanation)}`),
    ...(hooks.length > 0 ? formatApprovals(explanation) : []),
    ...(isStarted ? formatNames('\nVariables of all of them', environment) : []),
    ...(isStarted && withheld.length > 0
      ? formatNames('Variables that are withheld', withheld)
      : []),
  ].join('\n');
}

function formatHeading(explanation: Explanation, count: number): string {
  const { event, moment, tool, subject: at, sequential, enableHooks } = explanation;
  const how = count > 1 ? `, ${sequential ? 'one after the other' : 'all at once'}` : '';
  const run = enableHooks ? (count === 1 ? 'runs' : 'run') : 'would run';
  const what = `${count === 1 ? '1 hook' : `${count || 'no'} hooks`} ${run}`;
  const isMatched = explanation.hooks.some(({ dialect, matcher }) => dialect && matcher);
  const of = tool ?? (isMatched ? at : null);
  const when = moment === null ? '' : ` (${moment})`;
  const subject = `${event}${when}${of === null ? '' : ` of ${toVisible(of)}`}`;
  const heading = paint('bold', `${subject}: ${what}${how}.`);
  const blocking = explanation.hooks.filter(({ blocks }) => blocks).map(({ hook }) => hook);
  const names = toVisible(blocking.join(', '));
  const denial = `It is blocked, as a guard is not allowed as it is now: ${names}.`;
  const state = blocking.length > 0 ? [paint('red', denial)] : [];
  return [heading, ...state, ...formatSwitch(explanation)].join('\n');
}

function formatSwitch({ enableHooks, enableHooksFile }: Explanation): string[] {
  if (enableHooks) return [];
  const why = whyHooksAreOff(enableHooksFile);
  return [paint('yellow', `Hooks are off, so that nothing runs in fact: ${why}.`)];
}

const WHEN_NOBODY = {
  deny: 'whenNobody deny',
  allow: 'whenNobody allow (guards too)',
  default: 'whenNobody allow (guards: deny)',
};

function formatApprovals({ approvals }: Explanation): string[] {
  if (approvals === null) return [];
  const { whenNobody, timeoutMs, file } = approvals;
  const from = file === null ? '' : ` (${toVisible(file)})`;
  const said = `${WHEN_NOBODY[whenNobody ?? 'default']}; timeout ${timeoutMs / 1000} s`;
  return [`\napprovals: ${said}${from}`];
}

function formatHook(hook: ExplainedHook, explanation: Explanation): string {
  const state = hook.reason === null ? '' : paint('yellow', `: ${toVisible(hook.reason)}`);
  const facts = [
    ...[columnTexts({ ...hook, matcher: undefined, when: [], verdict: null })].filter(
      (text) => text !== '',
    ),
    ...(hook.onFailure === 'deny' ? [`a failure blocks (onFailure: "deny")`] : []),
    ...(hook.environment.length > 0 ? [`own variables: ${hook.environment.join(', ')}`] : []),
  ];
  return [
    `${paint('bold', toVisible(hook.hook))}${state}`,
    ...(hook.verdict === null
      ? [`command: ${toVisible(hook.resolvedCommand)}`]
      : [`rule: ${toVisible(hook.verdict)}`]),
    `source: ${formatSource(hook)}`,
    `matcher: ${formatMatcher(hook, explanation)}`,
    ...formatCondition(hook),
    ...(facts.length > 0 ? [toVisible(facts.join(', '))] : []),
    ...formatPersistent(hook),
  ].join('\n     ');
}

/** The condition of a hook, and what of the call it matches. */
function formatCondition({ when, match, runs }: ExplainedHook): string[] {
  if (when.length === 0) return [];
  const all = toVisible(conditionText(when));
  if (!runs) return [`when: ${all}`];
  if (!match) return [`when: ${all}; not tried: give the arguments with --input`];
  const { pattern, part, doubt } = match;
  const what = part === undefined ? '' : ` matches ${JSON.stringify(part)}`;
  const why = doubt === undefined ? '' : `, as it cannot be told otherwise: ${doubt}`;
  return [`when: ${toVisible(`${pattern ?? all}${what}${why}`)}`];
}

/** What the setting means for a hook, and where it means nothing. */
function formatPersistent({ persistent, prestart }: ExplainedHook): string[] {
  if (persistent === null) return [];
  const { processes, maxMemory } = persistent;
  const { maxEvents, idleMs } = PERSISTENT_LIMITS;
  const many = processes > 1 ? `, up to ${processes} of them side by side` : '';
  const when = prestart ? 'when the hooks are read' : 'at its first event';
  return [
    `persistent: a process is started ${when} and stays for the session${many}; anew when the command, its files, the directory or the environment change, after ${maxEvents} events, ${idleMs / 60_000} minutes without one, or beyond ${maxMemory} MB`,
    'not kept by hookstack hook, fire and test, which start it for each event; elsewhere it fails unless it speaks the protocol (hookstack doctor says whether it does)',
  ];
}

function formatMatcher(
  { matcher, dialect, runs }: ExplainedHook,
  { event, tool }: Explanation,
): string {
  if (matcher === null) return 'all';
  const quoted = toVisible(JSON.stringify(matcher));
  if (!isOfTool(event)) {
    if (events[event].matchOn) return `${quoted}, not tested`;
    if (dialect === null) return `${quoted}, has no effect on ${event}`;
    const { idle, subjects } = findUnmatchableNames({ matcher, dialect }, event);
    const never = `${idle.join(', ')} never comes here, but ${subjects.join(', ')}`;
    return idle.length === 0 ? quoted : `${quoted}; ${toVisible(never)}`;
  }
  if (tool === null) return `${quoted}, not tested: name a tool with --tool`;
  return runs ? `${quoted}, matches ${toVisible(tool)}` : quoted;
}

function formatNames(what: string, names: readonly string[]): string[] {
  const lines = [`${what} (${names.length}):`];
  let line = '';
  for (const name of names.map(toVisible)) {
    if (line !== '' && line.length + name.length > LINE_WIDTH) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? `  ${name}` : ` ${name}`;
  }
  return line === '' ? lines : [...lines, line];
}
