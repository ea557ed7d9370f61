import { HookEventName, type CallSession, type HookPayload } from '../../protocol/types.js';
import type { ReadQuestion } from '../policy/decide.js';
import { receive, UnreadableEvent } from '../../dialects/reverse.js';
import { LOCAL } from '../../fleet/address.js';
import type { Question } from '../../fleet/question.js';
import { events, findTooDeepField, readEventFields } from '../../protocol/events.js';
import { toModelFields } from '../shared/eventFields.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';

/** A question as it came, over HTTP or NATS. */
export interface Asked {
  /** Whose JSON it is: `own` is what hooks of ours read. */
  readonly format: 'own' | 'claude';
  /** Of our own format, where the path says it; else the JSON does, as `hook_event_name`. */
  readonly event?: HookEventName;
  readonly text: string;
  readonly question: Question;
  /** Who asks, as credentials say: `team/agent`. */
  readonly asker?: string;
}

/** Thrown for a question that cannot be put to any hook. */
export class UnreadableQuestion extends Error {
  override readonly name = 'UnreadableQuestion';

  constructor(
    /** 400 for no JSON, 422 for other fields than the event has. */
    readonly status: 400 | 422,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * @returns `undefined` for an event of another agent that is none of ours
 * @throws UnreadableQuestion
 */
export function readAsked(asked: Asked): ReadQuestion | undefined {
  const fields = parseObject(asked.text);
  return asked.format === 'own' ? readOwn(asked, fields) : readReceived(asked, fields);
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // The message of the parser repeats what was sent.
    throw new UnreadableQuestion(400, 'The body is not JSON: send what a hook reads on stdin', {
      cause,
    });
  }
  if (isRecord(value)) return value;
  throw new UnreadableQuestion(400, 'The body is no JSON object: send what a hook reads on stdin');
}

function readOwn(asked: Asked, sent: Record<string, unknown>): ReadQuestion {
  const said = sent['hook_event_name'];
  const event = asked.event ?? Object.values(HookEventName).find((each) => each === said);
  if (!event) throw new UnreadableQuestion(422, 'The question does not say which event it is');
  if (said !== undefined && said !== event) {
    throw new UnreadableQuestion(422, `hook_event_name is not ${event}, for which it was sent`);
  }
  const session = sessionOf(asked, {
    sessionId: textOf(sent, 'session_id'),
    cwd: textOf(sent, 'cwd'),
    transcriptPath: textOf(sent, 'transcript_path'),
    agent: textOf(sent, 'agent'),
    agentId: textOf(sent, 'agent_id'),
    agentType: textOf(sent, 'agent_type'),
    parentSessionId: textOf(sent, 'parent_session_id'),
  });
  return { event, payload: readPayload(event, sent, asked.question.call), session };
}

function readPayload<E extends HookEventName>(
  event: E,
  sent: Record<string, unknown>,
  callId: string | undefined,
): HookPayload<E> {
  const tooDeep = findTooDeepField(sent);
  if (tooDeep !== undefined) throw new UnreadableQuestion(422, tooDeep);
  const read = readEventFields(event, asModelHas(event, sent));
  if ('faults' in read) {
    const faults = read.faults.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new UnreadableQuestion(422, `These are not fields of ${event}: ${faults}`);
  }
  const payload = events[event].decode(read.fields);
  return callId !== undefined && 'toolName' in payload ? { ...payload, callId } : payload;
}

function asModelHas(event: HookEventName, sent: Record<string, unknown>) {
  try {
    return toModelFields(event, sent);
  } catch (cause) {
    const faults = errorMessage(cause);
    throw new UnreadableQuestion(422, `These are not fields of ${event}: ${faults}`, { cause });
  }
}

function readReceived(asked: Asked, sent: Record<string, unknown>): ReadQuestion | undefined {
  const tooDeep = findTooDeepField(sent);
  if (tooDeep !== undefined) throw new UnreadableQuestion(422, tooDeep);
  try {
    const received = receive('claude', sent);
    if (!received) return undefined;
    const { event, payload, identity } = received;
    const session = sessionOf(asked, identity);
    return {
      event,
      payload,
      session,
      received: { ...received, identity: { ...identity, ...session } },
    };
  } catch (cause) {
    if (!(cause instanceof UnreadableEvent)) throw cause;
    throw new UnreadableQuestion(422, errorMessage(cause), { cause });
  }
}

/** What a question does not say is empty: the server's own session is another one. */
function sessionOf({ asker }: Asked, identity: Identity): CallSession {
  const { sessionId = '', cwd = '', transcriptPath = '', agent = '' } = identity;
  const who = agent ? `${asker ?? LOCAL}/${agent}` : asker;
  return Object.assign({}, identity, { sessionId, cwd, transcriptPath, agent: who, asker });
}

type Identity = Partial<Record<keyof CallSession, string | undefined>>;

function textOf(sent: Record<string, unknown>, field: string): string | undefined {
  const value = sent[field];
  return typeof value === 'string' ? value : undefined;
}
