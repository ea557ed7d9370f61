import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { sanitizeText } from '../protocol/sanitizeText.js';
import { noteApprover, traced, type Description } from '../trace/span.js';
import type { CallSession, CommandHookConfig } from '../protocol/types.js';
import type { DebugLogger } from '../util/debugLogger.js';
import { copyData } from '../util/records.js';
import { notify } from '../util/notify.js';
import { errorMessage } from '../util/errorMessage.js';
import {
  DEFAULT_APPROVAL_TIMEOUT_MS,
  readApproval,
  type Answer,
  type ApprovalObserver,
  type ApprovalRequest,
  type ApprovalSettings,
  type Approver,
} from '../protocol/approval.js';

/** What is known of a question before it is put. */
export type Question = Omit<ApprovalRequest, 'id' | 'expiresAt' | 'reason'> & {
  /** The hooks that ask, in full. */
  readonly definitions: readonly CommandHookConfig[];
  /** Whether one of the hooks is a guard. */
  readonly isGuarded: boolean;
};

/** How a question is given up, and watched. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onApproval?: ApprovalObserver | undefined;
  readonly session?: CallSession | undefined;
}

/** Puts the questions of a session to a person, and remembers what was allowed for all of it. */
export class Approvals {
  /** With who has allowed it, as far as that is known. */
  readonly #allowed = new Map<string, string | undefined>();
  /** Questions that wait for an answer, by id. */
  readonly #open = new Map<
    string,
    { readonly key: string | undefined; readonly over: AbortController }
  >();
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
  async ask(question: Question, options: AskOptions = {}): Promise<Answer> {
    const { approver } = this;
    if (!approver) return this.#answerOfNobody(question);
    try {
      return await this.#put(question, approver, options);
    } catch (error) {
      return notPut(error);
    }
  }

  async #put(
    question: Question,
    approver: Approver,
    { signal, onApproval }: AskOptions,
  ): Promise<Answer> {
    const key = rememberedKeyOf(question);
    if (key !== undefined && this.#allowed.has(key)) {
      noteApprover(this.#allowed.get(key));
      return REMEMBERED;
    }
    const { timeout = DEFAULT_APPROVAL_TIMEOUT_MS } = this.settings;
    const request = toRequest(question, timeout);
    const over = this.#begin(request, key, signal);
    if (onApproval) notify(this.logger, onApproval, request);
    const answer = await traced('question', descriptionOf(request), () =>
      askPerson(approver, request, timeout, over),
    );
    this.#open.delete(request.id);
    if (onApproval) notify(this.logger, onApproval, request, answer);
    const { decision, remember, by } = answer;
    if (key !== undefined && decision === 'allow' && remember === 'session') this.#allow(key, by);
    return answer;
  }

  /** For the session, and for whoever asks the same just now. */
  #allow(key: string, by: string | undefined): void {
    this.#allowed.set(key, by);
    for (const { key: same, over } of this.#open.values()) if (same === key) over.abort(REMEMBERED);
  }

  /** Nobody wants to know the answers any more: they are no. */
  takeBack(ids: Iterable<string>): void {
    for (const id of ids) this.#open.get(id)?.over.abort();
  }

  /** @returns aborts once the call is given up, or the question is taken back */
  #begin(
    { id }: ApprovalRequest,
    key: string | undefined,
    signal: AbortSignal | undefined,
  ): AbortSignal {
    const over = new AbortController();
    this.#open.set(id, { key, over });
    return signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  }

  #answerOfNobody({ isGuarded, hooks }: Question): Answer {
    const decision = this.settings.whenNobody ?? (isGuarded ? 'deny' : 'allow');
    const names = hooks.map(({ name }) => `"${name}"`).join(', ');
    const want = hooks.length === 1 ? 'wants' : 'want';
    if (decision === 'deny') {
      const reason = `${names} ${want} a person to be asked, and nobody can be asked here`;
      return { decision, reason, source: 'nobody' };
    }
    // Whoever has decided so knows.
    if (this.settings.whenNobody || this.#told.has(names)) return { decision, source: 'nobody' };
    this.#told.add(names);
    this.logger.warn(
      `${names} ${want} a person to be asked, and nobody can be asked here: it goes on. To deny in such cases, write "approvals": { "whenNobody": "deny" } in the settings`,
    );
    return { decision, source: 'nobody' };
  }
}

