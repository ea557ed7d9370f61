import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import {
  AfterModelHookOutput,
  AfterToolHookOutput,
  BeforeModelHookOutput,
  BeforeToolHookOutput,
  BeforeToolSelectionHookOutput,
  DefaultHookOutput,
  asText,
  isBlocking,
  objectField,
  rankOf,
  withToolInput,
  withToolOutput,
} from './hookOutput.js';
import { defaultHookTranslator, type LLMRequest } from './hookTranslator.js';
import { eventFields, type EventFields } from './hookValidators.js';
import { isRecord, mergeModelData } from '../util/records.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type CommandHookConfig,
  type HookDecision,
  type HookEventInput,
  type HookInput,
  type HookOutput,
  type HookPayload,
  type Moment,
} from './types.js';

/** What hooks of other agents read of a tool call, and ours do not. */
export interface CallFacts {
  /** The model's id of the call. */
  readonly callId?: string;
  /** Milliseconds that the tool took. */
  readonly durationMs?: number;
  /** Whether the caller puts to a person what hooks ask. */
  readonly canAsk?: boolean;
}

/** JSON leaves it out, so that hooks in our own format read what they always have. */
const CALL_FACTS = Symbol('call facts');

/** The facts that an input has. */
export function callFactsOf(input: object): CallFacts {
  return (input as { [CALL_FACTS]?: CallFacts })[CALL_FACTS] ?? {};
}

/** How the outputs of several hooks become one; see `middleware/aggregator.ts`. */
export type MergeStrategy = 'or' | 'replacement' | 'union';

/** Everything that differs between events. */
export interface EventDefinition<E extends HookEventName> {
  /** What matchers are tested against; without it, every hook of the event runs. */
  readonly matchOn?: (payload: HookPayload<E>) => string;
  /** What only matchers of other agents are tested against. */
  readonly dialectsMatchOn?: (payload: HookPayload<E>) => string;
  /** The moment of it that other agents tell apart, where it is one. */
  readonly momentOf?: (payload: HookPayload<E>) => Moment | undefined;
  /** All that this may be. */
  readonly subjects?: readonly string[];
  /** Whether a block prevents the operation. Elsewhere it is reported and has no such effect. */
  readonly canBlock: boolean;
  /** Where there is something to withhold once a guard has failed: how a text takes its place. */
  readonly withhold?: (text: string) => HookOutput;
  /**
   * What the payload is after an output; the same one where that changes nothing. There where the operation goes on with
   * it, so that guards have to see it.
   */
  readonly changed?: (payload: HookPayload<E>, output: HookOutput) => HookPayload<E>;
  /** The fields that a script reads besides the common ones. */
  readonly encode: (payload: HookPayload<E>) => Omit<HookEventInput<E>, keyof HookInput>;
  /** Checks fields that come from outside. */
  readonly fields: (typeof eventFields)[E];
  /** The payload that checked fields stand for. */
  readonly decode: (fields: EventFields<E>) => HookPayload<E>;
  readonly merge: MergeStrategy;
  /** What the next hook of a chain reads after this output. Without it, all read the same. */
  readonly chain?: (input: HookEventInput<E>, output: HookOutput) => HookEventInput<E>;
  /** What of one hook's output counts, before it is merged. Without it, all. */
  readonly effective?: (output: HookOutput) => HookOutput;
  /** The class of the aggregated output. */
  readonly Output: new (data?: HookOutput) => DefaultHookOutput;
}

