import type { Next } from '../src/compose.js';
import type { AnyHookContext, HookContext } from '../src/context.js';
import type { MergeStrategy } from '../src/protocol/defineEvent.js';
import { events, resolveOutput } from '../src/protocol/events.js';
import {
  type AggregatedHookResult,
  asText,
  isBlocking,
  rankOf,
  readInPlace,
  textInPlace,
  withOtherOutput,
  type DefaultHookOutput,
} from '../src/protocol/hookOutput.js';
import { mergeHookResponses } from '../src/protocol/hookTranslator.js';
import { hookIdentity } from '../src/protocol/identity.js';
import { isRecord, mergeModelData, mergeRecords } from '../src/util/records.js';
import type {
  ForeignEffects,
  HookEventName,
  HookExecutionResult,
  HookOutput,
  ToolOutput,
} from '../src/protocol/types.js';
import { mergeScopes, mergeToolConfigs, mostTrusted, type ScopedOutput } from './scopes.js';

/** Makes one result of what all hooks of an event said. */
export class HookAggregator {
  /**
   * A failed hook contributes nothing to `finalOutput` unless it blocks: by exit code 2, or as a guard whose failure
   * does. An output that cannot be merged is lost alone and reported in `errors`.
   *
   * @param results in plan order
   */
  aggregateResults(
    this: void,
    results: readonly HookExecutionResult[],
    event: HookEventName,
  ): AggregatedHookResult {
    const { merge: strategy, Output } = events[event];
    let isHealthy = true;
    let totalDuration = 0;
    const allOutputs: HookOutput[] = [];
    const errors: Error[] = [];
    const unmergeable: Error[] = [];
    const spoken: ScopedOutput[] = [];
    let isDecided = false;
    let merged: HookOutput | undefined;
    for (const { hookConfig, success, output, error, duration } of results) {
      isHealthy &&= success;
      totalDuration += duration;
      if (error) errors.push(error);
      if (!output) continue;
      allOutputs.push(output);
      if (!success && !isBlocking(output.decision)) continue;
      try {
        const said = resolveOutput(event, output);
        // Most hooks change nothing, and are alone.
        const isPlain = !merged && !said.hookSpecificOutput && !said.foreign;
        merged = isPlain ? said : mergers[strategy](merged ?? {}, said);
        isDecided ||= said.continue === false || rankOf(said.decision) > rankOf('allow');
        spoken.push({ hookConfig, said });
      } catch (cause) {
        unmergeable.push(new Error('The output of a hook could not be merged', { cause }));
      }
    }
    if (merged && spoken.length > 1) merged = mergeScopes(event, merged, spoken, mergers[strategy]);
    const finalOutput = merged && new Output(merged);
    // What is spread into a literal takes several times as long as what is set on it.
    const sum: AggregatedHookResult = {
      success: isHealthy,
      totalDuration,
      allOutputs,
      errors: errors.concat(unmergeable),
      finalOutput,
      results: results.slice(),
    };
    if (finalOutput && isDecided) sum.decidedBy = decide(finalOutput, spoken, strategy);
    return sum;
  }
}

/** What all hooks of one event said together. */
export const { aggregateResults } = HookAggregator.prototype;

/** Merges the results of an event's hooks; usually a `HookAggregator`. */
export type Aggregator = Pick<HookAggregator, 'aggregateResults'>;

/** Last stage: many outputs become one. */
export function aggregator(outputs: Aggregator) {
  return async function aggregator(ctx: AnyHookContext, next: Next): Promise<void> {
    ctx.aggregated = outputs.aggregateResults(ctx.results ?? [], ctx.event);
    await next();
  };
}

/**
 * Gives an output the verdict, with the reasons of the hooks that gave it. Reasons of hooks that let the operation go on are
 * not part of it.
 *
 * @returns the names of these hooks
 */
