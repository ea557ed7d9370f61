import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import type { DialectName, HookEventName } from '../protocol/types.js';
import { events } from '../protocol/events.js';
import { textField } from './answers.js';
import type { Dialect, Fields } from './dialect.js';
import { dialects, sentEvent } from './dialects.js';
import { readPayload, theirField } from './inputs.js';
import type { Received, ReceivedIdentity, Reply, ReplyVerdict } from './received.js';
import { writeAnswer } from './replyParts.js';

export type { Received, Reply, ReplyVerdict } from './received.js';

/** The events that an agent can send and that are one of ours, by its names. */
export function receivableEvents(name: DialectName): readonly string[] {
  return dialects[name].events.map((words) => words.name);
}

/** Thrown for what is no event, or lacks a field that its hooks must have read. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';

  constructor(
    message: string,
    /** The event, where that could be read. */
    readonly event?: HookEventName,
    /** The event without a payload, so that it can at least be refused. */
    readonly unread?: Received,
  ) {
    super(message);
  }
}

/**
 * Reads what an agent tells one of its hooks.
 *
 * @returns `undefined` for an event of the agent that is none of ours
 * @throws UnreadableEvent
 */
export function receive(name: DialectName, json: unknown): Received | undefined {
  const spoken = dialects[name];
  const { agent } = spoken;
  if (!isRecord(json)) throw new UnreadableEvent(`${agent} sent no JSON object`);
  const nameField = theirField(spoken.common, 'hook_event_name');
  const theirEvent = json[nameField];
  if (typeof theirEvent !== 'string') throw new UnreadableEvent(`${agent} sent no "${nameField}"`);
  const words = sentEvent(spoken, theirEvent);
  if (!words) {
    if (spoken.otherEvents.includes(theirEvent)) return undefined;
    throw new UnreadableEvent(`${agent} sent an event that is not known here`);
  }
  const { event } = words;
  const payload = attempt(() => readPayload(spoken, words, json));
  const received = { dialect: name, theirEvent, event, fields: json };
  if (typeof payload === 'string') {
    const nothing = { toolName: '' } as Received['payload'];
    const unread = { ...received, payload: nothing, identity: {} };
    throw new UnreadableEvent(`${agent} sent ${theirEvent} without ${payload}`, event, unread);
  }
  return { ...received, payload, identity: identityOf(spoken, json) };
}

/** A request or an answer may have any shape. */
function attempt(read: () => ReturnType<typeof readPayload>): ReturnType<typeof readPayload> {
  try {
    return read();
  } catch (error) {
    return `what its hooks read (${errorMessage(error)})`;
  }
}

function identityOf({ common }: Dialect, fields: Fields): ReceivedIdentity {
  const textOf = (name: string) => textField(fields, theirField(common, name));
  const identity = {
    sessionId: textOf('session_id'),
    cwd: textOf('cwd'),
    transcriptPath: textOf('transcript_path'),
    callId: textOf('tool_use_id'),
    agent: textOf('agent_type') ?? textOf('agent_id'),
  };
  const known = Object.entries(identity).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known);
}

/** What is answered in place of hooks that have not: a block, or where that comes too late, that something is withheld. */
export function refusedVerdict({ event }: Received, reason: string): ReplyVerdict {
  const withheld = events[event].withhold?.(`What was given here is withheld. ${reason}`);
  return {
    kind: withheld ? 'none' : 'block',
    reason,
    output: withheld?.foreign?.toolOutput,
    changes: withheld?.hookSpecificOutput,
  };
}

/** Puts a verdict into the format of the agent that sent the event. */
export function reply(received: Received, verdict: ReplyVerdict): Reply {
  const { json = {}, lost = [] } = write(verdict, received);
  const { forUser = [], isHidden = false, unheard } = verdict;
  return {
    json: {
      ...json,
      ...(forUser.length > 0 && { systemMessage: forUser.join('\n') }),
      ...(isHidden && { suppressOutput: true }),
    },
    lost: [
      ...(unheard === undefined ? [] : [`a hook blocks, which blocks nothing here: ${unheard}`]),
      ...lost,
      ...(isHidden ? [HIDES_LESS] : []),
    ],
  };
}

function write(verdict: ReplyVerdict, received: Received): Partial<Reply> {
  const spoken = dialects[received.dialect];
  const { write: ownForm, answer } = sentEvent(spoken, received.theirEvent) ?? {};
  if (ownForm) return ownForm(verdict, received, spoken);
  return answer ? writeAnswer(spoken, answer, verdict, received) : {};
}

const HIDES_LESS = '"suppressOutput" hides what a hook printed there, and no result';
