import { MAX_KEPT_BYTES } from '../command/limits.js';
import { letPendingEventsThrough, release, settlesWithin } from '../command/outputCollector.js';
import { endGroup, untrackGroup } from '../command/processGroup.js';
import { enterRoom, leaveRoom, offerRoom } from '../command/room.js';
import type { Interruption } from '../command/runCommand.js';
import { unwatchGroup, watchGroup } from '../spawner/spawner.js';
import type { RunningCommand } from '../command/startCommand.js';
import type { PersistentLimits } from './limits.js';
import { FirstLine } from './firstLine.js';
import { decode, isBlank, isHello, readAnswer, writeEvent, type Answer } from './lines.js';
import type { Reply } from './reply.js';
import { closed, continued } from './streams.js';

/** How a process began: it said hello, wrote something else first, or ended. */
export type Greeting =
  | { readonly kind: 'hello' | 'ended' }
  | { readonly kind: 'other'; readonly line: string };

/** Who is told of it. */
interface Owner {
  /**
   * It is gone, which is told once.
   *
   * @param fault why, as the end of "The hook …", unless it was as it should be
   * @param isTold whether an event's reply says so
   */
  readonly onEnd: (fault: string | undefined, isTold: boolean) => void;
  /** It had nothing to do for too long. */
  readonly onIdle: () => void;
}

interface Owed {
  readonly id: number;
  readonly maxBytes: number;
  readonly settle: (reply: Reply) => void;
  answer?: Answer | string;
}

const MAX_COPIED = 32 * 1024;

/** Bytes without a line end after which a first line is no hello. */
const MAX_HELLO = 64 * 1024;

/** One process that stays, and answers events line by line, one after the other. */
export class KeptProcess {
  readonly startedAt = performance.now();
  readonly greeted: Promise<Greeting>;
  /** Events that were put to it. */
  events = 0;
  /** When its memory was last looked at. */
  lookedAt = this.startedAt;
  #greeting: Greeting | undefined;
  #isReferenced = true;
  #phase: 'greeting' | 'ready' | 'asked' | 'gone' = 'greeting';
  #greet!: (greeting: Greeting) => void;
  /** Settles when it answers no more. */
  readonly #over: Promise<void>;
  #noteOver!: () => void;
  #owed: Owed | undefined;
  #interrupted: Interruption | undefined;
  #hasJustAnswered = true;
  #stdout = new FirstLine(MAX_HELLO);
  #stderr: Buffer[] = [];
  #stderrBytes = 0;
  #exited: Promise<unknown>;
  readonly #idle: NodeJS.Timeout;
  readonly #takeOfferBack = offerRoom(() => this.#giveUp());

