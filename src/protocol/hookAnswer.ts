import type { PartListUnion } from '@google/genai';
import type { Infer } from 'superstruct';
import type { ToolResult } from '../tools/tools.js';
import {
  anyObject,
  count,
  expecting,
  flag,
  list,
  oneOf,
  shapeOf,
  text,
  type AnyCheck,
} from '../util/checks.js';
import { isRecord } from '../util/records.js';
import { llmRequest, llmResponse, toolConfig } from './modelChecks.js';

/** What a hook may decide. Absent, `null`, `allow`, `approve` and `ask` let the operation go on. */
export type HookDecision = 'block' | 'deny' | 'allow' | 'approve' | 'ask' | null | undefined;

/** The JSON object that a hook prints on stdout. Every field is optional. */
export interface HookOutput {
  decision?: HookDecision;
  /** Why. Shown to the model, or the user, when the operation is blocked. */
  reason?: string;
  /** `false` ends the agent loop. */
  continue?: boolean;
  stopReason?: string;
  /** `true` hides the operation's output from the user; the model still sees it. */
  suppressOutput?: boolean;
  /** Text for the model, never for the user. */
  systemMessage?: string;
  hookSpecificOutput?: Record<string, unknown>;
  /** Written by the hook's dialect and its failure, and never read from what a hook prints. */
  foreign?: ForeignEffects;
}

/** What our own format has no word for: what a hook of another agent wants, and what its own failure means. */
export interface ForeignEffects {
  /** BeforeTool: arguments, by our names, that are gone from those of the call. */
  readonly droppedArguments?: readonly string[];
  /** AfterTool: what takes the place of the tool's result. */
  readonly toolOutput?: ToolOutput;
  /** BeforeTool: what the model reads with the tool's result. */
  readonly contextOfResult?: string;
  /** PreCompress: the block prevents it. */
  readonly prevents?: boolean;
  /**
   * AfterTool, AfterModel: what is read in place of the result, or the answer, as a guard has failed that had to see it.
   * Nothing that another hook says of it counts beside.
   */
  readonly withheld?: string;
}

/** What model and user read in place of what a tool gave; each reads that as it was where its own field is missing. */
export interface ToolOutput {
  /** What the model reads. */
  readonly llmContent?: PartListUnion;
  /** What the user reads. */
  readonly returnDisplay?: string;
  /** Whether it is the reason of a denial, over which no other replacement counts. */
  readonly isDenial: boolean;
}

const llmContent = expecting<PartListUnion>(
  'a string, or parts',
  (value) =>
    (Array.isArray(value) ? value : [value]).every((part) => text.is(part) || isRecord(part)),
  { anyOf: [text.schema, anyObject.schema, list.schema] },
);

/** What of a tool's result somebody gives anew: what the model reads, what the user reads, or both. Other fields do not count. */
export const newResult = expecting<Partial<Pick<ToolResult, 'llmContent' | 'returnDisplay'>>>(
  'an object with "llmContent" (a string, or parts), "returnDisplay" (a string) or both',
  (value) => {
    if (!isRecord(value)) return false;
    const { llmContent: content, returnDisplay } = value;
    if (content == null && returnDisplay == null) return false;
    return llmContent.is(content ?? '') && text.is(returnDisplay ?? '');
  },
  {
    type: 'object',
    properties: { llmContent: llmContent.schema, returnDisplay: text.schema },
    anyOf: [{ required: ['llmContent'] }, { required: ['returnDisplay'] }],
  },
);

const toolResponse = expecting<string | Infer<typeof newResult>>(
  `a string, or ${newResult.type}`,
  (value) => text.is(value) || newResult.is(value),
  { anyOf: [text.schema, newResult.schema] },
);

/** What hooks may say in `hookSpecificOutput`. Which of it has an effect, each event says for itself. */
const specificChecks = {
  hookEventName: text,
  /** Text that the model reads. */
  additionalContext: text,
  /** Keys to merge over the tool's arguments. */
  tool_input: anyObject,
  /** Another word for `decision`. */
  permissionDecision: oneOf('allow', 'approve', 'ask', 'block', 'deny'),
  /** The reason of such a decision. */
  permissionDecisionReason: text,
  /** Fields that override those of the request. */
  llm_request: llmRequest,
  /** Texts that replace those of the answer; before the model is called, an answer in its place. */
  llm_response: llmResponse,
  /** Which tools the model may call. */
  toolConfig,
  /** What takes the place of the tool's result. */
  tool_response: toolResponse,
  /** Whether a model call that has failed is made again; false of any hook counts. */
  retry: flag,
  /** Milliseconds before it is made again. */
  retryAfterMs: count,
};

export type SpecificAnswer = {
  [K in keyof typeof specificChecks]: Infer<(typeof specificChecks)[K]>;
};

/** Every field that a hook's answer may have, whatever its event: its check, and its words for editors. */
export const answerFields = {
  decision: [
    oneOf('block', 'deny', 'allow', 'approve', 'ask'),
    '"block" and "deny" are the same; all others let the operation go on. Default: go on.',
  ],
  reason: [text, 'Why. The model or the user reads it.'],
  continue: [flag, 'false stops the agent.'],
  stopReason: [text, 'Why the agent is stopped. Default: the reason.'],
  suppressOutput: [flag, 'true hides the output from the user; the model still reads it.'],
  systemMessage: [text, 'Text for the model, never for the user.'],
  hookSpecificOutput: [shapeOf<SpecificAnswer>(specificChecks), 'What is particular to the event.'],
} satisfies { readonly [K in Exclude<keyof HookOutput, 'foreign'>]-?: readonly [AnyCheck, string] };
