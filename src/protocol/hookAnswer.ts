import type { Infer } from 'superstruct';
import { anyObject, flag, oneOf, shapeOf, text, type AnyCheck } from '../util/checks.js';
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

/** The text that model and user read in place of what a tool gave. */
export interface ToolOutput {
  readonly text: string;
  /** Whether it is the reason of a denial, over which no other replacement counts. */
  readonly isDenial: boolean;
}

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
