import { describe, type Report } from '../util/checks.js';
import { isRecord } from '../util/records.js';
import type { Dialect } from '../dialects/dialect.js';
import { dialects } from '../dialects/dialects.js';
import { fromHttpHook } from '../fleet/httpHook.js';
import { readClaudeCondition } from './claudeCondition.js';

const FOREIGN_TYPES: ReadonlySet<unknown> = new Set(['http', 'agent', 'runtime']);

/** Of hooks without a dialect, and of those whose agent means the same by them. */
const ASKED_TYPES: ReadonlySet<unknown> = new Set(['mcp_tool', 'prompt']);

/** Keys that change nothing here, and what happens instead. */
const IDLE_KEYS: ReadonlyMap<string, string> = new Map([
  ['once', 'the hook runs every time'],
  ['statusMessage', 'no such message is shown'],
  ['rewakeSummary', 'no such line is shown'],
]);

/** The same of hooks that are no commands. */
const WAITED_FOR: ReadonlyMap<string, string> = new Map([
  ['async', 'only commands can be async, and the event waits for this hook'],
  ['asyncRewake', 'only commands can be async, and the event waits for this hook'],
]);

function isCommand({ type }: Record<string, unknown>): boolean {
  return type === undefined || type === 'command';
}

/**
 * Removes keys that only other agents know from a hook, and reports what that means.
 *
 * @param spoken the dialect of its group
 * @returns the other keys; `undefined` for a hook that would do something else here, and so is left out
 */
export function withoutForeignKeys(
  raw: Record<string, unknown>,
  spoken: Dialect | undefined,
  report: Report,
): Record<string, unknown> | undefined {
  if (raw['type'] === 'http' && spoken?.hasHttpHooks) {
    return withoutForeignKeys(fromHttpHook(raw, report), spoken, report);
  }
  const objections = [...findObjections(raw, spoken)];
  for (const [key, why] of objections) {
    report([key], `the hook is left out: ${why}`, 'unsupported');
  }
  if (objections.length > 0) return undefined;
  const idle = new Map([...IDLE_KEYS, ...(isCommand(raw) ? [] : WAITED_FOR)]);
  for (const [key, instead] of idle) {
    const value = Object.hasOwn(raw, key) ? raw[key] : undefined;
    if (value !== undefined && value !== false) {
      report([key], `has no effect: ${instead}`, 'no-effect');
    }
  }
  const kept = Object.entries(raw).filter(
    ([key]) => !idle.has(key) && key !== 'if' && !(key === 'shell' && raw['args'] !== undefined),
  );
  const { onFailure, if: rule } = raw;
  const when =
    typeof rule === 'string' && spoken?.hasConditions ? readClaudeCondition(rule) : undefined;
  const isGuard = spoken?.guardWord !== undefined && onFailure === spoken.guardWord;
  return {
    ...Object.fromEntries(kept),
    ...(when && { when }),
    ...(isGuard && { onFailure: 'deny' }),
  };
}

/** Why a hook cannot have its condition here, without which it would run too often. */
function objectionToCondition(
  { if: rule, when }: Record<string, unknown>,
  spoken: Dialect | undefined,
): string | undefined {
  if (rule === undefined) return undefined;
  if (!spoken?.hasConditions) return 'conditions are called "when" here';
  if (when !== undefined) return 'beside "when", say all of it there';
  if (typeof rule !== 'string') return `expected a permission rule, got ${describe(rule)}`;
  const patterns = readClaudeCondition(rule);
  if (!patterns) return 'it has too many "*" within words to be read here: write it as "when"';
  return undefined;
}

function* findObjections(
  raw: Record<string, unknown>,
  spoken: Dialect | undefined,
): Generator<readonly [key: string, why: string]> {
  const { type, shell, args } = raw;
  const isAskedThere = spoken?.askedTypes?.some((each) => each === type) ?? !spoken;
  if (FOREIGN_TYPES.has(type) || (ASKED_TYPES.has(type) && !isAskedThere)) {
    yield [
      'type',
      `a hook of the type ${describe(type)} cannot run here, but only commands, servers, tools of MCP and prompts`,
    ];
    return;
  }
  const objection = objectionToCondition(raw, spoken);
  if (objection !== undefined) yield ['if', objection];
  if (typeof shell === 'string' && shell !== 'bash' && args === undefined) {
    yield ['shell', `commands are run by bash, and not by ${describe(shell)}`];
  }
  for (const key of ['command', 'args']) {
    const name = spoken?.missingVariables.find((each) => refersTo(raw[key], each, raw['env']));
    if (name === undefined) continue;
    yield [
      key,
      `it refers to ${name}, which ${spoken?.agent} sets for plugins only; write the path`,
    ];
  }
}

/** Whether a command, or its arguments, needs a variable that is not in the hook's own `env`. */
function refersTo(value: unknown, name: string, env: unknown): boolean {
  if (isRecord(env) && Object.hasOwn(env, name)) return false;
  const reference = new RegExp(String.raw`\$(?:${name}\b|\{${name}\})`);
  return [value].flat().some((word) => typeof word === 'string' && reference.test(word));
}

/** Finds names of another agent's tools that we do not have, in the matcher of a group that names no dialect. */
export function dialectOfMatcher(matcher: string): string | undefined {
  const names = matcher.match(/[\w-]+/gu) ?? [];
  for (const [dialect, { agent, tools }] of Object.entries(dialects)) {
    const name = names.find((each) =>
      tools.some(({ ours, theirs }) => ours !== each && theirs.includes(each)),
    );
    if (name !== undefined) return `${name} is a tool of ${agent}: set "dialect": "${dialect}"`;
  }
  return undefined;
}
