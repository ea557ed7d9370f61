import { setMaxListeners } from 'node:events';
import { LateAnswers } from '../src/run/lateAnswers.js';
import { asText } from '../src/protocol/hookOutput.js';
import { shortIdentity } from '../src/protocol/identity.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookExecutionResult,
} from '../src/protocol/types.js';
import type { PreparedInput } from '../src/run/preparedInput.js';
import type { LateAnswer } from '../src/protocol/lateAnswer.js';
import {
  isOfSession,
  isReadBy,
  isSame,
  ownerOf,
  type AsyncSession,
} from '../src/run/asyncSession.js';
import { aggregateResults } from './aggregator.js';
import { runHook, type RunOptions } from './runHook.js';

/** Ms that hooks have once their session has ended, before they are ended, too. */
export const END_GRACE_MS = 2000;

/** How many hooks may wait for one of those that run, for each that may run. */
const WAITING_FOR_EACH = 4;

/** Bytes that those who wait are to read. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface AsyncRun {
  readonly hook: CommandHookConfig;
  readonly event: HookEventName;
  readonly prepared: PreparedInput;
  readonly options: RunOptions;
  /** Who fired the event. */
  readonly by: AsyncSession;
  /** Who reads what is said, and with whom it ends. */
  readonly session: AsyncSession;
  readonly bytes: number;
  readonly controller: AbortController;
  /** Whether its session has ended, so that it has only a grace. */
  isEnding: boolean;
  /** Settles once it has ended, or was given up. */
  readonly ended: Promise<void>;
  readonly settle: () => void;
}

/** For whom they run. */
interface AsyncHost {
  /** How many at a time; it may become another number. */
  readonly maxAsyncHooks: number;
  /** Called with the result of each hook that has ended by itself. */
  readonly onAsyncEnd?: ((result: HookExecutionResult) => void) | undefined;
}

/** Runs hooks that nobody waits for, so many at a time; what they say is kept until the model can read it. */
export class AsyncHooks {
  readonly #running = new Set<AsyncRun>();
  readonly #waiting: AsyncRun[] = [];
  /** Agents that have finished, and wait for a reason to go on. */
  readonly #finished = new Set<AsyncSession>();
  readonly #late: LateAnswers;
  #waitingBytes = 0;
  #isDisposed = false;

  constructor(private host: AsyncHost) {
    this.#late = new LateAnswers();
  }

  /** The same for another host from now on. */
  follow(host: AsyncHost): void {
    this.host = host;
  }