/** THE table: one entry an event. */
export const events: { readonly [E in HookEventName]: EventDefinition<E> } = {
  [HookEventName.BeforeTool]: {
    matchOn: toolNameOf,
    momentOf: ({ isAsked }) => (isAsked ? 'asked' : undefined),
    canBlock: true,
    encode: ({ toolName, toolInput, callId, canAsk }) => ({
      tool_name: toolName,
      tool_input: toolInput,
      ...((callId ?? canAsk) !== undefined && { [CALL_FACTS]: { callId, canAsk } }),
    }),
    fields: eventFields.BeforeTool,
    decode: (fields) => ({ toolName: fields.tool_name, toolInput: fields.tool_input }),
    merge: 'or',
    chain: (input, output) => {
      const changed = withToolInput(input.tool_input, output);
      return changed === input.tool_input ? input : { ...input, tool_input: changed };
    },
    changed: (payload, output) => {
      const toolInput = withToolInput(payload.toolInput, output);
      return toolInput === payload.toolInput ? payload : { ...payload, toolInput };
    },
    effective: withPermissionAsDecision,
    Output: BeforeToolHookOutput,
  },
  [HookEventName.AfterTool]: {
    matchOn: toolNameOf,
    momentOf: ({ toolResponse }) => (hasFailed(toolResponse) ? 'failed' : undefined),
    canBlock: false,
    withhold: (text) => ({ foreign: { toolOutput: { text, isDenial: true } } }),
    encode: ({ toolName, toolInput, toolResponse, callId, durationMs }) => ({
      tool_name: toolName,
      tool_input: toolInput,
      tool_response: { ...toolResponse },
      ...((callId ?? durationMs) !== undefined && { [CALL_FACTS]: { callId, durationMs } }),
    }),
    fields: eventFields.AfterTool,
    decode: (fields) => ({
      toolName: fields.tool_name,
      toolInput: fields.tool_input,
      toolResponse: fields.tool_response,
    }),
    merge: 'or',
    chain: (input, { foreign }) =>
      foreign?.toolOutput
        ? { ...input, tool_response: withToolOutput(input.tool_response, foreign.toolOutput) }
        : input,
    Output: AfterToolHookOutput,
  },
  [HookEventName.BeforeModel]: {
    canBlock: true,
    encode: encodeRequest,
    fields: eventFields.BeforeModel,
    decode: (fields) => ({ llmRequest: fields.llm_request }),
    merge: 'replacement',
    chain: (input, output) => {
      const answered = objectField(output, 'llm_request');
      if (!answered) return input;
      // What hooks write into llm_request was checked when it was read; this is for them to read only.
      const { tools: _tools, systemInstruction: _instruction, ...change } = answered;
      const request = mergeModelData({ ...input.llm_request }, change) as unknown;
      return { ...input, llm_request: request as LLMRequest };
    },
    changed: (payload, output) => {
      const said = new BeforeModelHookOutput(output);
      const llmRequest = said.applyLLMRequestModifications(payload.llmRequest);
      return llmRequest === payload.llmRequest ? payload : { ...payload, llmRequest };
    },
    effective: withoutIdleResponse,
    Output: BeforeModelHookOutput,
  },
  [HookEventName.AfterModel]: {
    canBlock: false,
    withhold: (text) => ({ hookSpecificOutput: { llm_response: { candidates: [], text } } }),
    encode: ({ llmRequest, llmResponse }) => ({
      ...encodeRequest({ llmRequest }),
      llm_response: defaultHookTranslator.toHookLLMResponse(llmResponse),
    }),
    fields: eventFields.AfterModel,
    decode: (fields) => ({
      llmRequest: fields.llm_request,
      llmResponse: fields.llm_response as GenerateContentResponse,
    }),
    merge: 'replacement',
    Output: AfterModelHookOutput,
  },
  [HookEventName.BeforeToolSelection]: {
    canBlock: false,
    encode: encodeRequest,
    fields: eventFields.BeforeToolSelection,
    decode: (fields) => ({ llmRequest: fields.llm_request }),
    merge: 'union',
    Output: BeforeToolSelectionHookOutput,
  },
  [HookEventName.BeforeAgent]: {
    canBlock: true,
    encode: ({ prompt }) => ({ prompt }),
    fields: eventFields.BeforeAgent,
    decode: ({ prompt }) => ({ prompt }),
    merge: 'or',
    chain: (input, output) => {
      const context = output.hookSpecificOutput?.['additionalContext'];
      if (typeof context !== 'string' || context === '') return input;
      return { ...input, prompt: `${input.prompt}\n\n${context}` };
    },
    Output: DefaultHookOutput,
  },
  [HookEventName.AfterAgent]: {
    canBlock: true,
    encode: ({ prompt, promptResponse, stopHookActive }) => ({
      prompt,
      prompt_response: promptResponse,
      stop_hook_active: stopHookActive,
    }),
    fields: eventFields.AfterAgent,
    decode: (fields) => ({
      prompt: fields.prompt,
      promptResponse: fields.prompt_response,
      stopHookActive: fields.stop_hook_active ?? false,
    }),
    merge: 'or',
    Output: DefaultHookOutput,
  },
  [HookEventName.SessionStart]: {
    dialectsMatchOn: ({ source }) => source,
    subjects: Object.values(SessionStartSource),
    canBlock: false,
    encode: ({ source }) => ({ source }),
    fields: eventFields.SessionStart,
    decode: ({ source }) => ({ source }),
    merge: 'or',
    Output: DefaultHookOutput,
  },
  [HookEventName.SessionEnd]: {
    dialectsMatchOn: ({ reason }) => reason,
    subjects: Object.values(SessionEndReason),
    canBlock: false,
    encode: ({ reason }) => ({ reason }),
    fields: eventFields.SessionEnd,
    decode: ({ reason }) => ({ reason }),
    merge: 'or',
    Output: DefaultHookOutput,
  },
  [HookEventName.PreCompress]: {
    dialectsMatchOn: ({ trigger }) => trigger,
    subjects: Object.values(PreCompressTrigger),
    canBlock: false,
    encode: ({ trigger }) => ({ trigger }),
    fields: eventFields.PreCompress,
    decode: ({ trigger }) => ({ trigger }),
    merge: 'or',
    Output: DefaultHookOutput,
  },
  [HookEventName.Notification]: {
    dialectsMatchOn: ({ notificationType }) => notificationType,
    subjects: Object.values(NotificationType),
    canBlock: false,
    encode: ({ notificationType, message, details }) => ({
      notification_type: notificationType,
      message,
      details,
    }),
    fields: eventFields.Notification,
    decode: (fields) => ({
      notificationType: fields.notification_type,
      message: fields.message,
      details: fields.details ?? {},
    }),
    merge: 'or',
    Output: DefaultHookOutput,
  },
};