function decide(
  output: DefaultHookOutput,
  spoken: readonly ScopedOutput[],
  strategy: MergeStrategy,
): string[] {
  const rank = Math.max(...spoken.map(({ said }) => rankOf(said.decision)));
  // All hooks that ask are put to the person as one question.
  const isReplaced = strategy === 'replacement' && rank !== rankOf('ask');
  const heard = (hooks: readonly ScopedOutput[]) =>
    isReplaced ? mostTrusted(hooks).slice(-1) : hooks;
  const isDecided = rank > rankOf('allow');
  const deciding = heard(spoken.filter(({ said }) => isDecided && rankOf(said.decision) === rank));
  const stopping = heard(spoken.filter(({ said }) => said.continue === false));
  if (deciding[0]) {
    output.decision = deciding[0].said.decision;
    output.reason = joinLines(...deciding.map(({ said }) => said.reason));
  }
  if (stopping[0]) {
    output.continue = false;
    output.stopReason = joinLines(...stopping.map(({ said }) => said.stopReason));
  }
  const winners = stopping.length > 0 ? stopping : deciding;
  return winners.map(({ hookConfig }) => hookIdentity(hookConfig));
}

/** Wraps an aggregated output in the class of its event. */
export function createSpecificHookOutput(
  output: HookOutput,
  event: HookEventName,
): DefaultHookOutput {
  return new events[event].Output(output);
}

/** The result of an event for which nothing ran; always a fresh object, because callers own what they get. */
export function makeEmptySuccessResult(): AggregatedHookResult {
  return {
    success: true,
    finalOutput: undefined,
    allOutputs: [],
    errors: [],
    totalDuration: 0,
    results: [],
  };
}

/**
 * The result of an event, as plain data that nobody has to interpret. What a middleware decided is never taken back by
 * what hooks say.
 *
 * @throws where a middleware has left what is no result, or cannot be read
 */
export function resolveResult({
  event,
  verdict,
  aggregated,
}: Pick<HookContext, 'event' | 'verdict' | 'aggregated'>): AggregatedHookResult {
  const result = aggregated ? checked(aggregated) : makeEmptySuccessResult();
  const { finalOutput, decidedBy: _hooks, ...rest } = result;
  const said = finalOutput && resolveOutput(event, finalOutput);
  if (verdict.kind === 'allow') {
    return { ...result, finalOutput: said && new events[event].Output(said) };
  }
  const decided = verdictOf(verdict, said);
  // A stop by hooks overrides a block by a middleware.
  const isHooks = verdict.kind === 'block' && said?.continue === false;
  return { ...(isHooks ? result : rest), finalOutput: new events[event].Output(decided) };
}

function verdictOf({ kind, reason }: Decided, said: HookOutput | undefined): HookOutput {
  return kind === 'stop'
    ? { ...said, continue: false, stopReason: reason }
    : { ...said, decision: 'deny', reason };
}

type Decided = Exclude<HookContext['verdict'], { kind: 'allow' }>;

/** A custom middleware may have written this, so it is checked. Lists that it left out are empty. */
function checked(aggregated: AggregatedHookResult): AggregatedHookResult {
  const { finalOutput, allOutputs, errors, results } = aggregated;
  if (finalOutput ? !isRecord(finalOutput) : !Array.isArray(results)) {
    throw new TypeError('a middleware has set "aggregated" to what is no result');
  }
  return {
    ...aggregated,
    finalOutput,
    allOutputs: listOf(allOutputs),
    errors: listOf(errors),
    results: listOf(results),
  };
}

/** A list, or an empty one in place of what is none. */
export function listOf<T>(value: readonly T[] | undefined): T[] {
  return Array.isArray(value) ? [...value] : [];
}

type Merge = (first: HookOutput, second: HookOutput) => HookOutput;

const mergers: Record<MergeStrategy, Merge> = {
  or: mergeWithOrDecision,
  replacement: mergeWithFieldReplacement,
  union: mergeToolSelectionOutputs,
};

/** Tool and agent events: one suppression is enough, and texts are joined line by line. */
function mergeWithOrDecision(first: HookOutput, second: HookOutput): HookOutput {
  const specific = second.hookSpecificOutput
    ? mergeSpecific(first.hookSpecificOutput, second.hookSpecificOutput, {
        additionalContext: joinLines,
      })
    : first.hookSpecificOutput;
  const dropped = second.foreign?.droppedArguments;
  return {
    decision: first.decision ?? second.decision ?? undefined,
    reason: joinLines(first.reason, second.reason),
    continue: second.continue ?? first.continue,
    stopReason: joinLines(first.stopReason, second.stopReason),
    suppressOutput: first.suppressOutput || (second.suppressOutput ?? first.suppressOutput),
    systemMessage: joinLines(first.systemMessage, second.systemMessage),
    hookSpecificOutput: dropped ? withoutDropped(specific, dropped) : specific,
    foreign: second.foreign ? mergeForeign(first.foreign, second.foreign) : first.foreign,
  };
}

