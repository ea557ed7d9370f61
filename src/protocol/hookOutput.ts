import type {
  GenerateContentParameters,
  GenerateContentResponse,
  PartListUnion,
  ToolConfig,
  ToolListUnion,
} from '@google/genai';
import { textResponse } from './response.js';
import { ToolErrorType, type ToolResult } from '../tools/tools.js';
import {
  defaultHookTranslator,
  type HookToolConfig,
  type LLMRequest,
  type LLMResponse,
} from './hookTranslator.js';
import { isRecord, mergeRecords } from '../util/records.js';
import { answerFields, type HookOutput, type ToolOutput } from './hookAnswer.js';
import type { CommandHookConfig } from './hookConfig.js';
import type { HookEventName } from './names.js';
import { sanitizeText } from './sanitizeText.js';

/** The reason given where a hook blocks without saying why. */
export const DEFAULT_BLOCK_REASON = 'Blocked by hook';
/** The reason given where a hook stops the agent without saying why. */
export const DEFAULT_STOP_REASON = 'Stopped by hook';

const FIELDS = [...Object.keys(answerFields), 'foreign'] as (keyof HookOutput)[];

// The constructor takes over every field.
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging
export interface DefaultHookOutput extends HookOutput {}

/** What one hook, or all hooks of an event together, said; with the questions that callers ask. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging
export class DefaultHookOutput {
  constructor(data: HookOutput = {}) {
    const own = this as Record<keyof HookOutput, unknown>;
    for (const field of FIELDS) own[field] = data[field];
  }

  /** Whether the operation must not go on. `ask` does not block. */
  isBlockingDecision(): boolean {
    return isBlocking(this.decision);
  }

  /** Whether the agent loop must end. */
  shouldStopExecution(): boolean {
    return this.continue === false;
  }

  /** Why the agent loop must end, where it must; else why the operation must not go on. Never empty. */
  getEffectiveReason(): string {
    return this.shouldStopExecution() ? this.getStopReason() : this.getBlockReason();
  }

  /** Why the agent loop must end: `stopReason`, else `reason`, else a default text. */
  getStopReason(): string {
    return (asText(this.stopReason) ?? asText(this.reason) ?? DEFAULT_STOP_REASON).trim();
  }

  /** Why the operation must not go on: `reason`, else `stopReason`, else a default text. */
  getBlockReason(): string {
    return (asText(this.reason) ?? asText(this.stopReason) ?? DEFAULT_BLOCK_REASON).trim();
  }

  /** Text to append to what the model reads. */
  getAdditionalContext(): string | undefined {
    return asText(this.hookSpecificOutput?.['additionalContext']);
  }

  /** The request to send. Without changes in the output, `target` itself. */
  applyLLMRequestModifications(target: GenerateContentParameters): GenerateContentParameters {
    return target;
  }

  /** The tool configuration to use. Without changes in the output, `target` itself. */
  applyToolConfigModifications(target: ToolSelection): ToolSelection {
    return target;
  }
}

/** Which hooks run for one event, in order. */
export interface HookExecutionPlan {
  readonly eventName: HookEventName;
  readonly hookConfigs: readonly CommandHookConfig[];
  readonly sequential: boolean;
  /** Those that are started and not waited for. */
  readonly background?: readonly CommandHookConfig[] | undefined;
  /** Whether all of them have conditions, so that none may run for a call. */
  readonly isConditional?: boolean;
  /** Whether all of them are rules that nothing has to be read or asked for. */
  readonly isInstant?: boolean | undefined;
  /** What rules know of the call for which it was made. */
  readonly call?: object;
}

/** What the server of a remote hook says: the version of the policy that has answered, and the names of its hooks that decided so. */
export interface ServerWord {
  readonly policy?: string;
  readonly decidedBy?: readonly string[];
}

/** What became of one hook. */
export interface HookExecutionResult extends ServerWord {
  readonly hookConfig: CommandHookConfig;
  readonly eventName: HookEventName;
  /** True for exit code 0 only. Says whether the hook was healthy, not what it decided. */
  readonly success: boolean;
  /** What the hook said, read and checked; absent when it said nothing. */
  readonly output?: HookOutput;
  readonly stdout?: string;
  readonly stderr?: string;
  /** The exit code; 0 beside `success: false` when a signal ended the hook (see `signal`). */
  readonly exitCode?: number;
  readonly signal?: string;
  /** Milliseconds. */
  readonly duration: number;
  /** Why the hook could not be run to its end. Absent for a plain exit, whatever its code. */
  readonly error?: Error;
  /**
   * What went wrong, and what to do about it: the exception of its stderr, with file and line, or what of its stdout
   * does not count. Absent where that is not known.
   */
  readonly why?: string;
  /** Of a persistent hook: whether its process was started for this event, or had answered another one before. */
  readonly process?: ProcessAge;
  /** Of a rule: the pattern of its condition that matched, and what of the call. */
  readonly matched?: string;
}

/** How old the process of a persistent hook was at an event. */
export type ProcessAge = 'new' | 'kept';