function toolNameOf({ toolName }: { readonly toolName: string }): string {
  return toolName;
}

/** A command that ends with another exit code than 0 has failed, though that is not an error of the tool. */
function hasFailed({ error, metadata }: HookPayload<HookEventName.AfterTool>['toolResponse']) {
  const exitCode = isRecord(metadata) ? metadata['exitCode'] : undefined;
  return Boolean(error) || (typeof exitCode === 'number' && exitCode !== 0);
}

/** Whether a block prevents the operation: by the event, or as the agent means it for which the hook was written. */
export function canPrevent(event: HookEventName, { foreign }: HookOutput): boolean {
  return events[event].canBlock || foreign?.prevents === true;
}

/** Whether a hook is a guard whose failure blocks, or withholds what it was to see, where the event has either. */
export function failsClosed({ onFailure }: OnFailure, event: HookEventName): boolean {
  return onFailure === 'deny' && (events[event].canBlock || 'withhold' in events[event]);
}

type OnFailure = Pick<CommandHookConfig, 'onFailure'>;

/** An output with what a failed guard withholds in its place, where one does. */
export function withWithheld(event: HookEventName, output: HookOutput): HookOutput {
  const text = output.foreign?.withheld;
  const withheld = text === undefined ? undefined : events[event].withhold?.(text);
  if (!withheld) return output;
  return { ...output, ...withheld, foreign: { ...output.foreign, ...withheld.foreign } };
}

/** Narrows text from outside to the name of an event. Names are case-sensitive. */
export function isHookEventName(name: unknown): name is HookEventName {
  return typeof name === 'string' && Object.hasOwn(events, name);
}

/**
 * Wraps a hook's output in the class of its event.
 *
 * A BeforeTool output gets the plain class here, which looks at the top-level `decision` only. The aggregated
 * output of the event is a {@link BeforeToolHookOutput}, which understands `permissionDecision` too.
 */
export function createHookOutput(eventName: string, data: HookOutput): DefaultHookOutput {
  if (!isHookEventName(eventName) || eventName === HookEventName.BeforeTool) {
    return new DefaultHookOutput(data);
  }
  return new events[eventName].Output(data);
}

/**
 * What an output means, as plain data that nobody has to interpret: a block has its reason in `reason`, a stop in
 * `stopReason`, and neither is ever empty. What has no effect is left out. Resolving twice changes nothing.
 */
export function resolveOutput(event: HookEventName, output: HookOutput): HookOutput {
  const { effective, Output } = events[event];
  const counting = new Output(output.hookSpecificOutput ? (effective?.(output) ?? output) : output);
  const fields: HookOutput = counting;
  return {
    ...fields,
    systemMessage: asText(fields.systemMessage),
    reason: counting.isBlockingDecision() ? counting.getBlockReason() : asText(fields.reason),
    ...(counting.shouldStopExecution() && { stopReason: counting.getStopReason() }),
  };
}

/** A permission is a decision by another name. The stronger of the two counts, with its reason. */
function withPermissionAsDecision(output: HookOutput): HookOutput {
  const { decision, hookSpecificOutput: specific } = output;
  if (!isRecord(specific)) return output;
  const { permissionDecision: permission, permissionDecisionReason, ...others } = specific;
  const isPermission = rankOf(permission) > rankOf(decision);
  const isExplained = permission === undefined || rankOf(permission) >= rankOf(decision);
  const reason = isExplained ? asText(permissionDecisionReason) : undefined;
  return {
    ...output,
    ...(isPermission && { decision: permission as HookDecision }),
    ...(reason && { reason }),
    hookSpecificOutput: Object.keys(others).length > 0 ? others : undefined,
  };
}

/** An answer in place of the model's counts only together with a block or a stop by the same hook. */
function withoutIdleResponse(output: HookOutput): HookOutput {
  if (isBlocking(output.decision) || output.continue === false) return output;
  const { llm_response: _idle, ...hookSpecificOutput } = output.hookSpecificOutput ?? {};
  return { ...output, ...(output.hookSpecificOutput && { hookSpecificOutput }) };
}

function encodeRequest({ llmRequest }: { llmRequest: GenerateContentParameters }) {
  return { llm_request: defaultHookTranslator.toHookLLMRequest(llmRequest) };
}