/** What an earlier hook wanted of an argument that a later one dropped. */
function withoutDropped(
  specific: HookOutput['hookSpecificOutput'],
  dropped: readonly string[],
): HookOutput['hookSpecificOutput'] {
  const change = specific?.['tool_input'];
  if (!isRecord(change)) return specific;
  const kept = Object.entries(change).filter(([name]) => !dropped.includes(name));
  return { ...specific, tool_input: Object.fromEntries(kept) };
}

function mergeForeign(first: ForeignEffects | undefined, second: ForeignEffects): ForeignEffects {
  if (!first) return second;
  return {
    droppedArguments: [...(first.droppedArguments ?? []), ...(second.droppedArguments ?? [])],
    toolOutput: winningOutput(first.toolOutput, second.toolOutput),
    contextOfResult: joinLines(first.contextOfResult, second.contextOfResult),
    prevents: first.prevents || second.prevents,
    withheld: joinLines(first.withheld, second.withheld),
  };
}

/** A denial wins, else what the later one gave; of two denials both reasons are read. */
function winningOutput(first?: ToolOutput, second?: ToolOutput): ToolOutput | undefined {
  if (!first || !second) return first ?? second;
  if (first.isDenial && second.isDenial) {
    return textInPlace(`${readInPlace(first)}\n${readInPlace(second)}`, true);
  }
  if (second.isDenial) return second;
  return first.isDenial ? first : withOtherOutput(first, second);
}

/** Model events: later fields override earlier ones. */
function mergeWithFieldReplacement(first: HookOutput, second: HookOutput): HookOutput {
  return defined({
    ...first,
    ...defined(second),
    hookSpecificOutput: mergeSpecific(first.hookSpecificOutput, second.hookSpecificOutput),
    foreign: second.foreign ? mergeForeign(first.foreign, second.foreign) : first.foreign,
  });
}

/** Tool selection: names are united and sorted, and the most restrictive mode wins. `NONE` leaves no names. */
function mergeToolSelectionOutputs(first: HookOutput, second: HookOutput): HookOutput {
  const merged = mergeWithOrDecision(first, second);
  const toolConfig = mergeToolConfigs([first, second], namesOfAny);
  if (!toolConfig) return merged;
  return { ...merged, hookSpecificOutput: { ...merged.hookSpecificOutput, toolConfig } };
}

function namesOfAny(lists: readonly (readonly unknown[])[]): readonly unknown[] {
  return [...new Set(lists.flat().filter((name) => typeof name === 'string'))].toSorted();
}

type FieldMerge = (first: unknown, second: unknown) => unknown;

/** Fields of `hookSpecificOutput` that are not simply overridden by the later hook. */
const specificMerges: Record<string, FieldMerge> = {
  tool_input: mergeWith(mergeRecords),
  llm_request: mergeWith(mergeModelData),
  llm_response: mergeWith(mergeHookResponses),
  // No hook makes another one's no a yes, and the longest wait is long enough for all.
  retry: (first, second) => first === true && second === true,
  retryAfterMs: (first, second) => Math.max(Number(first), Number(second)),
};

function mergeSpecific(
  first: HookOutput['hookSpecificOutput'],
  second: HookOutput['hookSpecificOutput'],
  merges: Record<string, FieldMerge> = {},
): HookOutput['hookSpecificOutput'] {
  if (!isRecord(first) || !isRecord(second)) {
    return isRecord(first) ? first : isRecord(second) ? mergeRecords({}, second) : undefined;
  }
  const merged = mergeRecords(first, second);
  for (const [field, merge] of Object.entries({ ...specificMerges, ...merges })) {
    if (first[field] !== undefined && second[field] !== undefined) {
      merged[field] = merge(first[field], second[field]);
    }
  }
  return merged;
}

function mergeWith(merge: typeof mergeRecords): FieldMerge {
  return (first, second) =>
    isRecord(first) && isRecord(second) ? merge(first, second) : (second ?? first);
}

function joinLines(...lines: unknown[]): string | undefined {
  return lines.filter(asText).join('\n') || undefined;
}

function defined(output: HookOutput): HookOutput {
  return Object.fromEntries(Object.entries(output).filter(([, value]) => value !== undefined));
}
