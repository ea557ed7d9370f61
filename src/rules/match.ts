import { failsClosed } from '../protocol/events.js';
import type { CommandHookConfig, HookEventName, HookInput } from '../protocol/types.js';
import { makeCall } from './call.js';
import { compileWhen } from './conditions.js';
import type { Condition, FoundMatch, KnownCall } from './types.js';

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
  call: KnownCall,
): FoundMatch | undefined {
  const known = call.found.get(hook);
  if (known) return known;
  const isGuard = hook.dialect !== undefined || failsClosed(hook, event);
  let found = ALWAYS;
  for (const condition of conditionsOf(hook)) {
    const finding =
      hook.decision === 'allow' ? condition.covers(call) : condition.find(call, isGuard);
    if (!finding) return undefined;
    found = finding;
  }
  call.found.set(hook, found);
  return found;
}

/** What a hook reads, where it was configured, and the call in it once it is known. */
export interface CallSource {
  readonly input: HookInput;
  /** Absolute path. */
  readonly directory: string;
  /** What the planner, the runner or a rule has looked at: each tries the same conditions. */
  call?: object | undefined;
}

/** The call in what a hook reads; of an event without a tool, one that no condition knows. */
export function callOf(source: CallSource): KnownCall {
  const { call, input, directory: project } = source;
  const { tool_name, tool_input, cwd } = input as object as Readonly<Record<string, unknown>>;
  const tool = typeof tool_name === 'string' ? tool_name : '';
  const at = typeof cwd === 'string' ? cwd : project;
  const known = call as KnownCall | undefined;
  const isSame = known?.tool === tool && known.cwd === at && known.project === project;
  if (isSame && known.given === tool_input) return known;
  const made = makeCall(tool, tool_input, project, at);
  source.call = made;
  return made;
}
