import { findIdleNames } from '../../middleware/planner.js';
import { events } from '../protocol/events.js';
import type { HookEventName } from '../protocol/types.js';
import type { ExplainedHook, Explanation } from './explain.js';
import { formatSource } from './hookEntries.js';
import { paint, toVisible } from './terminal.js';

const LINE_WIDTH = 100;

/** An explanation for a reader: what runs, in its order, what does not and why, and the environment. */
export function formatExplanation(explanation: Explanation): string {
  const { hooks, environment, withheld } = explanation;
  const running = hooks.filter(({ runs }) => runs);
  const others = hooks.filter(({ runs }) => !runs);
  return [
    formatHeading(explanation, running.length),
    ...running.map((hook) => `\n  ${hook.order}. ${formatHook(hook, explanation)}`),
    ...(others.length > 0 ? ['\nNot run:'] : []),
    ...others.map((hook) => `\n  - ${formatHook(hook, explanation)}`),
    ...(running.length > 0 ? formatEnvironment(environment, withheld) : []),
  ].join('\n');
}

function formatHeading(explanation: Explanation, count: number): string {
  const { event, moment, tool, subject: at, sequential } = explanation;
  const how = count > 1 ? `, ${sequential ? 'one after the other' : 'all at once'}` : '';
  const what = count === 1 ? '1 hook runs' : `${count === 0 ? 'no' : count} hooks run`;
  const isMatched = explanation.hooks.some(({ dialect, matcher }) => dialect && matcher);
  const of = tool ?? (isMatched ? at : null);
  const when = moment === null ? '' : ` (${moment})`;
  const subject = `${event}${when}${of === null ? '' : ` of ${toVisible(of)}`}`;
  const heading = paint(process.stdout, 'bold', `${subject}: ${what}${how}.`);
  return [heading, ...formatSwitch(explanation)].join('\n');
}

function formatSwitch({ enableHooks, enableHooksFile }: Explanation): string[] {
  if (enableHooks) return [];
  const why =
    enableHooksFile === null
      ? 'no settings file says "enableHooks": true'
      : `enableHooks is false in ${toVisible(enableHooksFile)}`;
  return [paint(process.stdout, 'yellow', `Hooks are off, so that nothing runs in fact: ${why}.`)];
}

function formatHook(hook: ExplainedHook, { event, tool }: Explanation): string {
  const state =
    hook.reason === null ? '' : paint(process.stdout, 'yellow', `: ${toVisible(hook.reason)}`);
  const facts = [
    `timeout: ${hook.timeoutMs} ms`,
    ...(hook.dialect === null ? [] : [`dialect: ${hook.dialect}`]),
    ...(hook.moment === null ? [] : [`moment: ${hook.moment}`]),
    ...(hook.class === null ? [] : [`consent: ${hook.class}`]),
    ...(hook.onFailure === 'deny' ? [`a failure blocks (onFailure: "deny")`] : []),
    ...(hook.environment.length > 0 ? [`own variables: ${hook.environment.join(', ')}`] : []),
  ];
  return [
    `${paint(process.stdout, 'bold', toVisible(hook.hook))}${state}`,
    `command: ${toVisible(hook.resolvedCommand)}`,
    `source: ${formatSource(hook)}`,
    `matcher: ${formatMatcher(hook, event, tool)}`,
    toVisible(facts.join(', ')),
  ].join('\n     ');
}

function formatMatcher(
  { matcher, dialect, runs }: ExplainedHook,
  event: HookEventName,
  tool: string | null,
): string {
  if (matcher === null) return 'all';
  const quoted = toVisible(JSON.stringify(matcher));
  if (!events[event].matchOn) {
    if (dialect === null) return `${quoted}, has no effect on ${event}`;
    const { idle, subjects } = findIdleNames({ matcher, dialect }, event);
    const never = `${idle.join(', ')} never comes here, but ${subjects.join(', ')}`;
    return idle.length === 0 ? quoted : `${quoted}; ${toVisible(never)}`;
  }
  if (tool === null) return `${quoted}, not tested: name a tool with --tool`;
  return runs ? `${quoted}, matches ${toVisible(tool)}` : quoted;
}

function formatEnvironment(environment: readonly string[], withheld: readonly string[]): string[] {
  return [
    `\nVariables of all of them (${environment.length}):`,
    ...wrapNames(environment),
    ...(withheld.length > 0 ? [`Variables that are withheld (${withheld.length}):`] : []),
    ...wrapNames(withheld),
  ];
}

function wrapNames(names: readonly string[]): string[] {
  const lines: string[] = [];
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
