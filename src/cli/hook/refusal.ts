import {
  receive,
  reply,
  UnreadableEvent,
  type Received,
  type ReplyVerdict,
} from '../../dialects/reverse.js';
import { events } from '../../protocol/events.js';
import type { HookEventName } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import type { LastWords } from '../shared/watchdog.js';
import type { HookOptions } from './hookArguments.js';
import type { HookInputReading } from './readInput.js';

/** What an agent has sent; `undefined` for an event of its own that is none here. */
export type EventReading =
  | { readonly received: Received | undefined }
  | {
      readonly problem: string;
      readonly event?: HookEventName | undefined;
      /** What can be answered where the event is known, though not what happened. */
      readonly unread?: Received | undefined;
    };

export function readEvent({ from }: HookOptions, input: HookInputReading): EventReading {
  if ('problem' in input) return input;
  try {
    return { received: receive(from, input.value) };
  } catch (error) {
    const event = error instanceof UnreadableEvent ? error.event : undefined;
    return { problem: errorMessage(error), event, unread: event && unreadOf(from, event, input) };
  }
}

function unreadOf(
  dialect: HookOptions['from'],
  event: HookEventName,
  { value }: { readonly value: unknown },
): Received {
  const fields = isRecord(value) ? value : {};
  const payload = { toolName: '' } as Received['payload'];
  return {
    dialect,
    theirEvent: String(fields['hook_event_name']),
    event,
    payload,
    identity: {},
    fields,
  };
}

/** What is answered in place of hooks that have not: a block, or where that comes too late, that something is withheld. */
export function refusalOf({ event }: Received, reason: string): ReplyVerdict {
  const withheld = events[event].withhold?.(`What was given here is withheld. ${reason}`);
  return {
    kind: withheld ? 'none' : 'block',
    reason,
    output: withheld?.foreign?.toolOutput,
    changes: withheld?.hookSpecificOutput,
  };
}

const STUCK =
  'the hooks have not answered in time, and their process does not go on: look at code of extensions, and at drives that do not answer';

/** What an agent is told of a process that cannot say anything any more, and has no exit code of its own. */
export function lastWords(event: EventReading): Required<LastWords> {
  const received = 'received' in event ? event.received : event.unread;
  // Agents read this form at all events, besides those of their own.
  const json = received
    ? reply(received, refusalOf(received, `Blocked, as ${STUCK}`)).json
    : { decision: 'block', reason: `Blocked, as ${STUCK}` };
  return { out: `${JSON.stringify(json)}\n`, err: `Blocked, as ${STUCK}\n` };
}
