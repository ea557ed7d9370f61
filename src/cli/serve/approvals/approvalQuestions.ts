import { descriptionOf } from '../../../approvals/approvals.js';
import type { Answer, Approval, AskingHook } from '../../../protocol/approval.js';
import { events } from '../../../protocol/events.js';
import { HookEventName } from '../../../protocol/types.js';
import {
  anyObject,
  expecting,
  flag,
  listOfText,
  objectOf,
  positiveCount,
  readFields,
  text,
  textOf,
  type Check,
  type FieldTable,
} from '../../../util/checks.js';
import { orUndefined } from '../../../util/paths.js';
import { copyData, isRecord } from '../../../util/records.js';
import {
  MAX_QUESTION_BYTES,
  STILL_OPEN,
  type AskedPerson,
  type TakeBack,
} from '../../../fleet/approvalEnvelope.js';
import { markAnswer } from '../../../fleet/answerMark.js';
import { readQuestion } from '../../../fleet/question.js';
import { traced } from '../../../trace/span.js';
import { errorMessage } from '../../../util/errorMessage.js';
import type { Reply } from '../keptAnswers.js';
import { LONGEST_QUESTION_MS, type KvBoard } from './kvBoard.js';
import type { KeptRequest } from './storedQuestion.js';

/** A question as it came. The lengths are those of `AskedPerson`. */
type ReadRequest = KeptRequest & Partial<Pick<AskedPerson, 'expiresInMs' | 'waitMs' | 'asksAgain'>>;

/** What an agent puts to a person, whichever way it came. */
export interface PutQuestion {
  /** Who asks, as his credentials say: `team/agent`. */
  readonly from: string;
  readonly body: string;
  readonly header: (name: string) => string | undefined;
}

/** What it gets: JSON. The status is that of HTTP. */
export type PutReply = Pick<Reply, 'status' | 'body'>;

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
      const not = await board.takeBack(put.from, request.takeBack);
      if (not) return fault(not.status, not.error);
      return { status: 200, body: markAnswer({}, { id: request.takeBack }) };
    }
    const { expiresInMs, waitMs, asksAgain, ...asked } = request;
    const outcome = await board.ask({
      from: put.from,
      request: asked,
      timeoutMs: expiresInMs ?? readQuestion(put.header, LONGEST_QUESTION_MS).timeoutMs,
      waitMs: Math.min(waitMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS),
      ...(asksAgain && { asksAgain }),
    });
    if ('error' in outcome) return fault(outcome.status, outcome.error);
    if (outcome.kind === 'open') {
      return { status: STILL_OPEN, body: markAnswer({ state: 'open' }, request) };
    }
    if (!outcome.isAgain) await record(put.from, asked, outcome.approval);
    return { status: 200, body: markAnswer(outcome.approval, request) };
  } catch (error) {
    return fault(
      503,
      `the board of questions cannot be reached (${errorMessage(error)}): ask again`,
    );
  }
}

/** The record has it from the server, too: an agent could say anything. */
function record(from: string, asked: KeptRequest, approval: Approval): Promise<Answer> {
  const agent = [from, asked.agent].filter(Boolean).join('/');
  const source = approval.by === undefined ? 'nobody' : 'person';
  const work = async (): Promise<Answer> => ({ ...approval, source });
  return traced('question', descriptionOf({ ...asked, agent }), work);
}

function fault(status: number, error: string): PutReply {
  return { status, body: JSON.stringify({ error }) };
}

const MAX_HOOKS = 64;
const ID = /^[A-Za-z0-9_-]{1,64}$/u;

const id = expecting<string>(
  'an id of letters, digits, "-" and "_"',
  (value) => typeof value === 'string' && ID.test(value),
);
const askingEvents = Object.values(HookEventName).filter((each) => events[each].canAsk);
const event = expecting<HookEventName>(askingEvents.join(' or '), (value) =>
  askingEvents.some((each) => each === value),
);
const shortText = expecting<string>(
  'up to 128 characters, none of them a control character',
  (value) => text.is(value) && value.length <= 128 && !/[\p{Cc}\p{Cs}]/u.test(value),
);
const hook = objectOf<AskingHook>('a hook', {
  name: text,
  source: text,
  reason: text,
  policy: shortText,
  decidedBy: listOfText,
});
const hooks = expecting<readonly AskingHook[]>(
  `a list of up to ${MAX_HOOKS} hooks, each with "name" and "source"`,
  (value) =>
    Array.isArray(value) &&
    value.length <= MAX_HOOKS &&
    value.every(
      (each: unknown) => isRecord(each) && 'name' in each && 'source' in each && hook.is(each),
    ),
);

/** One of a wrong kind takes the whole question with it. */
const vital = <T>(struct: Check<T>) => ({ struct, vital: true });
const required = <T>(struct: Check<T>) => ({ struct, required: true }) as const;

const FIELDS: FieldTable<ReadRequest> = {
  id: required(id),
  event: required(event),
  hooks: required(hooks),
  reason: required(text),
  toolName: vital(shortText),
  callId: vital(text),
  input: required(anyObject),
  originalInput: required(anyObject),
  sessionId: required(text),
  workingDir: required(text),
  agent: vital(text),
  expiresInMs: vital(positiveCount),
  waitMs: vital(positiveCount),
  asksAgain: vital(flag),
};

/**
 * Reads what an agent asks a person, or takes back. Other keys than those that are shown are not kept.
 *
 * @returns or else what is wrong with it
 */
function readApprovalRequest(body: string): ReadRequest | TakeBack | string {
  const said = orUndefined<unknown>(() => JSON.parse(body));
  if (!isRecord(said)) return 'the question is no JSON object: send an ApprovalRequest';
  if (said['takeBack'] !== undefined) {
    return id.is(said['takeBack'])
      ? { takeBack: said['takeBack'] }
      : '"takeBack" names no question';
  }
  let problem = '';
  const read = readFields(said, FIELDS, 'question', ([key], message) => {
    problem = `"${key}" of the question: ${textOf(message)}`;
  });
  if (!read) return problem;
  return orUndefined(() => copyData(read)) ?? 'the question is nested too deep to be read';
}