  /** Starts a hook, or has it wait for its turn. Returns at once, and never throws. */
  start(
    hook: CommandHookConfig,
    event: HookEventName,
    prepared: PreparedInput,
    options: RunOptions,
    by: AsyncSession,
  ): void {
    const { stdin } = prepared;
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const run: AsyncRun = {
      hook,
      event,
      prepared,
      options: { ...options, signal: controller.signal },
      by,
      session: ownerOf(event, by),
      bytes: stdin instanceof Error ? 0 : stdin.byteLength,
      controller,
      isEnding: false,
      ...pending(),
    };
    if (this.#isDisposed) return;
    this.#startNext();
    if (this.#running.size < this.host.maxAsyncHooks) return void this.#run(run);
    const isFull =
      this.#waiting.length >= WAITING_FOR_EACH * this.host.maxAsyncHooks ||
      this.#waitingBytes + run.bytes > MAX_WAITING_BYTES;
    if (isFull) return this.#leaveOut(run);
    this.#waiting.push(run);
    this.#waitingBytes += run.bytes;
  }

  /** Waits until none runs or waits for its turn any more. */
  async untilEnded(): Promise<void> {
    for (let [first] = this.#all(); first; [first] = this.#all()) await first.ended;
  }

  /** Whether a hook that says `asyncRewake` has a reason for its agent to go on, which nobody has taken. */
  wakes(session: AsyncSession): boolean {
    return this.#late.wakes(session);
  }

  /** Whether hooks have said something that nobody has taken. */
  has(session: AsyncSession): boolean {
    return this.#late.has(session);
  }

  /** Whether some run, or wait for their turn. */
  areRunning(session: AsyncSession): boolean {
    return this.#all().some((run) => isOfSession(run.session, session));
  }

  /** What the hooks of a session have said since it was asked last. */
  take(session: AsyncSession): readonly LateAnswer[] {
    return this.#late.take(session);
  }

  /** The model has not read it after all. */
  giveBack(session: AsyncSession, answers: readonly LateAnswer[]): void {
    this.#late.giveBack(session, answers);
  }

  /**
   * Waits until a hook of a session that says `asyncRewake` has a reason to send the agent back to work, or no such hook
   * runs any more. None of them runs longer than its own timeout.
   *
   * @returns all that the model has not read yet; nothing where there is no such reason
   */
  async untilWoken(session: AsyncSession, signal?: AbortSignal): Promise<readonly LateAnswer[]> {
    this.#finished.add(session);
    try {
      return await this.#untilWoken(session, signal);
    } finally {
      this.#finished.delete(session);
    }
  }

  async #untilWoken(session: AsyncSession, signal?: AbortSignal): Promise<readonly LateAnswer[]> {
    for (;;) {
      if (this.#late.wakes(session)) return this.#late.take(session);
      const waking = this.#all().filter(
        ({ hook, ...run }) =>
          hook.asyncRewake === true && (isReadBy(run.session, session) || isSame(run.by, session)),
      );
      if (waking.length === 0 || signal?.aborted) return [];
      await Promise.race([
        ...waking.map(({ ended }) => ended),
        ...(signal ? [aborted(signal)] : []),
      ]);
    }
  }

  /**
   * Ends the hooks of a session after a grace, and forgets what they said.
   *
   * @returns a promise for the ends of those that are there now
   */
  async endSession(session: AsyncSession): Promise<void> {
    const runs = this.#all().filter((run) => isOfSession(run.session, session));
    await this.#endLater(runs.filter(({ isEnding }) => !isEnding));
    await Promise.all(runs.map(({ ended }) => ended));
    this.#late.forget(session);
  }

  /** Starts none any more, and ends all; those whose session has ended keep their grace. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const runs = this.#all();
    for (const run of runs) if (!run.isEnding) this.#giveUp(run);
    await Promise.all(runs.map(({ ended }) => ended));
  }

  #all(): AsyncRun[] {
    return [...this.#running, ...this.#waiting];
  }

  async #endLater(runs: readonly AsyncRun[]): Promise<void> {
    if (runs.length === 0) return;
    for (const run of runs) run.isEnding = true;
    const grace = setTimeout(() => {
      for (const run of runs) this.#giveUp(run);
    }, END_GRACE_MS);
    await Promise.all(runs.map(({ ended }) => ended));
    clearTimeout(grace);
  }

  async #run(run: AsyncRun): Promise<void> {
    const { hook, event, prepared, options, controller } = run;
    this.#running.add(run);
    if (event === HookEventName.SessionEnd) void this.#endLater([run]);
    const result = await runHook(hook, event, prepared, options);
    this.#running.delete(run);
    if (!controller.signal.aborted) this.#note(run, result);
    run.settle();
    this.#startNext();
  }

  #note({ session, by, hook, options }: AsyncRun, result: HookExecutionResult): void {
    try {
      this.host.onAsyncEnd?.(result);
      const answer = lateAnswerOf(result);
      // A sub-agent may wait for what its own end has started.
      const isAwaited = answer?.wakes && [...this.#finished].some((each) => isSame(each, by));
      if (answer) this.#late.add(isAwaited ? by : session, answer);
    } catch (error) {
      options.logger.warn(`What the hook "${shortIdentity(hook)}" said late is lost`, { error });
    }
  }

  #startNext(): void {
    while (this.#running.size < this.host.maxAsyncHooks) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#waitingBytes -= next.bytes;
      void this.#run(next);
    }
  }

  #giveUp(run: AsyncRun): void {
    const place = this.#waiting.indexOf(run);
    if (place < 0) return run.controller.abort();
    this.#waiting.splice(place, 1);
    this.#waitingBytes -= run.bytes;
    run.settle();
  }

  #leaveOut({ hook, event, options: { logger, warned } }: AsyncRun): void {
    const message = `The hook "${shortIdentity(hook)}" (${event}) was not started, as ${this.host.maxAsyncHooks} async hooks run and ${this.#waiting.length} wait: make them faster, or raise "maxAsyncHooks"`;
    const key = `left out: ${shortIdentity(hook)}`;
    if (!warned?.has(key)) logger.warn(message);
    warned?.add(key);
  }
}

/** What of a result the model is to read. It comes too late to decide anything. */
export function lateAnswerOf(result: HookExecutionResult): LateAnswer | undefined {
  const { finalOutput } = aggregateResults([result], result.eventName);
  if (!finalOutput) return undefined;
  const isBlock = finalOutput.isBlockingDecision();
  const wakes = isBlock && result.hookConfig.asyncRewake === true;
  const before = wakes ? result.hookConfig.rewakeMessage : undefined;
  const answer: LateAnswer = {
    context: finalOutput.getAdditionalContext() ?? finalOutput.foreign?.contextOfResult,
    reason: isBlock
      ? [before, finalOutput.getBlockReason()].filter(Boolean).join('\n\n')
      : finalOutput.shouldStopExecution()
        ? finalOutput.getStopReason()
        : undefined,
    systemMessage: asText(finalOutput.systemMessage),
    wakes,
  };
  return answer.context || answer.reason || answer.systemMessage ? answer : undefined;
}

/** The result of a hook that was waited for, though it is async: what it decides counts for nothing. */
export function asLate(result: HookExecutionResult): HookExecutionResult {
  const { output: _decided, ...ended } = result;
  const { context, reason, systemMessage } = lateAnswerOf(result) ?? {};
  const additionalContext = [context, reason].filter(Boolean).join('\n');
  const output = {
    ...(systemMessage && { systemMessage }),
    ...(additionalContext && { hookSpecificOutput: { additionalContext } }),
  };
  return Object.keys(output).length > 0 ? { ...ended, output } : ended;
}

function pending(): Pick<AsyncRun, 'ended' | 'settle'> {
  const run = { settle: nothing };
  const ended = new Promise<void>((resolve) => (run.settle = resolve));
  return { ended, settle: () => run.settle() };
}

function nothing(): void {}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