/** What all hooks of one event said together. */
export interface AggregatedHookResult {
  /** Whether every hook was healthy. Never a policy: ask `finalOutput` whether the operation may go on. */
  success: boolean;
  finalOutput: DefaultHookOutput | undefined;
  /**
   * The names of the hooks, else their commands, that gave the verdict that counts, in plan order: a stop counts more
   * than a block, and a block more than an `ask`. Absent where no hook decided anything.
   */
  decidedBy?: readonly string[];
  allOutputs: HookOutput[];
  errors: Error[];
  /** Milliseconds of all hooks added up. */
  totalDuration: number;
  /** One entry a hook, in plan order, so that a caller can show which hook said what. */
  results: HookExecutionResult[];
}

/** Whether a hook did not do its work. A block by exit code 2 is what it is for. */
export function hasFailed({ error, success, exitCode }: HookExecutionResult): boolean {
  return error !== undefined || !(success || exitCode === 2);
}

/** Whether all hooks of an event did their work, and what they said could be merged. */
export function areHealthy({ success, errors, results }: AggregatedHookResult): boolean {
  const wereAsked = success || results.length > 0;
  return wereAsked && errors.length === 0 && !results.some(hasFailed);
}

/** What BeforeToolSelection hooks may look at: `tools` always passes through unchanged. */
export interface ToolSelection {
  toolConfig?: ToolConfig;
  tools?: ToolListUnion;
}

/** The output of BeforeTool hooks. Also understands `permissionDecision` and `permissionDecisionReason`. */
export class BeforeToolHookOutput extends DefaultHookOutput {
  override isBlockingDecision(): boolean {
    return (
      super.isBlockingDecision() || isBlocking(this.hookSpecificOutput?.['permissionDecision'])
    );
  }

  override getBlockReason(): string {
    const reason = asText(this.hookSpecificOutput?.['permissionDecisionReason']);
    return reason?.trim() ?? super.getBlockReason();
  }

  /** Whether the user is to be asked. */
  isAsking(): boolean {
    return this.decision === 'ask' || this.hookSpecificOutput?.['permissionDecision'] === 'ask';
  }

  /** The arguments that hooks want changed, to be merged over the call's own. */
  getModifiedToolInput(): Record<string, unknown> | undefined {
    return objectField(this, 'tool_input');
  }
}

/** The output of AfterTool hooks. */
export class AfterToolHookOutput extends DefaultHookOutput {}

/** The output of BeforeModel hooks. */
export class BeforeModelHookOutput extends DefaultHookOutput {
  /** The answer to give instead of calling the model; only where a hook gave `llm_response`. */
  getSyntheticResponse(): GenerateContentResponse | undefined {
    const response: Partial<LLMResponse> | undefined = objectField(this, 'llm_response');
    return response && defaultHookTranslator.fromHookLLMResponse(response);
  }

  override applyLLMRequestModifications(
    target: GenerateContentParameters,
  ): GenerateContentParameters {
    const request: Partial<LLMRequest> | undefined = objectField(this, 'llm_request');
    return request ? defaultHookTranslator.fromHookLLMRequest(request, target) : target;
  }
}

/** The output of AfterModel hooks. */
export class AfterModelHookOutput extends DefaultHookOutput {
  /** The response that hooks want instead, as they described it. */
  getHookResponse(): Partial<LLMResponse> | undefined {
    return objectField(this, 'llm_response');
  }

  /**
   * The response to use instead of the model's: the one that hooks returned; where they stopped the agent
   * without one, a response that consists of the reason.
   */
  getModifiedResponse(): GenerateContentResponse | undefined {
    const response = this.getHookResponse();
    if (response) return defaultHookTranslator.fromHookLLMResponse(response);
    return this.shouldStopExecution() ? textResponse(this.getEffectiveReason()) : undefined;
  }
}

/** The output of BeforeToolSelection hooks. */
export class BeforeToolSelectionHookOutput extends DefaultHookOutput {
  override applyToolConfigModifications(target: ToolSelection): ToolSelection {
    const toolConfig: HookToolConfig | undefined = objectField(this, 'toolConfig');
    if (!toolConfig) return target;
    return {
      ...target,
      toolConfig: defaultHookTranslator.fromHookToolConfig(toolConfig, target.toolConfig),
    };
  }
}

/** The arguments of a tool after hooks changed them; the same object where they changed nothing. */
export function withToolInput(
  input: Record<string, unknown>,
  output: HookOutput,
): Record<string, unknown> {
  const change = objectField(output, 'tool_input');
  const dropped = new Set(output.foreign?.droppedArguments);
  if (!change && dropped.size === 0) return input;
  const kept = Object.entries(input).filter(([name]) => !dropped.has(name));
  return mergeRecords(dropped.size === 0 ? input : Object.fromEntries(kept), change ?? {});
}

/** What hooks read of a tool's result, which they must not share with the tool. */
export function asToolResponse(
  result: ToolResult | Record<string, unknown>,
): Record<string, unknown> {
  return { ...result };
}

/** A text in place of all that a tool gave. */
export function textInPlace(text: string, isDenial = false): ToolOutput {
  return { llmContent: text, returnDisplay: text, isDenial };
}

