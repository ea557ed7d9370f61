import { reply } from '../../dialects/reverse.js';
import type { Received, ReplyVerdict } from '../../protocol/received.js';
import { dialects, sentEvent } from '../../dialects/dialects.js';
import type { DialectName } from '../../protocol/types.js';
import { printNotice, toOneLine } from '../shared/terminal.js';

/** What is answered to an agent: a text on stdout, or the reason on stderr why the event is blocked. */
export type HookAnswer = {
  /** Why the session is to end, or a sub-agent may do nothing, as the agent is not told so. */
  readonly stops?: string | undefined;
} & (
  | {
      readonly out: string;
      /** Whether that says anything, so that it must not be lost. */
      readonly isSaid: boolean;
      readonly reason?: string | undefined;
    }
  | { readonly blocked: string }
);

/** What an agent is told of what was decided. */
export function write(received: Received, verdict: ReplyVerdict): HookAnswer {
  const { json, lost, refusal, text, stops } = reply(received, verdict);
  const { agent } = dialects[received.dialect];
  for (const each of lost) {
    printNotice('note', toOneLine(`${agent}, ${received.theirEvent}: ${each}`, MAX_NOTE));
  }
  if (refusal !== undefined) return { blocked: refusal, stops };
  const isSilent = isSilentAt(received);
  return { ...printed(received.dialect, json, text, isSilent), reason: verdict.reason, stops };
}

function isSilentAt({ dialect, theirEvent }: Received): boolean {
  const spoken = dialects[dialect];
  return sentEvent(spoken, theirEvent)?.isSilent ?? spoken.isSilent ?? false;
}

/** What an agent reads on stdout, for what there is to say. */
export function printed(
  dialect: DialectName,
  json: object,
  text?: string,
  isSilent = dialects[dialect].isSilent,
): { readonly out: string; readonly isSaid: boolean } {
  const isSaid = text !== undefined || Object.keys(json).length > 0;
  const isNothing = !isSaid && isSilent === true;
  return { out: isNothing ? '' : `${text ?? JSON.stringify(json)}\n`, isSaid };
}

/** Has an event go on, and says why on stderr. */
export function pass(note: string, from: DialectName): HookAnswer {
  printNotice('note', toOneLine(note, MAX_NOTE));
  return printed(from, {});
}

/** In characters. */
export const MAX_NOTE = 1000;
