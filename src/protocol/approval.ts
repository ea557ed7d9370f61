import { objectOf, oneOf, positiveCount, text } from '../util/checks.js';
import { isRecord } from '../util/records.js';
import type { ServerWord } from './hookOutput.js';
import type { HookEventName } from './types.js';

/** A hook that wants a person to be asked. */
export interface AskingHook extends ServerWord {
  /** Its name, else its command. */
  readonly name: string;
  /** Where it was configured: `project`, `user`, `system`, `file`, `extension NAME`, or `host`, in code. */
  readonly source: string;
  /** In its own words, cleaned of control characters. */
  readonly reason?: string;
}

/** A question to a person. All texts but those of the host come from hooks and the model: show them as data. */
export interface ApprovalRequest {
  /** Unique; an answer names it. */
  readonly id: string;
  readonly event: HookEventName;
  /** Who asks. Several hooks of an event are one question. */
  readonly hooks: readonly AskingHook[];
  /** What the hooks say, one line each. */
  readonly reason: string;
  /** Of `BeforeTool`. */
  readonly toolName?: string;
  /** The model's id of the call, of `BeforeTool`, where it has one. */
  readonly callId?: string | undefined;
  /** What will run once it is allowed: arguments, a request, or a prompt, after all changes by hooks. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The same as the model gave it. */
  readonly originalInput: Readonly<Record<string, unknown>>;
  readonly sessionId: string;
  readonly workingDir: string;
  /** Which of several agents makes the call, where the host has said so. */
  readonly agent?: string;
  /** Ms since 1970; after that the answer is no. */
  readonly expiresAt: number;
}

/** What a person says. */
export interface Approval {
  readonly decision: 'allow' | 'deny';
  /** For the model to read, where it is denied. */
  readonly reason?: string;
  /**
   * The same hooks, tool, input, directory and agent are not asked about again in this session. Of what is allowed
   * only.
   */
  readonly remember?: 'session';
  /** Who has decided, for the trace. */
  readonly by?: string;
}

/**
 * Asks a person. One that throws or rejects, gives something else than an {@link Approval}, or takes longer than
 * the request says, means no.
 *
 * @param options.signal aborts once the answer is not wanted any more: the call was given up, or it is too late
 */
export type Approver = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => Approval | Promise<Approval>;

/** How questions are treated. */
export interface ApprovalSettings {
  /** The answer where there is no approver. Default `allow`, and `deny` where a guard asks. */
  readonly whenNobody?: 'allow' | 'deny';
  /** Ms that a person has. Default 5 minutes. */
  readonly timeout?: number;
}

/** What settings files and hosts may say of them. */
export const approvalSettings = objectOf<ApprovalSettings>(
  '{ "whenNobody": "allow" | "deny", "timeout": ms, a whole number of 1 or more }',
  { whenNobody: oneOf('allow', 'deny'), timeout: positiveCount },
  { isClosed: true },
);

/** What came of a question. */
export interface Answer extends Approval {
  /** Who or what has answered. `nobody`: there is no approver. */
  readonly source: 'person' | 'memory' | 'nobody' | 'failure';
}

/** Called when a person is asked, and again with the answer. */
export type ApprovalObserver = (request: ApprovalRequest, answer?: Answer) => void;

export const DEFAULT_APPROVAL_TIMEOUT_MS = 300_000;

/**
 * Ms that a question has to be visible before an answer counts: an earlier click or key was meant for something else.
 */
export const MIN_READ_MS = 1000;

const approvalFields = objectOf<Approval>(
  '{ "decision": "allow" | "deny", "reason": text, "remember": "session", "by": text }',
  { decision: oneOf('allow', 'deny'), reason: text, remember: oneOf('session'), by: text },
);

/**
 * Reads what somebody has answered.
 *
 * @returns the answer; or else why it is none, without what was said, which may be anything
 */
export function readApproval(said: unknown): Approval | string {
  // Copied, since a getter could give another value at the second read.
  const { decision, reason, remember, by } = isRecord(said) ? said : {};
  // Of the fields it is the one that must be there.
  const fields = { decision: decision ?? null, reason, remember, by };
  const [failure, approval] = approvalFields.validate(fields);
  if (failure) return failure.message;
  const given = Object.entries(approval).filter(([, field]) => field !== undefined);
  return Object.fromEntries(given) as unknown as Approval;
}
