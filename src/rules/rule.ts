import { failsClosed } from '../protocol/events.js';
import { shortIdentity } from '../protocol/identity.js';
import type { CommandHookConfig, HookEventName, HookOutput } from '../protocol/types.js';
import { errorMessage } from '../util/errorMessage.js';
import { isTimeout } from '../util/limitedRegExp.js';
import { loadExpressions, type Expression } from './expression.js';
import { callOf, findMatch, type CallSource } from './match.js';
import { REDACT_LIMIT_MS, redactTexts } from './redact.js';
import type { FoundMatch } from './types.js';

/** What a rule says of an event; or why it could not tell, as the end of "The hook …". */
export interface RuleAnswer {
  readonly output?: HookOutput;
  /** The pattern that matched, and what of the call. */
  readonly matched?: string;
  readonly failure?: string;
}

/**
 * Answers for a hook of the type `rule`. Never throws or rejects.
 *
 * @returns a promise only where the rule has an expression
 */
export function answerRule(
  hook: CommandHookConfig,
  event: HookEventName,
  read: CallSource,
): RuleAnswer | Promise<RuleAnswer> {
  if (hook.expr !== undefined) return answerExpression(hook, hook.expr, event, read);
  return attempted(() => outputOf(hook, event, read));
}

async function answerExpression(
  hook: CommandHookConfig,
  expr: string,
  event: HookEventName,
  read: CallSource,
): Promise<RuleAnswer> {
  try {
    const expression = await expressionOf(hook, expr);
    return expression.evaluate(read.input) ? attempted(() => outputOf(hook, event, read)) : {};
  } catch (error) {
    return { failure: `could not decide: ${errorMessage(error)}` };
  }
}

const compiled = new WeakMap<CommandHookConfig, Promise<Expression>>();

/** To read an expression takes longer than to try it. */
function expressionOf(hook: CommandHookConfig, expr: string): Promise<Expression> {
  let expression = compiled.get(hook);
  if (!expression) {
    expression = loadExpressions().then((expressions) => expressions.compile(expr));
    compiled.set(hook, expression);
  }
  return expression;
}

function attempted(answer: () => RuleAnswer): RuleAnswer {
  try {
    return answer();
  } catch (error) {
    const failure = isTimeout(error)
      ? `took longer than ${REDACT_LIMIT_MS} ms to find what it redacts: simplify its patterns`
      : `could not decide: ${errorMessage(error)}`;
    return { failure };
  }
}

function outputOf(hook: CommandHookConfig, event: HookEventName, read: CallSource): RuleAnswer {
  const { decision, redact, set } = hook;
  const found = findMatch(hook, event, callOf(read)) ?? {};
  const output = {
    ...(decision && { decision, reason: reasonOf(hook, event, found) }),
    ...(set && { hookSpecificOutput: { tool_input: { ...set } } }),
    ...(redact && redactTexts(event, read.input, redact)),
  };
  const matched = matchText(found);
  return { output, ...(matched !== '' && { matched }) };
}

function matchText({ pattern, part }: FoundMatch): string {
  return [pattern, part === undefined ? part : JSON.stringify(part)].filter(Boolean).join(': ');
}

function reasonOf(
  hook: CommandHookConfig,
  event: HookEventName,
  { pattern, part, doubt }: FoundMatch,
): string {
  const of = pattern === undefined ? '' : ` (${pattern})`;
  const what = part === undefined ? 'this' : JSON.stringify(part);
  const said = hook.reason ?? `The rule "${shortIdentity(hook)}" is about ${what}${of}.`;
  if (doubt === undefined || !failsClosed(hook, event)) return said;
  return `${said} It cannot be told whether this is such a call, as ${doubt}.`;
}
