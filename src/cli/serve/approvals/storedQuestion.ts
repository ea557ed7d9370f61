import { createHash, randomUUID } from 'node:crypto';
import { NOBODY_ANSWERED } from '../../../fleet/approvalEnvelope.js';
import { readApproval, type Approval, type ApprovalRequest } from '../../../protocol/approval.js';
import { isRecord } from '../../../util/records.js';
import { toOneLine } from '../../shared/terminal.js';

/** A question as servers keep it: how long it may take stands beside it. */
export type KeptRequest = Omit<ApprovalRequest, 'expiresAt'>;

/** A question in the bucket that waits for a person. */
export interface StoredOpen {
  readonly state: 'open';
  /** Who asks, as his credentials say: `team/agent`. */
  readonly from: string;
  /** Of the request: the same id with another request is another question. */
  readonly digest: string;
  /** A length, counted from when it was stored: no two clocks have to agree. */
  readonly expiresInMs: number;
  readonly request: KeptRequest;
}

/** One that is over. What was asked is not kept any longer: it stands in the trace of who asked. */
export interface StoredOver {
  readonly state: 'answered' | 'expired' | 'withdrawn';
  readonly from: string;
  readonly digest: string;
  readonly about: string;
  /** Of one that was answered: says who, too. */
  readonly approval?: Approval;
  /** Tells whoever wrote it, and heard no answer, that it was him. */
  readonly writer: string;
}

export type Stored = StoredOpen | StoredOver;

/** What an agent says is no key: it could be that of another question. */
export function keyOf(from: string, id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([from, id]))
    .digest('hex');
}

export function isKey(text: string): boolean {
  return /^[0-9a-f]{64}$/u.test(text);
}

export function digestOf(request: KeptRequest): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex');
}

/** What a question was about, for a log. */
function aboutOf({ event, toolName, hooks }: KeptRequest): string {
  const policy = hooks.find((hook) => hook.policy)?.policy?.slice(0, 64);
  return (toolName ?? event).slice(0, 100) + (policy === undefined ? '' : `, policy ${policy}`);
}

/** Reads an entry; `undefined` for what another program has put there. */
export function readStored(text: string): Stored | undefined {
  try {
    const said: unknown = JSON.parse(text);
    if (!isRecord(said) || typeof said['from'] !== 'string') return undefined;
    if (typeof said['digest'] !== 'string') return undefined;
    const { state } = said;
    if (state === 'open') {
      const isWhole = typeof said['expiresInMs'] === 'number' && isRecord(said['request']);
      return isWhole ? (said as unknown as StoredOpen) : undefined;
    }
    if (state === 'answered' && typeof readApproval(said['approval']) === 'string')
      return undefined;
    const isOver = state === 'answered' || state === 'expired' || state === 'withdrawn';
    return isOver ? (said as unknown as StoredOver) : undefined;
  } catch {
    return undefined;
  }
}

/** What whoever asked is told. Without `by`, no person has said it. */
export function approvalOf({ state, approval }: StoredOver): Approval {
  if (state === 'answered' && approval) return approval;
  const reason = state === 'expired' ? NOBODY_ANSWERED : 'the question was taken back';
  return { decision: 'deny', reason };
}

/** The end of a question, by whoever calls it. */
export function overOf(
  { from, digest, request }: StoredOpen,
  state: StoredOver['state'],
): StoredOver {
  return { state, from, digest, about: aboutOf(request), writer: randomUUID() };
}

/** A line for a log. All but the verdict comes from others. */
export function lineOf({ state, from, about, approval }: StoredOver): string {
  const what = `${toOneLine(from)} (${toOneLine(about)})`;
  if (state === 'expired') return `nobody has answered ${what} in time`;
  if (state === 'withdrawn') return `${what} took its question back`;
  const verdict = approval?.decision === 'allow' ? 'allowed' : 'denied';
  const reason = approval?.reason ? `: ${toOneLine(approval.reason)}` : '';
  return `${toOneLine(approval?.by ?? '')} ${verdict} ${what}${reason}`;
}