/** What the model reads in place of what a tool gave, as a text; `undefined` where it reads that. */
export function readInPlace({ llmContent }: ToolOutput): string | undefined {
  return llmContent === undefined ? undefined : textOfContent(llmContent);
}

/** What both gave; where both gave the same field, the second one's counts. */
export function withOtherOutput(first: ToolOutput, second: ToolOutput): ToolOutput {
  const { isDenial } = second.llmContent === undefined ? first : second;
  return { ...first, ...second, isDenial };
}

/**
 * A tool's result, or what hooks read of it, with another output. Where the model reads another one, nothing of the old
 * is left for it, in fields of the tool's own and in its error neither; what has failed has still failed.
 */
export function withToolOutput<T extends Pick<ToolResult, 'returnDisplay'> | Fields>(
  result: T,
  { llmContent, returnDisplay, isDenial }: ToolOutput,
): T {
  const display = returnDisplay === undefined ? {} : { returnDisplay };
  if (llmContent === undefined) return { ...result, ...display };
  const { error, suppressDisplay, returnDisplay: shown }: Fields = result;
  const given = isRecord(error) ? error['type'] : undefined;
  const known = Object.values(ToolErrorType).find((type) => type === given);
  const type = known ?? (isDenial ? ToolErrorType.Blocked : undefined);
  const isFailure = isDenial || isRecord(error);
  const message = textOfContent(llmContent);
  return {
    llmContent,
    returnDisplay: shown,
    ...display,
    ...(isFailure && { error: { message, ...(type && { type }) } }),
    ...(suppressDisplay === true && { suppressDisplay }),
  } as unknown as T;
}

/** The result that a hook gave in our own format, as what takes the place of the tool's. */
export function withResponseInPlace(output: HookOutput): HookOutput {
  const { tool_response: given, ...specific } = output.hookSpecificOutput ?? {};
  if (given === undefined) return output;
  const toolOutput = cleanOutput(
    typeof given === 'string' ? textInPlace(given) : { ...(given as object), isDenial: false },
  );
  const isOnly = Object.keys(specific).length === 0;
  return {
    ...output,
    hookSpecificOutput: isOnly ? undefined : specific,
    foreign: { toolOutput, ...output.foreign },
  };
}

/** Without what must not reach a model or a terminal. A result is not cut, as a message of a hook is. */
export function cleanOutput({ llmContent, returnDisplay, isDenial }: ToolOutput): ToolOutput {
  const limit = isDenial ? undefined : Infinity;
  const clean = (part: unknown): unknown => {
    if (typeof part === 'string') return sanitizeText(part, limit);
    const text = isRecord(part) ? part['text'] : undefined;
    return typeof text === 'string' ? { ...(part as object), text: clean(text) } : part;
  };
  const content = Array.isArray(llmContent) ? llmContent.map(clean) : clean(llmContent);
  return {
    ...(llmContent != null && { llmContent: content as PartListUnion }),
    ...(returnDisplay != null && { returnDisplay: sanitizeText(returnDisplay, limit) }),
    isDenial,
  };
}

/** A text as it is, parts of text joined, and everything else as JSON. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content
    .map((part) => textOfContent(isRecord(part) ? (part['text'] ?? part) : part))
    .join('\n');
}

type Fields = Readonly<Record<string, unknown>>;

/** An aggregated result with the fields that mean the same for every event; its author is in `decidedBy`. */
export interface ProcessedHookResult {
  readonly aggregated: AggregatedHookResult;
  /** Whether the agent loop must end. */
  readonly shouldStop: boolean;
  /** Why, where it must. */
  readonly stopReason: string | undefined;
  /** Text for the model, never for the user. */
  readonly systemMessage: string | undefined;
  /** Whether the operation's output is kept from the user. */
  readonly suppressOutput: boolean;
}

/** The one place that reads the fields common to all events; callers use what it returns. */
export function processCommonHookOutputFields(
  aggregated: AggregatedHookResult,
): ProcessedHookResult {
  const output = aggregated.finalOutput;
  const shouldStop = output?.continue === false;
  return {
    aggregated,
    shouldStop,
    stopReason: shouldStop ? output?.getStopReason() : undefined,
    systemMessage: asText(output?.systemMessage),
    suppressOutput: output?.suppressOutput === true,
  };
}

/** Whether a value found in `decision` or `permissionDecision` blocks. */
export function isBlocking(decision: unknown): decision is 'block' | 'deny' {
  return decision === 'block' || decision === 'deny';
}

/** How much a decision counts beside others: 3 a block, 2 `ask`, 1 what allows, 0 anything that is none. */
export function rankOf(decision: unknown): number {
  if (isBlocking(decision)) return 3;
  if (decision === 'ask') return 2;
  return decision === 'allow' || decision === 'approve' ? 1 : 0;
}

/** What somebody said, as it is; `undefined` where that is blank, or no text at all. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A field of `hookSpecificOutput` that is an object; `undefined` where it is none. */
export function objectField(
  output: HookOutput,
  field: string,
): Record<string, unknown> | undefined {
  const value = output.hookSpecificOutput?.[field];
  return isRecord(value) ? value : undefined;
}
