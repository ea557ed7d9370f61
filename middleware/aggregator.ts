import type { Next } from '../src/compose.js';
import type { AnyHookContext } from '../src/context.js';
import { events, type MergeStrategy } from '../src/hooks/events.js';
import { isBlocking, type DefaultHookOutput } from '../src/hooks/hookOutput.js';
import { mergeHookResponses } from '../src/hooks/hookTranslator.js';
import { isRecord, mergeModelData, mergeRecords } from '../src/hooks/merge.js';
import type {
  AggregatedHookResult,
  HookEventName,
  HookExecutionResult,
  HookOutput,
  ToolOutput,
} from '../src/hooks/types.js';

/** Anything that makes one result of many; usually a `HookAggregator`. */
export interface Aggregator {
  aggregateResults(
    results: readonly HookExecutionResult[],
    event: HookEventName,
  ): AggregatedHookResult;
}

/** Last stage: many outputs become one. */
export function aggregator(outputs: Aggregator) {
  return async function aggregator(ctx: AnyHookContext, next: Next): Promise<void> {
    ctx.aggregated = outputs.aggregateResults(ctx.results ?? [], ctx.event);
    await next();
  };
}

/**
 * What all hooks of one event said together.
 *
 * A failed hook contributes nothing to `finalOutput` unless it blocks: by exit code 2, or as a guard whose failure
 * does. An output that cannot be merged is lost alone and reported in `errors`.
 */
export function aggregateResults(
  results: readonly HookExecutionResult[],
  event: HookEventName,
): AggregatedHookResult {
  const errors = results.flatMap((result) => result.error ?? []);
  const { merge: strategy, effective = asItIs } = events[event];
  const merge = mergers[strategy];
  let merged: HookOutput | undefined;
  for (const { output } of results.filter(hasEffect)) {
    if (!output) continue;
    try {
      merged = merge(merged ?? {}, effective(output));
    } catch (cause) {
      errors.push(new Error('The output of a hook could not be merged', { cause }));
    }
  }
  return {
    success: results.every((result) => result.success),
    finalOutput: merged && createSpecificHookOutput(merged, event),
    allOutputs: results.flatMap((result) => result.output ?? []),
    errors,
    totalDuration: results.reduce((total, result) => total + result.duration, 0),
    results: [...results],
  };
}

/** Wraps an aggregated output in the class of its event. */
export function createSpecificHookOutput(
  output: HookOutput,
  event: HookEventName,
): DefaultHookOutput {
  return new events[event].Output(output);
}

function asItIs(output: HookOutput): HookOutput {
  return output;
}

function hasEffect(result: HookExecutionResult): boolean {
  return result.success || isBlocking(result.output?.decision);
}

type Merge = (first: HookOutput, second: HookOutput) => HookOutput;

const mergers: Record<MergeStrategy, Merge> = {
  or: mergeWithOrDecision,
  replacement: mergeWithFieldReplacement,
  union: mergeToolSelectionOutputs,
};

/** Tool and agent events: any block, stop or suppression wins, and texts are joined line by line. */
function mergeWithOrDecision(first: HookOutput, second: HookOutput): HookOutput {
  const merged = defined({
    decision: strongest(first.decision, second.decision),
    reason: joinLines(asText(first.reason), asText(second.reason)),
    continue: first.continue === false ? false : (second.continue ?? first.continue),
    stopReason: joinLines(asText(first.stopReason), asText(second.stopReason)),
    suppressOutput: first.suppressOutput || (second.suppressOutput ?? first.suppressOutput),
    systemMessage: joinLines(asText(first.systemMessage), asText(second.systemMessage)),
    hookSpecificOutput: mergeSpecific(first.hookSpecificOutput, second.hookSpecificOutput, {
      additionalContext: (a, b) => joinLines(asText(a), asText(b)),
    }),
    foreign: mergeForeign(first.foreign, second.foreign),
  });
  const specific = merged.hookSpecificOutput;
  if (isBlocking(merged.decision) && specific && !isBlocking(specific['permissionDecision'])) {
    // The reason of a permission would pass for the reason of the block.
    delete specific['permissionDecisionReason'];
  }
  return merged;
}

