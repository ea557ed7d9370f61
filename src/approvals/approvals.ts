import { randomUUID } from 'node:crypto';
import { validate } from 'superstruct';
import { sanitizeText } from '../protocol/sanitizeText.js';
import { traced, type Description } from '../trace/span.js';
import type { DebugLogger } from '../util/debugLogger.js';
import { notify } from '../util/notify.js';
import { errorMessage } from '../util/errorMessage.js';
import {
  approvalStruct,
  DEFAULT_APPROVAL_TIMEOUT_MS,
  type Answer,
  type ApprovalObserver,
  type ApprovalRequest,
  type ApprovalSettings,
  type Approver,
} from '../protocol/approval.js';

/** What is known of a question before it is put. */
export type Question = Omit<ApprovalRequest, 'id' | 'expiresAt' | 'reason'> & {
  /** Whether one of the hooks is a guard. */
  readonly isGuarded: boolean;
};

/** How a question is given up, and watched. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onApproval?: ApprovalObserver | undefined;
}

/** Puts the questions of a session to a person, and remembers what was allowed for all of it. */
export class Approvals {
  readonly #allowed = new Set<string>();
  /** Questions that wait for an answer, by id. */
  readonly #open = new Map<string, AbortController>();
  /** Hooks of which it was told that nobody can be asked. */
  readonly #told = new Set<string>();

  constructor(
    private readonly approver: Approver | undefined,
    private readonly settings: ApprovalSettings,
    private readonly logger: DebugLogger,
  ) {}

  /**
   * Never rejects: whatever goes wrong is a no.
   *
   * @param options.signal of the call; once it aborts, the question is taken back
   */
  async ask(question: Question, { signal, onApproval }: AskOptions = {}): Promise<Answer> {
    const { approver } = this;
    if (!approver) return this.#answerOfNobody(question);
    const key = keyOf(question);
    if (this.#allowed.has(key)) return { decision: 'allow', source: 'memory' };
    const { timeout = DEFAULT_APPROVAL_TIMEOUT_MS } = this.settings;
    const request = toRequest(question, timeout);
    const over = this.#begin(request, signal);
    if (onApproval) notify(this.logger, onApproval, request);
    const answer = await traced('question', descriptionOf(request), () =>
      askPerson(approver, request, timeout, over),
    );
    this.#open.delete(request.id);
    if (onApproval) notify(this.logger, onApproval, request, answer);
    if (answer.decision === 'allow' && answer.remember === 'session') this.#allowed.add(key);
    return answer;
  }

  /** Nobody wants to know the answers any more: they are no. */
  takeBack(ids: Iterable<string>): void {
    for (const id of ids) this.#open.get(id)?.abort();
  }

  /** @returns aborts once the call is given up, or the question is taken back */
  #begin({ id }: ApprovalRequest, signal: AbortSignal | undefined): AbortSignal {
    const controller = new AbortController();
    this.#open.set(id, controller);
    return signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
  }

  #answerOfNobody({ isGuarded, hooks }: Question): Answer {
    const decision = this.settings.whenNobody ?? (isGuarded ? 'deny' : 'allow');
    const names = hooks.map(({ name }) => `"${name}"`).join(', ');
    const want = hooks.length === 1 ? 'wants' : 'want';
    if (decision === 'deny') {
      const reason = `${names} ${want} a person to be asked, and nobody can be asked here`;
      return { decision, reason, source: 'nobody' };
    }
    if (this.#told.has(names)) return { decision, source: 'nobody' };
    this.#told.add(names);
    this.logger.warn(
      `${names} ${want} a person to be asked, and nobody can be asked here: it goes on. To deny in such cases, write "approvals": { "whenNobody": "deny" } in the settings`,
    );
    return { decision, source: 'nobody' };
  }
}

/** How long a person took, who it was, and what was said. */
function descriptionOf({ event, hooks, toolName, input }: ApprovalRequest): Description<Answer> {
  const name = hooks.map((hook) => hook.name).join(', ');
  const asked = toolName === undefined ? input : { tool_name: toolName, tool_input: input };
  return {
    facts: () => ({ name, event, input: asked }),
    outcome: ({ decision, reason, source, by, remember }) => ({
      verdict: decision === 'deny' ? 'block' : 'allow',
      ...(reason !== undefined && { reason }),
      output: { source, by, remember },
    }),
  };
}

/** A timer for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function askPerson(
  approver: Approver,
  request: ApprovalRequest,
  timeout: number,
  signal: AbortSignal,
): Promise<Answer> {
  const late = new AbortController();
  const over = AbortSignal.any([signal, late.signal]);
  const timer = setTimeout(() => late.abort(), Math.min(timeout, LONGEST_TIMER_MS));
  try {
    over.throwIfAborted();
    const said = await firstOf(over, async () => approver(request, { signal: over }));
    // An answer to what nobody wants to know any more does not count.
    over.throwIfAborted();
    return readApproval(said);
  } catch (error) {
    if (signal.aborted) return refusal('the question was taken back');
    if (late.signal.aborted) {
      return refusal(`nobody answered within ${Math.ceil(timeout / 1000)} s`);
    }
    return refusal(`the question could not be put (${errorMessage(error)})`);
  } finally {
    clearTimeout(timer);
    // Whoever still shows the question takes it away.
    late.abort();
  }
}

/** What the model may be asked to do again counts as the same only where nothing is different. */
function keyOf({ event, hooks, toolName, input, sessionId }: Question): string {
  return JSON.stringify([
    sessionId,
    event,
    hooks.map(({ name, source }) => [source, name]),
    toolName,
    input,
  ]);
}

function toRequest(question: Question, timeout: number): ApprovalRequest {
  const { isGuarded: _isGuarded, ...asked } = question;
  const reason = question.hooks.flatMap(({ reason: said }) => said ?? []).join('\n');
  return { ...asked, id: randomUUID(), reason, expiresAt: Date.now() + timeout };
}

function firstOf<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

function readApproval(said: unknown): Answer {
  const [error, approval] = validate(said, approvalStruct);
  if (error) return refusal(`the answer cannot be read (${error.message})`);
  const { decision, reason, remember, by } = approval;
  return {
    decision,
    source: 'person',
    ...(reason !== undefined && { reason: sanitizeText(reason) }),
    ...(remember !== undefined && { remember }),
    ...(by !== undefined && { by: sanitizeText(by) }),
  };
}

function refusal(reason: string): Answer {
  return { decision: 'deny', reason: sanitizeText(reason), source: 'failure' };
}
