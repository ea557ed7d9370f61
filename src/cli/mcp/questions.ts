import { randomUUID } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import type { Approval, ApprovalRequest } from '../../protocol/approval.js';
import { formatQuestion } from '../run/questionText.js';
import type { Call } from './call.js';
import { recordIn, type Id, type Message } from './rpc.js';

/** No default: what a client fills in by itself is no answer of a person. */
const ANSWERS = { no: 'no', once: 'yes', session: 'yes, for the whole session' } as const;

const SCHEMA = {
  type: 'object',
  properties: {
    answer: {
      type: 'string',
      title: 'May it run?',
      description:
        '"yes, for the whole session": the same hooks do not ask about the same tool with the same arguments again',
      enum: Object.values(ANSWERS),
    },
    reason: { type: 'string', title: 'Why not?', description: 'For the model, if it is no' },
  },
  required: ['answer'],
};

/** The fields of a request for `elicitation/create`. */
function elicitationOf(request: ApprovalRequest): object {
  // Clients show it as a text; what hooks and models wrote in it has been escaped before.
  return { message: stripVTControlCharacters(formatQuestion(request)), requestedSchema: SCHEMA };
}

/** Whether a client says that it can show a form to its user. */
export function canElicit(capabilities: Message = {}): boolean {
  const { elicitation } = capabilities;
  if (typeof elicitation !== 'object' || elicitation === null) return false;
  return Object.keys(elicitation).length === 0 || Object.hasOwn(elicitation, 'form');
}

/** What a person has answered. Everything that is no clear yes is a no. */
function readElicitation(result: unknown): Approval {
  const { action } = recordIn(result);
  const { answer, reason } = recordIn(result, 'content');
  if (action === 'accept' && answer === ANSWERS.once) return { decision: 'allow' };
  if (action === 'accept' && answer === ANSWERS.session) {
    return { decision: 'allow', remember: 'session' };
  }
  const isSaid = typeof reason === 'string' && reason.trim() !== '';
  return { decision: 'deny', ...(isSaid && { reason }) };
}

/** Marks states of ours, which clients bring back, from those of the server. */
const OWN_STATE = 'hookstack:';
const QUESTION = 'hookstack';

/** Whether it stands for a call that waits for a person, or has waited. */
export function isOwnState(state: unknown): state is string {
  return typeof state === 'string' && state.startsWith(OWN_STATE);
}

interface Question {
  /** What is called again with the answer; absent where the answer is a message of its own. */
  readonly call?: Call | undefined;
  readonly settle: (answer: Message) => void;
  readonly giveUp: () => void;
}

/** What the client is to ask its user. */
export class Questions {
  /** By the id of our request, or by what the client is to bring back. */
  readonly #open = new Map<Id, Question>();

  /** Until 2026-07-28 a question is a request of our own, beside those of the server. */
  ask(
    { route: { client } }: Pick<Call, 'route'>,
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<Approval> {
    // A server cannot know this id, and so not have one like it.
    const id = `hookstack-${randomUUID()}`;
    const approval = this.#wait(id, signal, undefined, () => {
      const params = { requestId: id, reason: 'The answer is not wanted any more.' };
      client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    });
    const params = elicitationOf(request);
    client.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
    return approval;
  }

  /**
   * Since then it is an answer, and the client calls again with what was said.
   *
   * @returns the result that asks, and what will have been said
   */
  suspend(
    call: Call,
    request: ApprovalRequest,
    signal: AbortSignal,
  ): { readonly result: object; readonly approval: Promise<Approval> } {
    const requestState = `${OWN_STATE}${randomUUID()}`;
    const approval = this.#wait(requestState, signal, call);
    const question = { method: 'elicitation/create', params: elicitationOf(request) };
    const inputRequests = { [QUESTION]: question };
    return { result: { resultType: 'input_required', inputRequests, requestState }, approval };
  }

  /** The call that waits for a state to be brought back. */
  suspended(state: string): Call | undefined {
    return this.#open.get(state)?.call;
  }

  /** Takes what the client has brought back. */
  resume(state: string, inputResponses: Message): void {
    this.#open.get(state)?.settle({ result: inputResponses[QUESTION] ?? null });
  }

  /** Says whether a message of the client answers a request of ours. */
  take(id: Id, answer: Message): boolean {
    const question = this.#open.get(id);
    if (!question || question.call) return false;
    question.settle(answer);
    return true;
  }

  /** Nobody can answer any more. */
  giveUp(): void {
    for (const { giveUp } of this.#open.values()) giveUp();
  }

  #wait(
    id: string,
    signal: AbortSignal,
    call: Call | undefined,
    takeBack?: () => void,
  ): Promise<Approval> {
    return new Promise((resolve, reject) => {
      const close = () => {
        this.#open.delete(id);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        close();
        takeBack?.();
        reject(new Error('the question was taken back'));
      };
      const settle = ({ result, error }: Message) => {
        close();
        if (result !== undefined) resolve(readElicitation(result));
        else reject(new Error(`the client did not ask: ${JSON.stringify(error)}`));
      };
      this.#open.set(id, { call, settle, giveUp });
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