function mergeForeign(first: HookOutput['foreign'], second: HookOutput['foreign']) {
  if (!first || !second) return first ?? second;
  return {
    toolOutput: winningOutput(first.toolOutput, second.toolOutput),
    contextOfResult: joinLines(first.contextOfResult, second.contextOfResult),
    prevents: first.prevents || second.prevents,
  };
}

/** A denial wins, else the later one; of two denials both reasons are read. */
function winningOutput(first?: ToolOutput, second?: ToolOutput): ToolOutput | undefined {
  if (!first || !second) return first ?? second;
  if (first.isDenial && second.isDenial) {
    return { text: `${first.text}\n${second.text}`, isDenial: true };
  }
  return first.isDenial ? first : second;
}

/** Model events: later fields override earlier ones, except that no later hook takes back a block or a stop. */
function mergeWithFieldReplacement(first: HookOutput, second: HookOutput): HookOutput {
  const merged: HookOutput = { ...first, ...defined(second) };
  if (isBlocking(first.decision) && !isBlocking(second.decision)) {
    merged.decision = first.decision;
    merged.reason = first.reason;
  }
  if (first.continue === false) {
    merged.continue = false;
    merged.stopReason = stopReasonOf(second) ?? stopReasonOf(first);
  }
  merged.hookSpecificOutput = mergeSpecific(first.hookSpecificOutput, second.hookSpecificOutput);
  return defined(merged);
}

/** Tool selection: names are united and sorted, and the most restrictive mode wins. `NONE` leaves no names. */
function mergeToolSelectionOutputs(first: HookOutput, second: HookOutput): HookOutput {
  const merged = mergeWithOrDecision(first, second);
  const configs = [first, second]
    .map((output) => output.hookSpecificOutput?.['toolConfig'])
    .filter(isRecord);
  if (configs.length === 0) return merged;

  const mode = ['NONE', 'ANY', 'AUTO'].find((each) =>
    configs.some((config) => config['mode'] === each),
  );
  const lists = configs.map((config) => config['allowedFunctionNames']).filter(Array.isArray);
  const names = [...new Set(lists.flat().filter((name) => typeof name === 'string'))].toSorted();
  merged.hookSpecificOutput = {
    ...merged.hookSpecificOutput,
    toolConfig: {
      ...(mode && { mode }),
      ...(mode === 'NONE' && { allowedFunctionNames: [] }),
      ...(mode !== 'NONE' && lists.length > 0 && { allowedFunctionNames: names }),
    },
  };
  return merged;
}

function stopReasonOf({ continue: goesOn, stopReason, reason }: HookOutput): string | undefined {
  return goesOn === false ? stopReason || reason || undefined : undefined;
}

type FieldMerge = (first: unknown, second: unknown) => unknown;

/** Fields of `hookSpecificOutput` that are not simply overridden by the later hook. */
const specificMerges: Record<string, FieldMerge> = {
  tool_input: mergeWith(mergeRecords),
  llm_request: mergeWith(mergeModelData),
  llm_response: mergeWith(mergeHookResponses),
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
  return { ...merged, ...strongerPermission(first, second) };
}

/** A permission and its reason belong together, and no later hook takes back a denial. */
function strongerPermission(
  first: Record<string, unknown>,
  second: Record<string, unknown>,
): Record<string, unknown> {
  const kept = isBlocking(first['permissionDecision']) && !isBlocking(second['permissionDecision']);
  const winner = kept || second['permissionDecision'] === undefined ? first : second;
  if (winner['permissionDecision'] === undefined) return {};
  return {
    permissionDecision: winner['permissionDecision'],
    permissionDecisionReason: winner['permissionDecisionReason'],
  };
}

function mergeWith(merge: typeof mergeRecords): FieldMerge {
  return (first, second) =>
    isRecord(first) && isRecord(second) ? merge(first, second) : (second ?? first);
}

function strongest(
  first: HookOutput['decision'],
  second: HookOutput['decision'],
): HookOutput['decision'] {
  return strength(second) > strength(first) ? second : first;
}

function strength(decision: HookOutput['decision']): number {
  if (isBlocking(decision)) return 3;
  if (decision === 'ask') return 2;
  return decision ? 1 : 0;
}

function joinLines(first: string | undefined, second: string | undefined): string | undefined {
  return first && second ? `${first}\n${second}` : first || second;
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function defined(output: HookOutput): HookOutput {
  return Object.fromEntries(Object.entries(output).filter(([, value]) => value !== undefined));
}
