import { resolveOutput, withWithheld } from '../src/protocol/events.js';
import { rankOf, withOtherOutput, type AggregatedHookResult } from '../src/protocol/hookOutput.js';
import { distrustOf } from '../src/protocol/identity.js';
import type {
  CommandHookConfig,
  ForeignEffects,
  HookDecision,
  HookEventName,
  HookOutput,
} from '../src/protocol/types.js';
import { isRecord } from '../src/util/records.js';

/** One hook and its resolved output. */
export interface ScopedOutput {
  readonly hookConfig: CommandHookConfig;
  readonly said: HookOutput;
}

type Merge = (first: HookOutput, second: HookOutput) => HookOutput;
type Specific = Readonly<Record<string, unknown>>;

/**
 * Merges outputs of hooks of several scopes: first within each scope by the event's strategy, then from the least to
 * the most trusted scope, so that less trusted hooks can only tighten. All else is merged in plan order, as texts that are
 * read beside the result are.
 *
 * @param inPlanOrder the same, merged without a look at scopes
 */
export function mergeScopes(
  event: HookEventName,
  inPlanOrder: HookOutput,
  spoken: readonly ScopedOutput[],
  merge: Merge,
): HookOutput {
  const merged = isOfOneScope(spoken) ? inPlanOrder : mergeByTrust(inPlanOrder, spoken, merge);
  return withWithheld(event, merged);
}

function mergeByTrust(
  inPlanOrder: HookOutput,
  spoken: readonly ScopedOutput[],
  merge: Merge,
): HookOutput {
  // From the least trusted to the most trusted, whose word counts over that of the others.
  const scopes = byScope(spoken).map((hooks) => hooks.map(({ said }) => said).reduce(merge, {}));
  const framed = scopes.reduce(merge, {});
  const answering = scopes.findLast(
    (scope) => scope.continue === false || scope.hookSpecificOutput?.['llm_response'] !== undefined,
  );
  const toolConfig = mergeToolConfigs(scopes, namesOfAll);
  const specific = {
    ...inPlanOrder.hookSpecificOutput,
    ...pick(framed.hookSpecificOutput, ['tool_input', 'llm_request']),
    // Where a more trusted hook stopped without a response, no response of a less trusted hook takes its place.
    llm_response: answering?.hookSpecificOutput?.['llm_response'],
    ...(toolConfig && { toolConfig }),
  };
  return {
    ...inPlanOrder,
    systemMessage: linesOf(spoken.map(({ said }) => said.systemMessage)),
    suppressOutput: scopes.some((scope) => scope.suppressOutput) || inPlanOrder.suppressOutput,
    ...(inPlanOrder.hookSpecificOutput && { hookSpecificOutput: specific }),
    ...(inPlanOrder.foreign && { foreign: mergeEffects(inPlanOrder.foreign, scopes) }),
  };
}

function isOfOneScope([first, ...others]: readonly ScopedOutput[]): boolean {
  return others.every(({ hookConfig }) => hookConfig.scope === first?.hookConfig.scope);
}

/** What a more trusted hook made of a result stays, also where a less trusted one denies. */
function mergeEffects(inPlanOrder: ForeignEffects, scopes: readonly HookOutput[]): ForeignEffects {
  const [first, ...others] = scopes.flatMap(({ foreign }) => foreign?.toolOutput ?? []);
  return { ...inPlanOrder, toolOutput: first && others.reduce(withOtherOutput, first) };
}

/**
 * One tool configuration of all outputs, in the most restrictive mode of any.
 *
 * @param join makes one list of names; `undefined` where no tool is left, as with the mode `NONE`
 */
export function mergeToolConfigs(
  outputs: readonly HookOutput[],
  join: (lists: readonly (readonly unknown[])[]) => readonly unknown[] | undefined,
): Specific | undefined {
  const configs = outputs.map((each) => each.hookSpecificOutput?.['toolConfig']).filter(isRecord);
  if (configs.length === 0) return undefined;
  const lists = configs.map((config) => config['allowedFunctionNames']).filter(isList);
  const modes = new Set(configs.map((config) => config['mode']));
  const mode = ['NONE', 'ANY', 'AUTO'].find((each) => modes.has(each));
  const names = lists.length > 0 ? join(lists) : [];
  if (mode === 'NONE' || !names) return { mode: 'NONE', allowedFunctionNames: [] };
  return { ...(mode && { mode }), ...(lists.length > 0 && { allowedFunctionNames: names }) };
}

/** Those that all scopes allow. */
function namesOfAll([first, ...others]: readonly (readonly unknown[])[]) {
  const names = first?.filter((name) => others.every((list) => list.includes(name)));
  return names?.length === 0 ? undefined : names;
}

/** Those of one scope are together, the least trusted first. */
function byScope(spoken: readonly ScopedOutput[]): ScopedOutput[][] {
  const scopes = new Map<number, ScopedOutput[]>();
  for (const each of spoken) {
    const distrust = distrustOf(each.hookConfig);
    scopes.set(distrust, [...(scopes.get(distrust) ?? []), each]);
  }
  return [...scopes].toSorted(([a], [b]) => b - a).map(([, hooks]) => hooks);
}

/** Of several hooks those of the most trusted scope. */
export function mostTrusted(spoken: readonly ScopedOutput[]): readonly ScopedOutput[] {
  return byScope(spoken).at(-1) ?? [];
}

/**
 * Whether an `allow` may replace the approval of a person: one of the allowing hooks has to be as trusted as every hook
 * that asks.
 */
export function mayReplaceApproval(
  allowing: AggregatedHookResult,
  asking: AggregatedHookResult,
): boolean {
  if (rankOf(allowing.finalOutput?.decision) !== rankOf('allow')) return false;
  return Math.min(...distrustsOf(allowing, 'allow')) <= Math.min(...distrustsOf(asking, 'ask'));
}

/** The distrust ranks of the hooks with this decision; 0 is the most trusted. */
export function distrustsOf({ results }: AggregatedHookResult, decision: HookDecision): number[] {
  return results.flatMap(({ hookConfig, eventName, output }) => {
    const said = output && resolveOutput(eventName, output).decision;
    return rankOf(said) === rankOf(decision) ? [distrustOf(hookConfig)] : [];
  });
}

function linesOf(texts: readonly (string | undefined)[]): string | undefined {
  return texts.flatMap((text) => text ?? []).join('\n') || undefined;
}

function pick(from: Specific | undefined, fields: readonly string[]): Specific {
  const given = Object.entries(from ?? {});
  return Object.fromEntries(given.filter(([name]) => fields.includes(name)));
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
