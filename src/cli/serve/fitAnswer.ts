import { denies, stops, withMarkOf } from '../../fleet/answerMark.js';
import { MAX_HOOK_TEXT } from '../../protocol/sanitizeText.js';
import { isRecord } from '../../util/records.js';
import type { Reply } from './keptAnswers.js';

/**
 * Makes an answer fit into a message. Of one that does not fit a block or a stop is kept, with its reason, as with
 * these the rest has no effect.
 *
 * @param maxBytes that a body may have
 * @returns the answer itself where it fits; status 500 for one that needs all that it says
 */
export function fitAnswer(answer: Reply, maxBytes: number): Reply {
  const bytes = Buffer.byteLength(answer.body);
  if (bytes <= maxBytes) return answer;
  const kept = answer.status === 200 ? coreOf(answer.body) : undefined;
  const body = kept && JSON.stringify(kept);
  if (body !== undefined && Buffer.byteLength(body) <= maxBytes) return { status: 200, body };
  const error = `The answer has ${bytes} bytes, and NATS takes ${maxBytes}: raise max_payload of nats-server, or have hooks say less`;
  return { status: 500, body: JSON.stringify({ error }) };
}

function coreOf(body: string): object | undefined {
  const said: unknown = JSON.parse(body);
  if (!isRecord(said) || !(denies(said) || stops(said))) return undefined;
  const { hookSpecificOutput: specific } = said;
  const permission = isRecord(specific) ? specific['decision'] : undefined;
  const isDenied = isRecord(permission) && permission['behavior'] === 'deny';
  return withMarkOf(said, {
    ...pick(said, ['decision', 'continue', 'reason', 'stopReason']),
    ...(isRecord(specific) && {
      hookSpecificOutput: {
        ...pick(specific, ['hookEventName', 'permissionDecision', 'permissionDecisionReason']),
        ...(isDenied && { decision: pick(permission, ['behavior', 'message', 'interrupt']) }),
      },
    }),
  });
}

function pick(from: Readonly<Record<string, unknown>>, keys: readonly string[]): object {
  const given = keys.filter((key) => from[key] !== undefined);
  return Object.fromEntries(given.map((key) => [key, cut(from[key])]));
}

function cut(value: unknown): unknown {
  return typeof value === 'string' ? value.slice(0, MAX_HOOK_TEXT) : value;
}
