import { randomUUID } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import type { Approval, ApprovalRequest } from '../../protocol/approval.js';
import { formatQuestion } from '../run/questionText.js';
import type { Outlet } from './outlet.js';
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
export function elicitationOf(request: ApprovalRequest): object {
  // Clients show it as a text; what hooks and models wrote in it has been escaped before.
  return { message: stripVTControlCharacters(formatQuestion(request)), requestedSchema: SCHEMA };
}

/** Whether a client says that it can show a form to its user. */
export function canElicit(capabilities: Message): boolean {
  const { elicitation } = capabilities;
  if (typeof elicitation !== 'object' || elicitation === null) return false;
  return Object.keys(elicitation).length === 0 || Object.hasOwn(elicitation, 'form');
}

/** What a person has answered. Everything that is no clear yes is a no. */
export function readElicitation(result: unknown): Approval {
  const { action } = recordIn(result);
  const { answer, reason } = recordIn(result, 'content');
  if (action === 'accept' && answer === ANSWERS.once) return { decision: 'allow' };
  if (action === 'accept' && answer === ANSWERS.session) {
    return { decision: 'allow', remember: 'session' };
  }
  const isSaid = typeof reason === 'string' && reason.trim() !== '';
  return { decision: 'deny', ...(isSaid && { reason }) };
}

/** Requests of our own to the client, beside those of the server. Until 2026-07-28 a question is one. */
export class Elicitations {
  readonly #open = new Map<
    Id,
    { readonly settle: (answer: Message) => void; readonly giveUp: () => void }
  >();

  constructor(private readonly client: Outlet) {}

  ask(request: ApprovalRequest, signal: AbortSignal): Promise<Approval> {
    // A server cannot know this id, and so not have one like it.
    const id = `hookstack-${randomUUID()}`;
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#open.delete(id);
        const params = { requestId: id, reason: 'The answer is not wanted any more.' };
        this.client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
        reject(new Error('the question was taken back'));
      };
      const settle = ({ result, error }: Message) => {
        this.#open.delete(id);
        signal.removeEventListener('abort', giveUp);
        if (result !== undefined) resolve(readElicitation(result));
        else reject(new Error(`the client did not ask: ${JSON.stringify(error)}`));
      };
      this.#open.set(id, { settle, giveUp });
      signal.addEventListener('abort', giveUp, { once: true });
      const params = elicitationOf(request);
      this.client.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params });
    });
  }

  /** Says whether a message of the client answers a question of ours. */
  take(id: Id, answer: Message): boolean {
    const question = this.#open.get(id);
    question?.settle(answer);
    return question !== undefined;
  }

  /** Nobody can answer any more. */
  giveUp(): void {
    for (const { giveUp } of this.#open.values()) giveUp();
  }
}
