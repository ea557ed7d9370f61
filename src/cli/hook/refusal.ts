import { receive, refusedVerdict, reply, UnreadableEvent } from '../../dialects/reverse.js';
import type { Received } from '../../dialects/received.js';
import type { HookEventName } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
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
    const { event, unread } = error instanceof UnreadableEvent ? error : {};
    return { problem: errorMessage(error), event, unread };
  }
}

const STUCK =
  'the hooks have not answered in time, and their process does not go on: look at code of extensions, and at drives that do not answer';

/** What an agent is told of a process that cannot say anything any more, and has no exit code of its own. */
export function lastWords(event: EventReading): Required<LastWords> {
  const received = 'received' in event ? event.received : event.unread;
  // Agents read this form at all events, besides those of their own.
  const json = received
    ? reply(received, refusedVerdict(received, `Blocked, as ${STUCK}`)).json
    : { decision: 'block', reason: `Blocked, as ${STUCK}` };
  return { out: `${JSON.stringify(json)}\n`, err: `Blocked, as ${STUCK}\n` };
}
