import { failsClosed } from '../protocol/events.js';
import type { CommandHookConfig, HookEventName } from '../protocol/types.js';
import { makeCall } from './call.js';
import { compileWhen } from './conditions.js';
import type { Call, Condition, FoundMatch } from './types.js';

const compiled = new WeakMap<CommandHookConfig, readonly Condition[]>();

/** The conditions of a hook and of its group, all of which have to match. */
function conditionsOf(hook: CommandHookConfig): readonly Condition[] {
  const known = compiled.get(hook);
  if (known) return known;
  const lists = [hook.groupWhen, hook.when].filter((when) => when !== undefined);
  const conditions = lists.map((when) => compileWhen([when].flat()));
  compiled.set(hook, conditions);
  return conditions;
}

/** A hook without conditions runs for every call. */
const ALWAYS: FoundMatch = {};

/**
 * Why the conditions of a hook let it run for a call; `undefined` where they do not. What cannot be told counts as a match
 * for a guard, and for hooks of other agents, which run then as well; and what allows has to match all that the call does.
 */
export function findMatch(
  hook: CommandHookConfig,
  event: HookEventName,
  call: Call,
): FoundMatch | undefined {
  const isGuard = hook.dialect !== undefined || failsClosed(hook, event);
  let found = ALWAYS;
  for (const condition of conditionsOf(hook)) {
    const finding =
      hook.decision === 'allow' ? condition.covers(call) : condition.find(call, isGuard);
    if (!finding) return undefined;
    found = finding;
  }
  return found;
}

/** One for each input, as what is known of a call is kept with it: the runner tries a rule, and the rule says what matched. */
const calls = new WeakMap<object, Call>();

/** The call in what a hook reads; of an event without a tool, one that no condition knows. */
export function callOf(input: object, project: string): Call {
  const known = calls.get(input);
  if (known?.project === project) return known;
  const call = readCall(input, project);
  calls.set(input, call);
  return call;
}

function readCall(input: object, project: string): Call {
  const { tool_name, tool_input, cwd } = input as Readonly<Record<string, unknown>>;
  return makeCall(
    typeof tool_name === 'string' ? tool_name : '',
    tool_input,
    project,
    typeof cwd === 'string' ? cwd : undefined,
  );
}
