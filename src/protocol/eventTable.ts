import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import { optional } from 'superstruct';
import type { ToolResult } from '../tools/tools.js';
import { anyObject, count, flag, oneOf, positiveCount, text } from '../util/checks.js';
import { isRecord, mergeModelData } from '../util/records.js';
import { defineEvent, type EventFieldTable } from './defineEvent.js';
import type { HookDecision, HookOutput } from './hookAnswer.js';
import {
  AfterModelHookOutput,
  AfterToolHookOutput,
  BeforeModelHookOutput,
  BeforeToolHookOutput,
  BeforeToolSelectionHookOutput,
  asText,
  asToolResponse,
  isBlocking,
  objectField,
  rankOf,
  textInPlace,
  withResponseInPlace,
  withToolInput,
  withToolOutput,
} from './hookOutput.js';
import { defaultHookTranslator, type LLMRequest, type LLMResponse } from './hookTranslator.js';
import { llmRequest, llmResponse, sdkRequest, sdkResponse } from './modelChecks.js';
import { modelFault } from './modelFault.js';
import {
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type HookEventName,
} from './names.js';
import { batchedCalls } from './toolBatch.js';

const toolFields = {
  tool_name: [text, 'The tool.'],
  tool_input: [anyObject, 'Its arguments.'],
} satisfies EventFieldTable;

const modelFields = {
  llm_request: [
    sdkRequest,
    'The request, as text only.',
    {
      toHook: (request: GenerateContentParameters) =>
        defaultHookTranslator.toHookLLMRequest(request),
      fromHook: asModelRequest,
      reads: { shape: llmRequest, always: ['model', 'messages'] },
    },
  ],
} satisfies EventFieldTable;

/** Of a sub-agent that begins or ends, whoever tells it. */
const agentFields = {
  agent_id: [text, 'Which sub-agent it is.'],
  agent_type: [text, 'Its kind, which matchers are tested against.'],
} satisfies EventFieldTable;

const answerOfAgent = {
  prompt_response: [text, 'What the model answered.'],
  /** True when this turn was asked for by a hook of the event that blocked the one before. */
  stop_hook_active: [
    optional(flag),
    'Whether a hook has sent the agent back to work already.',
    { otherwise: () => false },
  ],
} satisfies EventFieldTable;

const context = { additionalContext: 'Text that the model reads.' };
const NEW_ANSWER = 'Where both "text" and "candidates" changed, "candidates" count.';