/** How long a person took, who it was, and what was said. */
export function descriptionOf(request: Omit<ApprovalRequest, 'expiresAt'>): Description<Answer> {
  const { event, hooks, toolName, callId, input, sessionId, agent } = request;
  const name = hooks.map((hook) => hook.name).join(', ');
  const asked = toolName === undefined ? input : { tool_name: toolName, tool_input: input };
  const policy = hooks.find((hook) => hook.policy)?.policy;
  return {
    facts: () => ({
      name,
      event,
      input: asked,
      tool: toolName,
      call: callId,
      session: sessionId,
      agent,
    }),
    outcome: ({ decision, reason, source, by, remember }) => ({
      verdict: decision === 'deny' ? 'block' : 'allow',
      ...(reason !== undefined && { reason }),
      ...(policy !== undefined && { policy }),
      ...(by !== undefined && { approver: by }),
      output: { source, by, remember },
    }),
  };
}

/** Allowed before, for all of the session. */
const REMEMBERED: Answer = Object.freeze({ decision: 'allow', source: 'memory' });

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
    return toAnswer(said);
  } catch (error) {
    if (signal.reason === REMEMBERED) return REMEMBERED;
    if (signal.aborted) return refusal('the question was taken back');
    if (late.signal.aborted) {
      return refusal(`nobody answered within ${Math.ceil(timeout / 1000)} s`);
    }
    return notPut(error);
  } finally {
    clearTimeout(timer);
    // Whoever still shows the question takes it away.
    late.abort();
  }
}

/**
 * What a yes for the session holds for. It has to be in the question, too: a yes is for what was shown.
 *
 * @returns the same only for what is in nothing different; `undefined` for what JSON cannot tell apart
 */
function rememberedKeyOf(question: Question): string | undefined {
  const { event, definitions, hooks, toolName, input, sessionId, workingDir, agent } = question;
  try {
    const text = JSON.stringify(input);
    if (!isDeepStrictEqual(JSON.parse(text), { ...input })) return undefined;
    const sources = hooks.map(({ source, decidedBy }) => [source, decidedBy]);
    const where = [sessionId, workingDir, agent];
    return JSON.stringify([where, event, sources, definitions, toolName, text]);
  } catch {
    return undefined;
  }
}

/** Nobody who is asked, or looks on, can change what will run. */
function toRequest(question: Question, timeout: number): ApprovalRequest {
  const { isGuarded: _isGuarded, definitions: _definitions, ...asked } = question;
  // One hook must not pass for two.
  const reasons = question.hooks.flatMap(({ reason: said }) => said?.replaceAll('\n', ' ') ?? []);
  const reason = reasons.join('\n');
  const expiresAt = Date.now() + timeout;
  return freezeData({ ...copyData(asked), id: randomUUID(), reason, expiresAt });
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

function toAnswer(said: unknown): Answer {
  const approval = readApproval(said);
  if (typeof approval === 'string') return refusal(`the answer cannot be read (${approval})`);
  const { reason, by, ...rest } = approval;
  return Object.freeze({
    ...rest,
    source: 'person',
    ...(reason !== undefined && { reason: sanitizeText(reason) }),
    ...(by !== undefined && { by: sanitizeText(by) }),
  });
}

function notPut(error: unknown): Answer {
  return refusal(`the question could not be put (${errorMessage(error)})`);
}

function refusal(reason: string): Answer {
  return Object.freeze({ decision: 'deny', reason: sanitizeText(reason), source: 'failure' });
}

/** Freezes the plain objects and arrays of a value, on all levels. */
function freezeData<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  const prototype: unknown = Array.isArray(value) ? null : Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  Object.freeze(value);
  for (const field of Object.values(value)) freezeData(field);
  return value;
}
