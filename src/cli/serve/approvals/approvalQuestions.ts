import { MAX_QUESTION_BYTES, STILL_OPEN } from '../../../fleet/approvalEnvelope.js';
import { markAnswer } from '../../../fleet/answerMark.js';
import { readQuestion } from '../../../fleet/question.js';
import { errorMessage } from '../../../util/errorMessage.js';
import type { KvBoard, Outcome } from './kvBoard.js';
import { readApprovalRequest } from './readApprovalRequest.js';

/** What an agent puts to a person, whichever way it came. */
export interface PutQuestion {
  /** Who asks, as his credentials say: `team/agent`. */
  readonly from: string;
  readonly body: string;
  readonly header: (name: string) => string | undefined;
}

/** What it gets: JSON. The status is that of HTTP. */
export interface PutReply {
  readonly status: number;
  readonly body: string;
}

const LONGEST_QUESTION_MS = 24 * 3_600_000;
/** Ms that a question is kept before its asker hears that it is open: proxies take a longer silence for a fault. */
const LONGEST_WAIT_MS = 25_000;

/** Puts a question of an agent on the board, and waits for a person. Never rejects. */
export async function answerQuestion(board: KvBoard, put: PutQuestion): Promise<PutReply> {
  if (Buffer.byteLength(put.body) > MAX_QUESTION_BYTES) {
    return fault(
      413,
      `the question is larger than ${MAX_QUESTION_BYTES / 1024} KB: no person could read it`,
    );
  }
  const request = readApprovalRequest(put.body);
  if (typeof request === 'string') return fault(422, request);
  try {
    if ('takeBack' in request) {
      await board.takeBack(put.from, request.takeBack);
      return { status: 200, body: markAnswer({}, { id: request.takeBack }) };
    }
    const { expiresInMs, waitMs, ...asked } = request;
    const outcome = await board.ask({
      from: put.from,
      request: asked,
      timeoutMs: expiresInMs ?? readQuestion(put.header, LONGEST_QUESTION_MS).timeoutMs,
      waitMs: Math.min(waitMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS),
    });
    return replyTo(request, outcome);
  } catch (error) {
    return fault(
      503,
      `the board of questions cannot be reached (${errorMessage(error)}): ask again`,
    );
  }
}

function replyTo(request: { readonly id: string }, outcome: Outcome): PutReply {
  if (outcome.kind === 'approval') {
    return { status: 200, body: markAnswer(outcome.approval, request) };
  }
  if (outcome.kind === 'open') {
    return { status: STILL_OPEN, body: markAnswer({ state: 'open' }, request) };
  }
  if (outcome.kind === 'unreadable') return fault(413, `the question ${outcome.why}`);
  if (outcome.kind === 'taken') {
    return fault(409, 'another question has this id: take a new one for each');
  }
  return fault(429, 'too many questions wait for a person: ask again when some are answered');
}

function fault(status: number, error: string): PutReply {
  return { status, body: JSON.stringify({ error }) };
}
