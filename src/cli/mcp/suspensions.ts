import { randomUUID } from 'node:crypto';
import type { Approval, ApprovalRequest } from '../../protocol/approval.js';
import { elicitationOf, readElicitation } from './questions.js';
import type { Message } from './rpc.js';

interface Suspended<C> {
  readonly call: C;
  /** Takes what the client has brought back. */
  readonly settle: (inputResponses: Message) => void;
  readonly giveUp: () => void;
}

/** Marks states of ours, which clients bring back, from those of the server. */
const OWN_STATE = 'hookstack:';
const QUESTION = 'hookstack';

/** Calls that wait for a person. Since 2026-07-28 a question is an answer, and the client calls again with what was said. */
export class Suspensions<C> {
  /** By what the client is to bring back. */
  readonly #waiting = new Map<string, Suspended<C>>();

  /** @returns the result that asks, and what will have been said */
  add(
    call: C,
    request: ApprovalRequest,
    signal: AbortSignal,
  ): { readonly result: object; readonly approval: Promise<Approval> } {
    const requestState = `${OWN_STATE}${randomUUID()}`;
    const approval = new Promise<Approval>((resolve, reject) => {
      const giveUp = () => {
        this.#waiting.delete(requestState);
        reject(new Error('the question was taken back'));
      };
      const settle = (inputResponses: Message) => {
        this.#waiting.delete(requestState);
        signal.removeEventListener('abort', giveUp);
        resolve(readElicitation(inputResponses[QUESTION]));
      };
      this.#waiting.set(requestState, { call, settle, giveUp });
      signal.addEventListener('abort', giveUp, { once: true });
    });
    const question = { method: 'elicitation/create', params: elicitationOf(request) };
    const inputRequests = { [QUESTION]: question };
    return { result: { resultType: 'input_required', inputRequests, requestState }, approval };
  }

  get(state: string): Suspended<C> | undefined {
    return this.#waiting.get(state);
  }

  /** Nobody can answer any more. */
  giveUp(): void {
    for (const { giveUp } of this.#waiting.values()) giveUp();
  }
}

export function isOwnState(state: unknown): state is string {
  return typeof state === 'string' && state.startsWith(OWN_STATE);
}
