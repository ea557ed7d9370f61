import { finished } from 'node:stream/promises';
import { errorMessage } from '../../util/errorMessage.js';
import { MAX_KEPT_BYTES, type PersistentLimits } from '../command/limits.js';
import type { CommandOutcome } from '../command/outcome.js';
import { endGroup } from '../command/processGroup.js';
import { letPendingEventsThrough, releaseMemory } from '../command/reading.js';
import { firstOf, type Interruption } from '../command/runCommand.js';
import {
  enterRoom,
  hasExited,
  leaveRoom,
  setReferenced,
  untrackGroup,
  type RunningCommand,
} from '../command/runningCommand.js';
import { offerRoom } from '../command/startCommand.js';
import { unwatchGroup, watchGroup } from '../spawner/spawner.js';
import type { AskedEvent } from './askedEvent.js';
import { Exchange, type Failure } from './exchange.js';
import {
  HELLO_ADVICE,
  isBlank,
  isHello,
  isHelloOfOther,
  readAnswer,
  writeEvent,
  type Answer,
} from './lines.js';
import { STATES, type State, type Step } from './states.js';

/** Who is told of it. */
interface Owner {
  readonly onAnswer: () => void;
  /**
   * It is gone, which is told once.
   *
   * @param fault why, as the end of "The hook …", unless it was as it should be
   * @param isTold whether the outcome of an event says so
   */
  readonly onEnd: (fault: string | undefined, isTold: boolean) => void;
}

const MAX_COPIED = 32 * 1024;

/** Bytes without a line end after which a first line is no hello. */
const MAX_HELLO = 64 * 1024;

/** One process that stays, and answers events line by line, one after the other. Its states are in `states.ts`. */
export class KeptProcess {
  /** Events that were put to it. */
  events = 0;
  /** When its memory was last looked at. */
  lookedAt = performance.now();
  #state: State = 'starting';
  /** The one that it was given. */
  #event: AskedEvent | undefined;
  #giveBack: (isDone: boolean) => void = ignore;
  /** What it answered to that, or what is wrong with it. */
  #answer: Answer | string | undefined;
  #exchange = new Exchange(MAX_HELLO);
  #isReferenced: boolean | undefined;
  readonly #exited: Promise<unknown>;
  readonly #hello: NodeJS.Timeout;
  readonly #idle: NodeJS.Timeout;
  readonly #withdrawOffer = offerRoom(() => this.#giveUp());

