import { MessageBusType, type MessageBus, type Unsubscribe } from '../confirmation-bus/types.js';
import {
  readApproval,
  type Approval,
  type ApprovalRequest,
  type Approver,
} from '../protocol/approval.js';
import type { ConfirmationErrorCode } from '../confirmation-bus/types.js';
import { isRecord } from '../util/records.js';

interface Open {
  readonly request: ApprovalRequest;
  readonly settle: (approval: Approval) => void;
  readonly giveUp: (reason: Error) => void;
}

/** Questions that are over, and how; so many are known. */
const KNOWN = 10_000;

/**
 * Asks over a message bus. The first answer that is right counts; all others are refused, each with a result. Have one
 * for each bus, for all of its `Config`s: it refuses answers to questions that it has not put.
 */
export class BusApprover {
  readonly #open = new Map<string, Open>();
  readonly #over = new Map<string, ConfirmationErrorCode>();
  #subscription: Promise<Unsubscribe> | undefined;

  constructor(private readonly bus: MessageBus) {
    // Who answers before anything was asked is refused, too. A question says what is wrong with the bus.
    this.#listen().catch(() => undefined);
  }

  /** To be passed to a `Config`. */
  readonly approve: Approver = async (request, { signal }) => {
    await this.#listen();
    const { id } = request;
    return new Promise((resolve, reject) => {
      const end = (how: ConfirmationErrorCode) => {
        this.#open.delete(id);
        this.#remember(id, how);
        signal.removeEventListener('abort', abort);
      };
      const giveUp = (reason: Error) => {
        end('CONFIRMATION_TOO_LATE');
        reject(reason);
      };
      const abort = () => giveUp(signal.reason as Error);
      const settle = (approval: Approval) => {
        end('CONFIRMATION_ANSWERED');
        resolve(approval);
      };
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort);
      this.#open.set(id, { request, settle, giveUp });
      const type = MessageBusType.TOOL_CONFIRMATION_REQUEST;
      Promise.resolve(this.bus.publish({ type, correlationId: id, request })).catch(reject);
    });
  };

  /** How many questions wait for an answer. */
  get size(): number {
    return this.#open.size;
  }

  /** Takes no more answers: questions that are open are given up. A later question subscribes again. */
  async dispose(): Promise<void> {
    const subscription = this.#subscription;
    this.#subscription = undefined;
    for (const { giveUp } of this.#open.values())
      giveUp(new Error('nobody takes answers any more'));
    const unsubscribe = await subscription;
    await unsubscribe?.();
  }

  async #listen(): Promise<void> {
    this.#subscription ??= Promise.resolve(
      this.bus.subscribe(MessageBusType.TOOL_CONFIRMATION_RESPONSE, (said) =>
        // A result that cannot be sent changes nothing.
        this.#take(said).catch(() => undefined),
      ),
    );
    try {
      await this.#subscription;
    } catch (error) {
      // The next question tries again.
      this.#subscription = undefined;
      throw error;
    }
  }

  async #take(said: unknown): Promise<void> {
    const { correlationId, sessionId, approval } = isRecord(said) ? said : {};
    const id = typeof correlationId === 'string' ? correlationId : '';
    const open = this.#open.get(id);
    const answer = readApproval(approval);
    if (!open) {
      const code = this.#over.get(id) ?? 'CONFIRMATION_NOT_OPEN';
      await this.#refuse(id, code, WHY[code]);
    } else if (sessionId !== open.request.sessionId) {
      await this.#refuse(id, 'CONFIRMATION_OTHER_SESSION', WHY.CONFIRMATION_OTHER_SESSION);
    } else if (typeof answer === 'string') {
      await this.#refuse(id, 'CONFIRMATION_MALFORMED', `${WHY.CONFIRMATION_MALFORMED}: ${answer}`);
    } else {
      open.settle(answer);
      const type = MessageBusType.TOOL_CONFIRMATION_RESULT;
      await this.bus.publish({ type, correlationId: id, accepted: true });
    }
  }

  async #refuse(correlationId: string, code: ConfirmationErrorCode, message: string) {
    const type = MessageBusType.TOOL_CONFIRMATION_RESULT;
    await this.bus.publish({ type, correlationId, accepted: false, error: { code, message } });
  }

  #remember(id: string, how: ConfirmationErrorCode): void {
    this.#over.set(id, how);
    const [oldest] = this.#over.keys();
    if (this.#over.size > KNOWN && oldest !== undefined) this.#over.delete(oldest);
  }
}

const WHY: Readonly<Record<ConfirmationErrorCode, string>> = {
  CONFIRMATION_NOT_OPEN:
    'There is no question with this correlation id: take the one of the request',
  CONFIRMATION_ANSWERED: 'The question has been answered already, and the first answer counts',
  CONFIRMATION_TOO_LATE:
    'The question was given up, or its time is over; if it still matters, it is asked again',
  CONFIRMATION_OTHER_SESSION:
    'The question is that of another session: say the `sessionId` of the request',
  CONFIRMATION_MALFORMED: 'The "approval" cannot be read',
};

/**
 * Answers the questions that come over a bus.
 *
 * @param answer may reject: then the question stays open for others
 * @returns ends it
 */
export async function answerConfirmations(
  bus: MessageBus,
  answer: (request: ApprovalRequest) => Approval | Promise<Approval>,
): Promise<Unsubscribe> {
  return bus.subscribe(MessageBusType.TOOL_CONFIRMATION_REQUEST, async (message) => {
    const { correlationId, request } = message;
    const approval = await answer(request);
    const { sessionId } = request;
    const type = MessageBusType.TOOL_CONFIRMATION_RESPONSE;
    await bus.publish({ type, correlationId, sessionId, approval });
  });
}