/** THE table: one row an event. */
export const eventTable = {
  BeforeTool: defineEvent({
    summary: 'Before a tool runs.',
    fields: toolFields,
    facts: {
      /** The model's id of the call. */
      callId: text,
      /** Whether the hooks of the call have answered, and want the user to be asked. */
      isAsked: flag,
      /** Whether the caller puts to a person what hooks ask. */
      canAsk: flag,
    },
    answers: {
      tool_input: 'Its keys are merged over the arguments of the tool, one level deep.',
      permissionDecision: '"deny" and "block" block as well; prefer "decision".',
      permissionDecisionReason: 'The reason of such a block.',
    },
    matchOn: 'toolName',
    momentOf: ({ isAsked }) => (isAsked ? 'asked' : undefined),
    canBlock: true,
    canAsk: true,
    chain: (input, output) =>
      withField(input, 'tool_input', withToolInput(input.tool_input, output)),
    changed: (payload, output) =>
      withField(payload, 'toolInput', withToolInput(payload.toolInput, output)),
    effective: withPermissionAsDecision,
    Output: BeforeToolHookOutput,
  }),

  AfterTool: defineEvent({
    summary: 'After a tool has run, also when its result is an error.',
    fields: {
      ...toolFields,
      /** `llmContent`, `returnDisplay`, and where present `metadata` and `error` of the tool's result. */
      tool_response: [
        anyObject,
        '"llmContent" is what the model reads, "returnDisplay" what the user sees; "metadata" and "error" are there where the tool gave them.',
        { toHook: asToolResponse },
      ],
    },
    facts: {
      /** The model's id of the call. */
      callId: text,
      /** Milliseconds that the tool took. */
      durationMs: count,
    },
    answers: {
      ...context,
      tool_response:
        'What takes the place of the result: a text, or an object with "llmContent", "returnDisplay" or both, of which what is given counts.',
    },
    canBeAsync: true,
    matchOn: 'toolName',
    momentOf: ({ toolResponse }) => (isFailure(toolResponse) ? 'failed' : undefined),
    tellsBlock: true,
    withhold: (reason) => ({ foreign: { toolOutput: textInPlace(reason, true) } }),
    chain: (input, output) => {
      const { toolOutput } = withResponseInPlace(output).foreign ?? {};
      return toolOutput
        ? { ...input, tool_response: withToolOutput(input.tool_response, toolOutput) }
        : input;
    },
    effective: withResponseInPlace,
    Output: AfterToolHookOutput,
  }),

  BeforeModel: defineEvent({
    summary: 'Before each model call, when the request is complete.',
    fields: modelFields,
    answers: {
      llm_request: 'Its fields override those of the request; fields that are left out stay.',
      llm_response: `The answer in place of the model's, together with a block or a stop. ${NEW_ANSWER}`,
    },
    canBlock: true,
    canAsk: true,
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
      const request = said.applyLLMRequestModifications(payload.llmRequest);
      return withField(payload, 'llmRequest', request);
    },
    effective: withoutIdleResponse,
    Output: BeforeModelHookOutput,
  }),

  AfterModel: defineEvent({
    summary: 'Once for each model call, when the whole answer has arrived.',
    fields: {
      ...modelFields,
      llm_response: [
        sdkResponse,
        'The answer, as text only.',
        {
          toHook: (response: GenerateContentResponse) =>
            defaultHookTranslator.toHookLLMResponse(response),
          fromHook: (response: LLMResponse) => defaultHookTranslator.fromHookLLMResponse(response),
          reads: { shape: llmResponse, always: ['candidates'] },
        },
      ],
    },
    answers: {
      llm_response: `Its texts replace those of the answer; tool calls stay. ${NEW_ANSWER}`,
    },
    canBeAsync: true,
    withhold: (reason) => ({
      hookSpecificOutput: { llm_response: { candidates: [], text: reason } },
    }),
    merge: 'replacement',
    Output: AfterModelHookOutput,
  }),

  BeforeToolSelection: defineEvent({
    summary: 'Before each model call, first: which tools may the model call?',
    fields: modelFields,
    answers: { toolConfig: 'Which tools the model may call.' },
    merge: 'union',
    Output: BeforeToolSelectionHookOutput,
  }),

  BeforeAgent: defineEvent({
    summary: 'Before the agent begins to work on a prompt.',
    fields: { prompt: [text, 'What the user asked.'] },
    answers: context,
    canBlock: true,
    canAsk: true,
    chain: withContextInPrompt,
  }),

  AfterAgent: defineEvent({
    summary: 'When the model has given its final answer.',
    fields: {
      prompt: [text, 'What the user asked.'],
      ...answerOfAgent,
    },
    answers: context,
    canBeAsync: true,
    canBlock: true,
  }),

  SessionStart: defineEvent({
    summary: 'When a session begins.',
    fields: { source: [oneOf(...Object.values(SessionStartSource)), 'Why the session began.'] },
    answers: context,
    canBeAsync: true,
    dialectsMatchOn: 'source',
    subjects: Object.values(SessionStartSource),
  }),

  SessionEnd: defineEvent({
    summary: 'When a session ends, also after a failure.',
    fields: { reason: [oneOf(...Object.values(SessionEndReason)), 'Why the session ended.'] },
    answers: {},
    canBeAsync: true,
    dialectsMatchOn: 'reason',
    subjects: Object.values(SessionEndReason),
  }),

  PreCompress: defineEvent({
    summary: 'Before the older part of a long history is summed up by the model.',
    fields: { trigger: [oneOf(...Object.values(PreCompressTrigger)), 'What caused it.'] },
    answers: context,
    canBeAsync: true,
    dialectsMatchOn: 'trigger',
    subjects: Object.values(PreCompressTrigger),
  }),

  Notification: defineEvent({
    summary: 'When the user is to be told something.',
    fields: {
      notification_type: [oneOf(...Object.values(NotificationType)), 'What it is about.'],
      message: [text, 'What the user is told.'],
      details: [optional(anyObject), 'More of it, by type.', { otherwise: () => ({}) }],
    },
    answers: {},
    canBeAsync: true,
    dialectsMatchOn: 'notificationType',
    subjects: Object.values(NotificationType),
  }),

  SubagentStart: defineEvent({
    summary: 'Before a sub-agent begins to work.',
    fields: { ...agentFields, prompt: [text, 'What the sub-agent is asked.'] },
    answers: context,
    matchOn: 'agentType',
    canBlock: true,
    canAsk: true,
    chain: withContextInPrompt,
  }),

  SubagentStop: defineEvent({
    summary: 'When a sub-agent has given its final answer.',
    fields: { ...agentFields, prompt: [text, 'What the sub-agent was asked.'], ...answerOfAgent },
    answers: context,
    matchOn: 'agentType',
    canBlock: true,
    canBeAsync: true,
  }),

  PostCompress: defineEvent({
    summary: 'After the older part of a long history was summed up.',
    fields: {
      trigger: [oneOf(...Object.values(PreCompressTrigger)), 'What caused it.'],
      summary: [
        optional(text),
        'What the model reads in place of it; "" where the host does not know.',
        { otherwise: () => '' },
      ],
    },
    answers: context,
    dialectsMatchOn: 'trigger',
    canBeAsync: true,
    subjects: Object.values(PreCompressTrigger),
    withhold: stopFor,
    withheldAs: 'the agent is stopped',
  }),

  ModelError: defineEvent({
    summary: 'When a model call has failed: is it to be made again?',
    fields: {
      ...modelFields,
      error: [modelFault, 'What went wrong: "message", and "status" and "code" where known.'],
      attempt: [
        positiveCount,
        'How often the call has failed, this time included.',
        { otherwise: () => 1 },
      ],
    },
    answers: {
      retry: 'Whether the call is made again; false of any hook counts.',
      retryAfterMs: 'Milliseconds before that, at most 60,000.',
    },
    withhold: () => ({ hookSpecificOutput: { retry: false } }),
    withheldAs: 'the call is not made again',
  }),

  ToolBatchEnd: defineEvent({
    summary:
      'When all tool calls of one answer have come to their end, before the next model call.',
    fields: {
      tool_calls: [
        batchedCalls,
        'Each with "tool_name", "tool_input", "tool_response", and "call_id" where known; also blocked ones.',
        { otherwise: () => [] },
      ],
    },
    answers: context,
    canBeAsync: true,
    tellsBlock: true,
    withhold: stopFor,
    withheldAs: 'the agent is stopped',
  }),
} satisfies Readonly<Record<HookEventName, object>>;

