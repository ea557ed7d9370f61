import { isDeepStrictEqual } from 'node:util';
import type { HookContext } from '../src/context.js';
import {
  events,
  failsClosed,
  isConditional,
  type EventDefinition,
} from '../src/protocol/events.js';
import type { DefaultHookOutput } from '../src/protocol/hookOutput.js';
import { distrustOf, shortIdentity } from '../src/protocol/identity.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionPlan,
  HookExecutionResult,
  HookInput,
  HookOutput,
} from '../src/protocol/types.js';
import { aggregateResults } from './aggregator.js';

/** After so many rounds in which the input changed again, the operation is denied. */
export const MAX_ROUNDS = 3;

/** Runs some hooks of a plan, in its order, on an input. */
export type RunHooks = (
  hookConfigs: readonly CommandHookConfig[],
  input: HookInput,
) => Promise<readonly HookExecutionResult[]>;

/** One answer of a hook: what it had read then, and what it wanted to go on with. */
interface Exchange<P> {
  readonly hook: CommandHookConfig;
  readonly read: P;
  readonly left: P;
}

/**
 * Makes sure that what runs is what guards have seen. Parallel hooks read the same input; if one of them changes it,
 * these run again on the changed input: guards, and hooks of a more trusted scope than the one that changed it.
 *
 * @returns the results, with those of hooks that were asked again behind them
 */
export async function rerunGuards<E extends HookEventName>(
  { event, payload, input, plan, results: given = [] }: HookContext<E>,
  run: RunHooks,
): Promise<readonly HookExecutionResult[]> {
  const { changed, encode }: EventDefinition<E> = events[event];
  if (!changed || !plan || !input) return given;
  const exchanges = exchangesOf(plan.hookConfigs, given, payload, plan, changed);
  let results = given;
  for (let round = 0; exchanges.some(({ read, left }) => read !== left); round++) {
    const output = aggregateResults(results, event).finalOutput;
    if (!output || isRefusal(output)) return results;
    const next = changed(payload, output);
    const stale = findStaleGuards(exchanges, next, event);
    if (stale.length === 0) return results;
    if (round === MAX_ROUNDS)
      return [...results, ...stale.map((hook) => denyUnsettled(hook, event))];
    const rerun = await run(stale, { ...input, ...encode(next) });
    exchanges.push(...exchangesOf(stale, rerun, next, plan, changed));
    results = withRerunResults(results, rerun);
  }
  return results;
}

/**
 * What each hook has read, and left. In a chain, the next one reads what a healthy one left. One that did not run, as its
 * conditions did not match, was tried with what it would have read.
 */
function exchangesOf<P>(
  tried: readonly CommandHookConfig[],
  results: readonly HookExecutionResult[],
  payload: P,
  { sequential }: HookExecutionPlan,
  changed: (payload: P, output: HookOutput) => P,
): Exchange<P>[] {
  const ran = new Map(results.map((result) => [result.hookConfig, result]));
  let current = payload;
  // A runner of somebody else may name other hooks.
  return [...new Set([...tried, ...ran.keys()])].flatMap((hook) => {
    const result = ran.get(hook);
    if (!result && !isConditional(hook)) return [];
    const read = current;
    const { output, success } = result ?? {};
    const left = output && success ? changed(read, output) : read;
    if (sequential) current = left;
    return { hook, read, left };
  });
}

/** The guards that have last read something else than what the operation would go on with. */
function findStaleGuards<P>(exchanges: readonly Exchange<P>[], next: P, event: HookEventName) {
  const changing = exchanges.filter(({ read, left }) => read !== left).map(({ hook }) => hook);
  const leastTrusted = Math.max(...changing.map(distrustOf));
  const last = new Map(exchanges.map((exchange) => [exchange.hook, exchange]));
  return [...last.values()]
    .filter(({ hook }) => failsClosed(hook, event) || distrustOf(hook) < leastTrusted)
    .filter(({ read, left }) => !isDeepStrictEqual(read, next) && !isDeepStrictEqual(left, next))
    .map(({ hook }) => hook);
}

function isRefusal(output: DefaultHookOutput): boolean {
  return output.isBlockingDecision() || output.shouldStopExecution();
}

/**
 * The results after a further round: of an earlier output of a hook only its changes stay; all else is taken from its
 * latest one.
 */
function withRerunResults(
  results: readonly HookExecutionResult[],
  rerun: readonly HookExecutionResult[],
): HookExecutionResult[] {
  const healthy = new Set(rerun.flatMap(({ success, hookConfig }) => (success ? hookConfig : [])));
  const first = results.map((result) =>
    healthy.has(result.hookConfig) ? { ...result, output: changesOf(result.output) } : result,
  );
  return [...first, ...rerun];
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

function denyUnsettled(
  hookConfig: CommandHookConfig,
  eventName: HookEventName,
): HookExecutionResult {
  const name = shortIdentity(hookConfig);
  const reason = `Hooks changed again and again what the hook "${name}" has to see before it runs: let only one of them change it, or put them into a group with "sequential": true.`;
  const output = { decision: 'deny', reason } as const;
  return { hookConfig, eventName, success: true, output, duration: 0 };
}
