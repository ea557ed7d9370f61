import type { DialectName, HookEventName, HookPayload, ToolOutput } from './types.js';

/** For whom an event happened, as its agent says. */
export interface ReceivedIdentity {
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly transcriptPath?: string;
  /** The agent's id of the tool call. */
  readonly callId?: string;
  /** Which of several agents it was: its kind, else its id. */
  readonly agent?: string;
  /** Inside of a sub-agent: which one it is. */
  readonly agentId?: string;
  /** Inside of a sub-agent: its kind. */
  readonly agentType?: string;
  /** Inside of a sub-agent with a session of its own: the one that started it. */
  readonly parentSessionId?: string;
}

/** What another agent tells its hooks, in our words. */
export interface Received<E extends HookEventName = HookEventName> {
  readonly dialect: DialectName;
  /** The agent's name of the event. */
  readonly theirEvent: string;
  readonly event: E;
  readonly payload: HookPayload<E>;
  /** Where the agent's one call is several here, the others: what is decided of any of them is decided of all. */
  readonly others?: readonly HookPayload<E>[];
  readonly identity: ReceivedIdentity;
  /** All fields as they came. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What hooks decided about an event, and what of it an answer has to carry. */
export interface ReplyVerdict {
  /** `allow`: whoever said so speaks for the user. What nobody objects to is `none`. */
  readonly kind: 'none' | 'allow' | 'ask' | 'block' | 'stop';
  /** Why, unless it is `none`: what is to be read then belongs into `context` or `forUser`. Of `ask` also who does. */
  readonly reason?: string | undefined;
  readonly decidedBy?: readonly string[] | undefined;
  /** Why hooks block an event that nothing can block, unless that has been told already. */
  readonly unheard?: string | undefined;
  /** The arguments of a tool by our names, all of them, where hooks changed them. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  /** What takes the place of a tool's result; it counts at the events after a tool alone. */
  readonly output?: ToolOutput | undefined;
  /** What the model is to read. */
  readonly context?: readonly string[];
  /** What the user is to read. */
  readonly forUser?: readonly string[];
  /** Whether the result is kept from the user. */
  readonly isHidden?: boolean;
  /** Whether a hook did not do its work, so that what it would have said is not known. */
  readonly hasFailed?: boolean;
  /** Of the model's events: `llm_request`, `llm_response`, `toolConfig`, as hooks gave them. */
  readonly changes?: Readonly<Record<string, unknown>> | undefined;
}

/** What the agent is answered. */
export interface Reply {
  /** One JSON object; empty where there is nothing to say. */
  readonly json: Record<string, unknown>;
  /** Why the event is refused, by exit code 2, where the agent reads no JSON. */
  readonly refusal?: string;
  /** What is printed in place of an object, where the agent reads text. */
  readonly text?: string;
  /** Why the session is to end, as the agent cannot be told what hooks decided, or not here. */
  readonly stops?: string;
  /** What the agent's format could not say, and what it says instead, one sentence each. */
  readonly lost: readonly string[];
}