  constructor(
    private readonly command: RunningCommand,
    private readonly limits: PersistentLimits,
    private readonly owner: Owner,
  ) {
    const { stdin, stdout, stderr } = command.subprocess;
    stdin.on('error', ignore);
    stdout.on('error', ignore).on('data', this.#hear);
    stderr.on('error', ignore).on('data', this.#hearStderr);
    stdout.once('end', () => void this.#noticeClosedStdout());
    watchGroup(command.group);
    this.#exited = command.exited.then(() => this.#noticeExit());
    this.#hello = setTimeout(() => void this.#noticeSilence(), limits.helloMs).unref();
    this.#idle = setTimeout(() => this.#event ?? void this.dismiss(), limits.idleMs).unref();
  }

  get pid(): number {
    return this.command.group.id;
  }

  get isGone(): boolean {
    return this.#state === 'gone';
  }

  /** Says whether the host stays alive for it. */
  setReferenced(isReferenced: boolean): void {
    if (this.#isReferenced === isReferenced) return;
    this.#isReferenced = isReferenced;
    setReferenced(this.command.subprocess, isReferenced);
  }

  /**
   * Gives an event to it, which has no other one. It is put to it once it has said hello, and settled.
   *
   * @returns false where it is gone, and has seen nothing of the event
   */
  ask(event: AskedEvent): Promise<boolean> {
    return new Promise((resolve) => {
      this.#event = event;
      this.#answer = undefined;
      this.#giveBack = resolve;
      event.whenInterrupted((how) => void this.#interrupt(event, how));
      if (this.isGone) this.#settle(undefined);
      else if (this.#state !== 'starting') void this.#putEvent();
    });
  }

  /** Ends it, as its event is over; unless it has just answered. */
  async #interrupt(event: AskedEvent, interruption: Interruption): Promise<void> {
    await letPendingEventsThrough();
    if (this.#event === event && this.#answer === undefined) await this.#fail({ interruption });
  }

  /** Ends it where it owes nothing: by the end of its stdin, else as any command is ended. */
  async dismiss(): Promise<void> {
    if (!this.#leave(undefined)) return;
    this.command.subprocess.stdin.end();
    await firstOf(this.command.exited, { timeoutMs: this.limits.farewellMs });
    await this.#clearUp(this.limits.graceMs);
  }

  /** Ends it where it has nothing to do, as another command needs its room. Says whether it does. */
  #giveUp(): boolean {
    if (this.#event || STATES[this.#state].stdout !== 'fault') return false;
    enterRoom();
    void this.dismiss().finally(() => setImmediate(leaveRoom));
    return true;
  }

  async #putEvent(): Promise<void> {
    try {
      // The process may have ended while the host was busy, before its exit was reported.
      if (this.#state === 'waiting') await letPendingEventsThrough();
      // What is about to end gives its event back once that is noticed.
      if (this.#event && !this.#isEnding && this.#step('ask')) this.#write(this.#event);
    } catch (error) {
      this.#break(`could not be asked: ${errorMessage(error)}`);
    }
  }

  #write({ options: { input, keepStdoutBytes = MAX_KEPT_BYTES } }: AskedEvent): void {
    this.events += 1;
    this.#exchange = new Exchange(keepStdoutBytes, { pid: this.pid, isNew: this.events === 1 });
    const line = writeEvent(this.events, input);
    // What is short is copied, which costs less than to hand over pieces.
    const isShort = line.every(({ length }) => length < MAX_COPIED);
    const { stdin } = this.command.subprocess;
    if (isShort) {
      stdin.write(Buffer.concat(line));
      return;
    }
    stdin.cork();
    for (const piece of line) stdin.write(piece);
    stdin.uncork();
  }

  readonly #hear = (chunk: Buffer): void => {
    const { stdout } = STATES[this.#state];
    if (stdout === 'hello') this.#hearHello(chunk);
    else if (stdout === 'answer') this.#readAnswerLine(chunk);
    else if (stdout === 'fault' && !isBlank(chunk)) this.#break(UNASKED);
    else releaseMemory(chunk);
  };

  /** Between two events nobody reads it. */
  readonly #hearStderr = (chunk: Buffer): void => {
    if (STATES[this.#state].ownsEvent) this.#exchange.readStderr(chunk);
    else releaseMemory(chunk);
  };

  #hearHello(chunk: Buffer): void {
    const found = this.#exchange.readStdout(chunk);
    if (!found) return;
    const { line, isTooLong, isAll } = found;
    if (isTooLong || !isHello(line)) {
      this.#break(isHelloOfOther(line) ? OTHER_VERSION : OTHER_START);
      return;
    }
    clearTimeout(this.#hello);
    this.#beHeard('hello');
    if (!isAll) this.#break(UNASKED);
    else if (this.#event) void this.#putEvent();
  }

  #readAnswerLine(chunk: Buffer): void {
    if (this.#answer !== undefined) {
      if (!isBlank(chunk)) this.#answer = TWO_ANSWERS;
      return;
    }
    const found = this.#exchange.readStdout(chunk);
    if (!found) return;
    const { line, isTooLong, isAll } = found;
    if (isTooLong) this.#break(`wrote a line of more than ${this.#exchange.maxBytes} bytes`);
    else this.#answer = isAll ? readAnswer(line, this.events) : TWO_ANSWERS;
    // Until then, all that was written before the answer has been read, on stderr too.
    setImmediate(() => this.#takeAnswer());
  }

  #takeAnswer(): void {
    const answer = this.#answer;
    if (this.#state !== 'asked' || answer === undefined) return;
    if (typeof answer === 'string') {
      this.#break(answer);
      return;
    }
    this.#beHeard('answer');
    this.#idle.refresh();
    this.owner.onAnswer();
    this.#settle(this.#exchange.answered(answer));
    if (answer.isLast) void this.dismiss();
  }

  #beHeard(how: 'hello' | 'answer'): void {
    this.#step(how);
    setImmediate(() => this.#step('turn'));
  }

  #settle(outcome: CommandOutcome | undefined): void {
    if (outcome) this.#event?.settle(outcome);
    this.#event = undefined;
    this.#giveBack(outcome !== undefined);
  }

  /** A host that was busy has not read yet what came in time. */
  async #noticeSilence(): Promise<void> {
    await letPendingEventsThrough();
    if (this.#state !== 'starting' || hasExited(this.command.subprocess)) return;
    this.#break(`said no hello within ${this.limits.helloMs / 1_000} s of its start`);
  }

  /** What it wrote before it ended may not be read yet. */
  get #isEnding(): boolean {
    return hasExited(this.command.subprocess) || this.command.subprocess.stdout.readableEnded;
  }

  /** What it wrote before may not be read yet, and something else may hold its pipes. */
  async #noticeExit(): Promise<void> {
    if (this.isGone) return;
    await this.#comesToAnEnd();
    await letPendingEventsThrough();
    const { exitCode, signalCode: signal } = this.command.subprocess;
    const how = signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
    const { ownsEvent, when } = STATES[this.#state];
    // Once it has begun to answer, a code is part of an answer; and one of a block answers nothing here.
    const isOfStart = this.#state === 'starting' && exitCode !== 0 && exitCode !== 2;
    const end = { signal, exitCode: isOfStart ? exitCode : null };
    if (ownsEvent) this.#break(`${how} ${when}`, end);
    else if (this.#leave(exitCode === 0 ? undefined : `${how} ${when}`)) {
      await this.#clearUp(this.limits.stragglerGraceMs);
    }
  }

  async #noticeClosedStdout(): Promise<void> {
    const first = await firstOf(this.#exited, { timeoutMs: 2 * this.limits.quietMs });
    if (first !== undefined) this.#break('closed its stdout, on which it is to answer');
  }

  #break(what: string, end?: Pick<Failure, 'signal' | 'exitCode'>): void {
    // What failed before its hello has said on stderr what is to be done.
    const isExplained = end?.exitCode != null && this.#exchange.written.trim() !== '';
    const advice = this.#state === 'starting' && !isExplained ? ` (${HELLO_ADVICE})` : '';
    void this.#fail({ ...end, broken: `${what}${advice}` });
  }

  async #fail(failure: Failure): Promise<void> {
    const { interruption, broken } = failure;
    const isTold = this.#event && (interruption !== undefined || STATES[this.#state].ownsEvent);
    const outcome = isTold ? this.#exchange.failed(failure) : undefined;
    if (!this.#step('fail')) return;
    this.#stopWaiting();
    if (!outcome) this.#settle(undefined);
    await endGroup(this.command.group, this.limits.graceMs);
    this.#releasePipes();
    this.#settle(outcome);
    this.owner.onEnd(interruption === 'timeout' ? 'timed out' : broken, outcome !== undefined);
  }

  /** Says whether it may be left. */
  #leave(fault: string | undefined): boolean {
    if (!this.#step('leave')) return false;
    this.#stopWaiting();
    this.#settle(undefined);
    this.owner.onEnd(fault, false);
    return true;
  }

  async #clearUp(graceMs: number): Promise<void> {
    const isClear = hasExited(this.command.subprocess) && (await this.#comesToAnEnd());
    if (!isClear) await endGroup(this.command.group, graceMs);
    this.#releasePipes();
  }

  /** Says whether the step leads anywhere from here. */
  #step(step: Step): boolean {
    const next = STATES[this.#state].steps[step];
    if (next) this.#state = next;
    return next !== undefined;
  }

  #stopWaiting(): void {
    clearTimeout(this.#hello);
    clearTimeout(this.#idle);
    this.#withdrawOffer();
  }

  #releasePipes(): void {
    const { subprocess, group } = this.command;
    for (const pipe of subprocess.stdio) pipe?.destroy();
    untrackGroup(group);
    unwatchGroup(group);
  }

  /** Says whether its pipes are closed soon, as nothing else holds them. */
  async #comesToAnEnd(): Promise<boolean> {
    const { stdout, stderr } = this.command.subprocess;
    const ends = [stdout, stderr].map((pipe) => finished(pipe, { writable: false }));
    const closed = Promise.allSettled(ends);
    return (await firstOf(closed, { timeoutMs: this.limits.quietMs })) === undefined;
  }
}

const OTHER_START = 'wrote something else before its hello';
const OTHER_VERSION =
  'speaks another version of the protocol of persistent hooks than 1, the only one that is spoken here';
const UNASKED = 'wrote to its stdout while nothing was asked';
const TWO_ANSWERS = 'wrote more than one answer to an event';

function ignore(): void {}
