import { validate } from 'superstruct';
import { MessageBusType, type MessageBus, type Unsubscribe } from '../confirmation-bus/types.js';
import {
  approvalStruct,
  type Approval,
  type ApprovalRequest,
  type Approver,
} from '../protocol/approval.js';
import type { ConfirmationErrorCode } from '../protocol/hookBusContracts.js';
import { isRecord } from '../util/records.js';

interface Open {
  readonly request: ApprovalRequest;
  readonly settle: (approval: Approval) => void;
}

/** Questions that are over, and how; so many are known. */
const KNOWN = 10_000;

/** Asks over a message bus. The first answer that is right counts; all others are refused, each with a result. */
export class BusApprover {
  readonly #open = new Map<string, Open>();
  readonly #over = new Map<string, ConfirmationErrorCode>();
  #subscription: Promise<Unsubscribe> | undefined;

  constructor(private readonly bus: MessageBus) {}

  /** To be passed to a `Config`. */
  readonly approve: Approver = async (request, { signal }) => {
    this.#subscription ??= Promise.resolve(
      this.bus.subscribe(MessageBusType.TOOL_CONFIRMATION_RESPONSE, (said) => this.#take(said)),
    );
    await this.#subscription;
    const { id } = request;
    return new Promise((resolve, reject) => {
      const end = (how: ConfirmationErrorCode) => {
        this.#open.delete(id);
        this.#remember(id, how);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        end('CONFIRMATION_TOO_LATE');
        reject(signal.reason as Error);
      };
      const settle = (approval: Approval) => {
        end('CONFIRMATION_ANSWERED');
        resolve(approval);
      };
      if (signal.aborted) return giveUp();
      signal.addEventListener('abort', giveUp);
      this.#open.set(id, { request, settle });
      const type = MessageBusType.TOOL_CONFIRMATION_REQUEST;
      Promise.resolve(this.bus.publish({ type, correlationId: id, request })).catch(reject);
    });
  };

  /** How many questions wait for an answer. */
  get size(): number {
    return this.#open.size;
  }

  /** Takes no more answers. Questions that are open end with their time. */
  async dispose(): Promise<void> {
    const unsubscribe = await this.#subscription;
    await unsubscribe?.();
  }

  async #take(said: unknown): Promise<void> {
    const { correlationId, sessionId, approval } = isRecord(said) ? said : {};
    const id = typeof correlationId === 'string' ? correlationId : '';
    const open = this.#open.get(id);
    const [malformed, answer] = validate(approval, approvalStruct);
    if (!open) {
      const code = this.#over.get(id) ?? 'CONFIRMATION_NOT_OPEN';
      await this.#refuse(id, code, WHY[code]);
    } else if (sessionId !== open.request.sessionId) {
      await this.#refuse(id, 'CONFIRMATION_OTHER_SESSION', WHY.CONFIRMATION_OTHER_SESSION);
    } else if (malformed) {
      const message = `${WHY.CONFIRMATION_MALFORMED}: ${malformed.message}`;
      await this.#refuse(id, 'CONFIRMATION_MALFORMED', message);
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
  CONFIRMATION_NOT_OPEN: 'There is no open question with this correlation id',
  CONFIRMATION_ANSWERED: 'The question has been answered already',
  CONFIRMATION_TOO_LATE: 'The question was given up, or its time is over',
  CONFIRMATION_OTHER_SESSION: 'The question is that of another session',
  CONFIRMATION_MALFORMED: 'The answer must have an "approval" with a decision of "allow" or "deny"',
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
