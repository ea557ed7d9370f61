import { hash, randomUUID } from 'node:crypto';
import { NOBODY_ANSWERED } from '../../../fleet/approvalEnvelope.js';
import { readApproval, type Approval, type ApprovalRequest } from '../../../protocol/approval.js';
import { orUndefined } from '../../../util/paths.js';
import { isRecord } from '../../../util/records.js';
import type { Person } from '../../shared/people/people.js';
import { toOneLine } from '../../shared/terminal.js';

/** A question as servers keep it: how long it may take stands beside it. */
export type KeptRequest = Omit<ApprovalRequest, 'expiresAt'>;

/** What all entries say. */
interface Entry {
  /** Who asks, as his credentials say: `team/agent`. */
  readonly from: string;
  /** Of the request: if it differs, it is another question, also under the same id. */
  readonly digest: string;
  /** Whether an answer counts only once whoever asked has it. Servers of older versions leave this out: theirs count when stored. */
  readonly isHandedOver?: true;
  /** Tells whoever wrote it, and heard no answer, that it was him. */
  readonly writer?: string;
}

/** A yes of somebody. */
export interface Yes extends Approval {
  readonly by: string;
  /** Whose it is; nobody learns more of it than the name. Servers before stored less. */
  readonly person?: Person;
}

/** A question in the bucket that waits for a person. */
export interface StoredOpen extends Entry {
  readonly state: 'open';
  /** A length, counted from when it was stored: no two clocks have to agree. */
  readonly expiresInMs: number;
  readonly request: KeptRequest;
  /** Where a second person has to allow it, too. */
  readonly needsTwo?: boolean;
  /** The first of two. */
  readonly allowed?: Yes;
}

/** One that waits for nobody any more. What was asked is not kept: it stands in the trace of who asked. */
export interface StoredOver extends Entry {
  /** `answered` becomes `taken` when whoever asked has it, and `withdrawn` where he never asks again. */
  readonly state: 'answered' | 'taken' | 'expired' | 'withdrawn';
  readonly about: string;
  /** As roles name it. Servers before said nothing: then it is for those alone who see all tools. */
  readonly subject?: string;
  /** Of one that was answered: says who, too. */
  readonly approval?: Approval;
}

export type Stored = StoredOpen | StoredOver;

/** What an agent says is no key: it could be that of another question. */
export function keyOf(from: string, id: string): string {
  return hash('sha256', JSON.stringify([from, id]));
}

export function isKey(text: string): boolean {
  return /^[0-9a-f]{64}$/u.test(text);
}

export function digestOf(request: KeptRequest): string {
  return hash('sha256', JSON.stringify(request));
}

/** The tool, or the event that is about none: what roles go by. */
export const subjectOf = ({ toolName, event }: KeptRequest): string => toolName ?? event;

/** What a question was about, for a log. */
function aboutOf(stored: Stored): string {
  if (stored.state !== 'open') return stored.about;
  const policy = stored.request.hooks.find((hook) => hook.policy)?.policy?.slice(0, 64);
  return (
    subjectOf(stored.request).slice(0, 100) + (policy === undefined ? '' : `, policy ${policy}`)
  );
}

/** Reads an entry; `undefined` for what another program has put there. */
export function readStored(text: string): Stored | undefined {
  const said = orUndefined<unknown>(() => JSON.parse(text));
  if (!isRecord(said) || typeof said['from'] !== 'string') return undefined;
  if (typeof said['digest'] !== 'string') return undefined;
  const { state } = said;
  if (state === 'open') {
    const isWhole = typeof said['expiresInMs'] === 'number' && isRecord(said['request']);
    return isWhole ? (said as unknown as StoredOpen) : undefined;
  }
  const isAnswer = state === 'answered' || state === 'taken';
  if (isAnswer && typeof readApproval(said['approval']) === 'string') return undefined;
  const isOver = isAnswer || state === 'expired' || state === 'withdrawn';
  return isOver ? (said as unknown as StoredOver) : undefined;
}

/** Whether nothing can become of it any more. */
export function isFinal({ state, isHandedOver }: Stored): boolean {
  return state !== 'open' && (state !== 'answered' || !isHandedOver);
}

/** What whoever asked is told, of what is final. Without `by`, no person has said it. */
export function approvalOf({ state, approval }: StoredOver): Approval {
  if ((state === 'answered' || state === 'taken') && approval) return approval;
  const reason = state === 'expired' ? NOBODY_ANSWERED : 'the question was taken back';
  return { decision: 'deny', reason };
}

/** What becomes of a question, by whoever calls it. */
export function overOf(stored: Stored, state: StoredOver['state'], given?: Approval): StoredOver {
  const { from, digest, isHandedOver } = stored;
  const approval = given ?? (stored.state === 'open' ? undefined : stored.approval);
  return {
    state,
    from,
    digest,
    about: aboutOf(stored),
    subject: stored.state === 'open' ? subjectOf(stored.request).slice(0, 256) : stored.subject,
    writer: randomUUID(),
    ...(isHandedOver && { isHandedOver }),
    ...(approval && { approval }),
  };
}

/** A line for a log. All but the verdict comes from others. */
export function lineOf(stored: Stored): string {
  const { state, from } = stored;
  const what = `${toOneLine(from)} (${toOneLine(aboutOf(stored))})`;
  const approval = state === 'open' ? stored.allowed : stored.approval;
  const by = toOneLine(approval?.by ?? '');
  if (state === 'expired') return `nobody has answered ${what} in time`;
  if (state === 'taken') return `${what} has the answer of ${by}`;
  if (state === 'withdrawn') {
    const lost = approval ? `, and the answer of ${by} does not count` : '';
    return `${what} took its question back, or is gone${lost}`;
  }
  const verdict = approval?.decision === 'allow' ? 'allowed' : 'denied';
  const reason = approval?.reason ? `: ${toOneLine(approval.reason)}` : '';
  return `${by} ${verdict} ${what}${reason}${state === 'open' ? ' (a second person has to)' : ''}`;
}