/** Where nothing can be withheld, the agent does not go on. */
function stopFor(reason: string): HookOutput {
  return { continue: false, stopReason: reason };
}

/** What the agent will read with its prompt. */
function withContextInPrompt<Input extends { readonly prompt: string }>(
  input: Input,
  output: HookOutput,
): Input {
  const added = output.hookSpecificOutput?.['additionalContext'];
  if (typeof added !== 'string' || added === '') return input;
  return { ...input, prompt: `${input.prompt}\n\n${added}` };
}

/** What hooks may only read is not taken over from their answers; here it is what they are to read. */
function asModelRequest(request: LLMRequest): GenerateContentParameters {
  const { tools, systemInstruction } = request;
  const config = {
    ...(tools && { tools: [{ functionDeclarations: tools }] }),
    ...(systemInstruction !== undefined && { systemInstruction }),
  };
  const base = Object.keys(config).length > 0 ? { model: '', contents: [], config } : undefined;
  return defaultHookTranslator.fromHookLLMRequest(request, base);
}

/** The same object where the field has this value already. */
function withField<T extends object, K extends keyof T>(given: T, name: K, value: T[K]): T {
  return given[name] === value ? given : { ...given, [name]: value };
}

/** A command that ends with another exit code than 0 has failed, though that is not an error of the tool. */
function isFailure({ error, metadata }: ToolResult | Record<string, unknown>) {
  const exitCode = isRecord(metadata) ? metadata['exitCode'] : undefined;
  return Boolean(error) || (typeof exitCode === 'number' && exitCode !== 0);
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