  constructor(
    private readonly command: RunningCommand,
    private readonly limits: PersistentLimits,
    private readonly owner: Owner,
  ) {
    this.#over = new Promise((resolve) => (this.#noteOver = resolve));
    this.greeted = new Promise((resolve) => {
      this.#greet = (greeting) => resolve((this.#greeting ??= greeting));
    });
    command.stdin.on('error', ignore);
    command.stdout.on('error', ignore).on('data', this.#hear);
    command.stderr.on('error', ignore).on('data', this.#hearStderr);
    command.stdout.once('end', () => void this.#noticeClosedStdout());
    watchGroup(command.group);
    this.#exited = command.exited.then(() => this.#noticeExit());
    this.#idle = setTimeout(owner.onIdle, limits.idleMs).unref();
  }

  get pid(): number {
    return this.command.group.id;
  }

  get isGone(): boolean {
    return this.#phase === 'gone';
  }

  /** Absent until it is known. */
  get greeting(): Greeting | undefined {
    return this.#greeting;
  }

  /** Says whether the host stays alive for it. */
  setReferenced(isReferenced: boolean): void {
    if (this.#isReferenced !== isReferenced) this.command.setReferenced(isReferenced);
    this.#isReferenced = isReferenced;
  }

  /** Puts an event to it, which must be ready, and resolves to what comes of it. */
  async ask(input: Uint8Array, maxBytes: number): Promise<Reply> {
    // What has ended while the host was busy must not be taken for what waits.
    this.#interrupted = undefined;
    if (!this.#hasJustAnswered) await letPendingEventsThrough();
    if (this.#isEnding) await this.#over;
    if (this.#interrupted) await this.#end({});
    if (this.isGone) return this.#reply({ interruption: this.#interrupted });
    this.#phase = 'asked';
    this.#hasJustAnswered = false;
    this.#stdout = new FirstLine(maxBytes);
    this.#stderr = [];
    this.#stderrBytes = 0;
    const id = (this.events += 1);
    return new Promise((settle) => {
      this.#owed = { id, maxBytes, settle };
      this.#write(writeEvent(id, input));
    });
  }

  get hasExited(): boolean {
    const { exitCode, signalCode } = this.command.status;
    return exitCode !== null || signalCode !== null;
  }

  /** What it wrote before it ended may not be read yet. */
  get #isEnding(): boolean {
    return this.hasExited || this.command.stdout.readableEnded;
  }

  /** Ends it, as its event is over; unless it has just answered. */
  async interrupt(how: Interruption): Promise<void> {
    this.#interrupted = how;
    await letPendingEventsThrough();
    if (this.#owed && this.#owed.answer === undefined) await this.#end({ interruption: how });
  }

  /** What it still owes, as an ordinary command: nothing has been written to it. */
  handOver(): RunningCommand {
    const { command } = this;
    this.#phase = 'gone';
    clearTimeout(this.#idle);
    this.#takeOfferBack();
    unwatchGroup(command.group);
    command.stdout.off('data', this.#hear);
    command.stderr.off('data', this.#hearStderr);
    return {
      ...command,
      stdout: continued(command.stdout, this.#stdout.chunks),
      stderr: continued(command.stderr, this.#stderr),
    };
  }

  /** Ends it between two events: by the end of its stdin, else as any command is ended. */
  async dismiss(): Promise<void> {
    if (this.isGone) return;
    this.#leave(undefined);
    this.command.stdin.end();
    await settlesWithin(this.command.exited, this.limits.farewellMs);
    await this.#clearUp(this.limits.graceMs);
  }

  /** Ends it where it has nothing to do, as another command needs its room. Says whether it does. */
  #giveUp(): boolean {
    if (this.#phase !== 'ready') return false;
    enterRoom();
    void this.dismiss().finally(() => setImmediate(leaveRoom));
    return true;
  }

  /** Ends it with its group, because of what its event tells. */
  async end(fault?: string): Promise<void> {
    await this.#end({ broken: fault }, true);
  }

  /** What is short is copied, which costs less than to hand over pieces. */
  #write(pieces: readonly Uint8Array[]): void {
    const { stdin } = this.command;
    if (pieces.every(({ length }) => length < MAX_COPIED)) {
      stdin.write(Buffer.concat(pieces));
      return;
    }
    stdin.cork();
    for (const piece of pieces) stdin.write(piece);
    stdin.uncork();
  }

  readonly #hear = (chunk: Buffer): void => {
    if (this.#phase === 'greeting') this.#hearGreeting(chunk);
    else if (this.#phase === 'asked' && this.#owed) this.#hearAnswer(this.#owed, chunk);
    else if (this.#phase === 'ready' && !isBlank(chunk)) this.#fail(UNASKED);
    else release(chunk);
  };

  readonly #hearStderr = (chunk: Buffer): void => {
    const kept = this.#phase === 'ready' || this.#phase === 'gone' ? 0 : MAX_KEPT_BYTES;
    const room = Math.max(0, kept - this.#stderrBytes);
    this.#stderrBytes += chunk.length;
    if (room > 0) this.#stderr.push(chunk.subarray(0, room));
    else release(chunk);
  };

  #hearGreeting(chunk: Buffer): void {
    const found = this.#stdout.read(chunk);
    if (!found) return;
    if (found.isTooLong || !isHello(found.line)) {
      // Whoever takes it over reads on.
      this.command.stdout.off('data', this.#hear).pause();
      this.#greet({ kind: 'other', line: found.line });
      return;
    }
    this.#phase = 'ready';
    if (found.isAll) this.#greet({ kind: 'hello' });
    else this.#fail(UNASKED);
  }

  #hearAnswer(owed: Owed, chunk: Buffer): void {
    if (owed.answer !== undefined) {
      if (!isBlank(chunk)) owed.answer = TWO_ANSWERS;
      return;
    }
    const found = this.#stdout.read(chunk);
    if (!found) return;
    if (found.isTooLong) {
      this.#fail(`wrote a line of more than ${owed.maxBytes} bytes`);
      return;
    }
    owed.answer = found.isAll ? readAnswer(found.line, owed.id) : TWO_ANSWERS;
    // Until then, all that was written before the answer has been read, on stderr too.
    setImmediate(() => this.#settle(owed));
  }

  #settle(owed: Owed): void {
    if (this.#owed !== owed || owed.answer === undefined) return;
    if (typeof owed.answer === 'string') {
      this.#fail(owed.answer);
      return;
    }
    this.#owed = undefined;
    this.#phase = 'ready';
    this.#hasJustAnswered = true;
    this.#idle.refresh();
    owed.settle(this.#reply({ answer: owed.answer }));
    if (owed.answer.isLast) void this.dismiss();
    setImmediate(() => (this.#hasJustAnswered = false));
  }

  #reply(what: Omit<Reply, 'stderr' | 'bytesRead'>): Reply {
    const stderr = this.#stderrBytes > 0 ? decode(Buffer.concat(this.#stderr)) : '';
    return { ...what, stderr, bytesRead: this.#stdout.bytesRead + this.#stderrBytes };
  }

  /** What it wrote before may not be read yet, and something else may hold its pipes. */
  async #noticeExit(): Promise<void> {
    if (this.isGone) return;
    // Whoever takes it over reads what is left.
    if (this.#phase !== 'greeting') {
      await settlesWithin(this.#pipesClosed(), this.limits.quietMs);
    }
    await letPendingEventsThrough();
    if (this.#phase === 'greeting') this.#greet({ kind: 'ended' });
    else if (!this.isGone) this.#noticeEnd();
  }

  #noticeEnd(): void {
    const { exitCode, signalCode } = this.command.status;
    const how = signalCode ? `was ended by ${signalCode}` : `ended with exit code ${exitCode}`;
    if (this.#owed) {
      void this.#end({ broken: `${how} while it owed an answer`, signal: signalCode ?? undefined });
      return;
    }
    this.#leave(exitCode === 0 ? undefined : `${how} while nothing was asked`);
    void this.#clearUp(this.limits.stragglerGraceMs);
  }

  async #noticeClosedStdout(): Promise<void> {
    const hasExited = await settlesWithin(this.#exited, 2 * this.limits.quietMs);
    if (!hasExited && this.#phase !== 'greeting')
      this.#fail('closed its stdout, on which it is to answer');
  }

  #fail(broken: string): void {
    void this.#end({ broken });
  }

  async #end(how: Omit<Reply, 'stderr' | 'bytesRead'>, isTold = false): Promise<void> {
    if (this.isGone) return;
    const owed = this.#owed;
    const reply = this.#reply(how);
    this.#owed = undefined;
    this.#phase = 'gone';
    this.#takeOfferBack();
    this.#noteOver();
    this.#greet({ kind: 'ended' });
    await endGroup(this.command.group, this.limits.graceMs);
    this.#letGo();
    owed?.settle(reply);
    const fault = how.interruption === 'timeout' ? 'timed out' : how.broken;
    this.owner.onEnd(fault, isTold || owed !== undefined);
  }

  #leave(fault: string | undefined): void {
    this.#phase = 'gone';
    this.#takeOfferBack();
    this.#noteOver();
    clearTimeout(this.#idle);
    this.owner.onEnd(fault, false);
  }

  async #clearUp(graceMs: number): Promise<void> {
    const { group } = this.command;
    const isClear =
      this.hasExited && (await settlesWithin(this.#pipesClosed(), this.limits.quietMs));
    if (!isClear) await endGroup(group, graceMs);
    this.#letGo();
  }

  #letGo(): void {
    const { stdin, stdout, stderr, group } = this.command;
    clearTimeout(this.#idle);
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
    untrackGroup(group);
    unwatchGroup(group);
  }

  #pipesClosed(): Promise<unknown> {
    return Promise.all([this.command.stdout, this.command.stderr].map(closed));
  }
}

const UNASKED = 'wrote to its stdout while nothing was asked';
const TWO_ANSWERS = 'wrote more than one answer to an event';

function ignore(): void {}
