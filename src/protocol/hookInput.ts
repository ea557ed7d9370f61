import { optional } from 'superstruct';
import { oneOf, text, type AnyCheck } from '../util/checks.js';
import { HookEventName } from './names.js';

/** The fields that every hook receives. */
export interface HookInput {
  session_id: string;
  cwd: string;
  /** ISO 8601. */
  timestamp: string;
  hook_event_name: HookEventName;
  /** Path of the session's transcript, or `''`. */
  transcript_path: string;
  /** Which of several agents makes the call, where the host has said so. */
  agent?: string;
  /** Which sub-agent it is that the event is about, or in which it happens. */
  agent_id?: string;
  /** The kind of that sub-agent. */
  agent_type?: string;
  /** The session of the agent that has started it. */
  parent_session_id?: string;
}

/** Their checks, and their words for editors and pages. */
export const commonFields = {
  session_id: [text, 'Identifies the session.'],
  cwd: [text, 'The project; also the working directory of the hook.'],
  timestamp: [text, 'ISO 8601.'],
  hook_event_name: [oneOf(...Object.values(HookEventName)), 'The name of the event.'],
  transcript_path: [text, 'Path of the transcript of the session, or "" where there is none.'],
  agent: [optional(text), 'Which of several agents makes the call, where the host has said so.'],
  agent_id: [optional(text), 'In a sub-agent: which one.'],
  agent_type: [optional(text), 'In a sub-agent: its kind.'],
  parent_session_id: [optional(text), 'In a sub-agent: the session that started it.'],
} satisfies { readonly [K in keyof HookInput]-?: readonly [AnyCheck, string] };

/** For whom a call is made, where one host serves several sessions. What is left out is that of the `Config`. */
export interface CallSession {
  /** What hooks read as `session_id`. A yes of a person for the session counts for it alone. */
  readonly sessionId?: string;
  /** What hooks read as `cwd`. Their processes run in the directory of the `Config` all the same. */
  readonly cwd?: string;
  /** What hooks read as `transcript_path`. Of a session with an id of its own, there is none by default. */
  readonly transcriptPath?: string;
  /** What hooks read as `agent`: which of several agents makes the call. */
  readonly agent?: string;
  /** What hooks read as `agent_id`: the sub-agent that makes the call, if it is one. */
  readonly agentId?: string;
  /** What hooks read as `agent_type`: the kind of that sub-agent. */
  readonly agentType?: string;
  /** What hooks read as `parent_session_id`: the session that started that sub-agent. */
  readonly parentSessionId?: string;
  /** Who asks a server, as credentials say; hooks read it within `agent`. Each has sessions of its own. */
  readonly asker?: string;
}
