import { isDeepStrictEqual } from 'node:util';
import type { HookContext } from '../src/context.js';
import { callFactsOf, events, failsClosed, type EventDefinition } from '../src/protocol/events.js';
import type { DefaultHookOutput } from '../src/protocol/hookOutput.js';
import { distrustOf, shortIdentity } from '../src/protocol/identity.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionPlan,
  HookExecutionResult,
  HookOutput,
} from '../src/protocol/types.js';
import type { Runner } from '../src/run/hookRun.js';
import { aggregateResults } from './aggregator.js';

/** After this many times in which what guards have to see has changed again, it is denied. */
const MAX_ROUNDS = 3;

/** One answer of a hook: what it had read then, and what it wanted to go on with. */
interface Look<P> {
  readonly hook: CommandHookConfig;
  readonly read: P;
  readonly left: P;
}

/**
 * What runs is what guards have seen. Hooks of an event run at once, on the same input; where one changes what the
 * operation goes on with, guards that have read something else are asked again about that: those whose failure blocks,
 * and those of a more trusted scope than a hook that changed it.
 *
 * @returns the results, with those of hooks that were asked again behind them
 */
export async function askAgain<E extends HookEventName>(
  { event, payload, input, plan, results: given = [], signal }: HookContext<E>,
  hooks: Runner,
): Promise<readonly HookExecutionResult[]> {
  const { changed, encode }: EventDefinition<E> = events[event];
  if (!changed || !plan || !input) return given;
  const facts = callFactsOf(event, payload);
  const looks = lookedAt(given, payload, plan, changed);
  let results = given;
  for (let round = 0; looks.some(({ read, left }) => read !== left); round++) {
    const output = aggregateResults(results, event).finalOutput;
    const next = output && !isRefusal(output) ? changed(payload, output) : payload;
    const unseen = output && !isRefusal(output) ? findUnseen(looks, next, event) : [];
    if (unseen.length === 0) return results;
    if (round === MAX_ROUNDS) return [...results, ...unseen.map((hook) => denial(hook, event))];
    const read = { ...input, ...encode(next) };
    const said = plan.sequential
      ? await hooks.executeHooksSequential(unseen, event, read, signal, facts)
      : await hooks.executeHooksParallel(unseen, event, read, signal, facts);
    looks.push(...lookedAt(said, next, plan, changed));
    results = withLastWords(results, said);
  }
  return results;
}

/** What each hook has read, and left. In a chain, the next one reads what a healthy one left. */
function lookedAt<P>(
  results: readonly HookExecutionResult[],
  payload: P,
  { sequential }: HookExecutionPlan,
  changed: (payload: P, output: HookOutput) => P,
): Look<P>[] {
  let current = payload;
  return results.map(({ hookConfig, output, success }) => {
    const read = current;
    const left = output && success ? changed(read, output) : read;
    if (sequential) current = left;
    return { hook: hookConfig, read, left };
  });
}

/** The guards whose last look was at something else than what the operation would go on with. */
function findUnseen<P>(looks: readonly Look<P>[], next: P, event: HookEventName) {
  const changing = looks.filter(({ read, left }) => read !== left).map(({ hook }) => hook);
  const leastTrusted = Math.max(...changing.map(distrustOf));
  const last = new Map(looks.map((look) => [look.hook, look]));
  return [...last.values()]
    .filter(({ hook }) => failsClosed(hook, event) || distrustOf(hook) < leastTrusted)
    .filter(({ read, left }) => !isDeepStrictEqual(read, next) && !isDeepStrictEqual(left, next))
    .map(({ hook }) => hook);
}

function isRefusal(output: DefaultHookOutput): boolean {
  return output.isBlockingDecision() || output.shouldStopExecution();
}

/** Of what a hook has said before it was asked again, what it changed counts; for all else, its last word does. */
function withLastWords(
  results: readonly HookExecutionResult[],
  said: readonly HookExecutionResult[],
): HookExecutionResult[] {
  const healthy = new Set(said.flatMap(({ success, hookConfig }) => (success ? hookConfig : [])));
  const first = results.map((result) =>
    healthy.has(result.hookConfig) ? { ...result, output: changesOf(result.output) } : result,
  );
  return [...first, ...said];
}

function changesOf({ hookSpecificOutput: specific, foreign }: HookOutput = {}): HookOutput {
  const { tool_input, llm_request } = specific ?? {};
  const { droppedArguments } = foreign ?? {};
  return {
    hookSpecificOutput: {
      ...(tool_input !== undefined && { tool_input }),
      ...(llm_request !== undefined && { llm_request }),
    },
    ...(droppedArguments && { foreign: { droppedArguments } }),
  };
}

function denial(hookConfig: CommandHookConfig, eventName: HookEventName): HookExecutionResult {
  const name = shortIdentity(hookConfig);
  const reason = `Hooks changed again and again what the hook "${name}" has to see before it runs: let only one of them change it, or put them into a group with "sequential": true.`;
  const output = { decision: 'deny', reason } as const;
  return { hookConfig, eventName, success: true, output, duration: 0 };
}
