import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { assertDescriptorHeadroom } from '../../util/descriptors.js';
import type { StartOptions } from '../command/execution.js';
import { commandKeyOf } from '../command/heldCommands.js';
import { COMMAND_TIMINGS } from '../command/limits.js';
import { NOT_RUN, type CommandOptions, type CommandOutcome } from '../command/outcome.js';
import { killGroups } from '../command/processGroup.js';
import { letPendingEventsThrough } from '../command/reading.js';
import { isDetached, newRunId, RUN_ID, setReferenced } from '../command/runningCommand.js';
import {
  readFrames,
  writeFrame,
  type FromSpawner,
  type SentOutcome,
  type SharedId,
  type SharedType,
  type ToSpawner,
  type WatchedGroup,
} from './messages.js';
import { PROGRAM } from './spawnerProgram.js';

/** Ms between two pings while answers are pending. */
const PING_MS = 1000;
/** How often in a row it may be silent then, before it counts as hung; and with a command that it has not even taken. */
const MAX_SILENCES = 5;
const MAX_SILENCES_BEFORE_TAKEN = 2;
/** Larger inputs are sent once for all hooks that read them, in bytes. */
const MAX_INLINE_BYTES = 65_536;
/** Environments and large inputs that it knows at a time. */
const MAX_SHARED = 16;

/** It waits more than it works: no code is compiled for speed, and what is left over is collected early. */
const SMALL = ['--no-opt', '--no-sparkplug', '--max-semi-space-size=1', '--expose-gc'];

/** A command whose outcome is owed: `undefined` where it was lost before it was started. */
interface Pending {
  readonly settle: (outcome: CommandOutcome | undefined) => void;
  runId: string;
  readonly startedAt: number;
  readonly answerBy: number;
  isTaken: boolean;
}

/** A command that says `prestart`. */
interface Prestarted {
  readonly id: number;
  readonly runId: string;
  readonly cwd: string;
  readonly onGivingUp: () => void;
}

/** A process that starts commands for this one, and what it owes. */
export class SpawnerProcess {
  isUp = false;
  readonly runId: string;
  #isLeaving = false;
  #isLost = false;
  readonly #subprocess: ChildProcessByStdio<Writable, Readable, null>;
  readonly #send: (message: ToSpawner, bytes?: Uint8Array) => void;
  readonly #pending = new Map<number, Pending>();
  readonly #prestarted = new Map<string, Prestarted>();
  /** Environments, and large inputs of events that are not over. */
  readonly #shared = new Map<object, SharedId>();
  readonly #startedAt = process.uptime();
  #sent = 0;
  #silences = 0;
  #pings: NodeJS.Timeout | undefined;

  /**
   * Starts it.
   *
   * @param state what it inherits
   * @param onLost called once when it has ended, or does not answer any more and was killed
   * @throws the system's error; where there is no process, that comes to `onLost`
   */
  constructor(
    readonly state: string,
    private readonly onLost: (spawner: SpawnerProcess) => void,
  ) {
    assertDescriptorHeadroom();
    const runId = (this.runId = newRunId(process.env[RUN_ID]));
    this.#subprocess = spawn(process.execPath, [...SMALL, PROGRAM], {
      cwd: '/',
      // All that it needs itself. The PATH is where shells are looked up for hooks that have none.
      env: { PATH: process.env['PATH'], MALLOC_ARENA_MAX: '1', [RUN_ID]: runId },
      detached: isDetached,
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const { stdin, stdout } = this.#subprocess;
    for (const pipe of [stdin, stdout]) pipe.on('error', ignore);
    this.#send = writeFrame.bind(undefined, stdin);
    readFrames(stdout, this.#receive, () => this.#failAll('wrote what cannot be read'));
    this.#subprocess.once('error', (error) => this.#failAll(error.message));
    this.#subprocess.once('close', (code, signal) =>
      this.#failAll(`ended with ${signal ?? `exit code ${code}`}`),
    );
    setReferenced(this.#subprocess, false);
  }

  get pid(): number | undefined {
    return this.#subprocess.pid;
  }

  /** Whether it owes an answer, or holds what says `prestart`. */
  get isUsed(): boolean {
    return this.#pending.size > 0 || this.#prestarted.size > 0;
  }

  /** Resolves to `undefined` where it was lost before it has started anything. */
  async run({ env, input, signal, start: _start, held: _held, ...command }: CommandOptions) {
    const id = ++this.#sent;
    const runId = newRunId(this.runId);
    const isLarge = input.byteLength > MAX_INLINE_BYTES;
    const shared = isLarge ? this.#share(input, 'input', () => input) : undefined;
    const sent = { ...this.#toBeSent({ ...command, env }, runId), input: shared };
    this.#send({ type: 'run', id, command: sent }, isLarge ? undefined : input);
    const abort = () => this.#send({ type: 'abort', id });
    if (signal) setMaxListeners(0, signal);
    signal?.addEventListener('abort', abort, { once: true });
    // These alone keep the host alive meanwhile.
    this.#pings ??= setInterval(() => void this.#ping(), PING_MS);
    if (this.#pending.size === 0) this.#silences = 0;
    const startedAt = performance.now();
    const answerBy = startedAt + command.timeoutMs + COMMAND_TIMINGS.answerMs;
    const outcome = await new Promise<CommandOutcome | undefined>((settle) => {
      this.#pending.set(id, { settle, runId, startedAt, answerBy, isTaken: false });
    });
    signal?.removeEventListener('abort', abort);
    return outcome;
  }

  /**
   * Tells of a command that will come.
   *
   * @param max how many of those that do not say `prestart` it may hold
   * @param onGivingUp called where one that does is not started ahead any more
   */
  expect(start: StartOptions, max: number, onGivingUp: () => void): void {
    const key = JSON.stringify([path.resolve(start.cwd), commandKeyOf(start)]);
    const known = this.#prestarted.get(key);
    const { id, runId } = known ?? { id: ++this.#sent, runId: newRunId(this.runId) };
    const sent = this.#toBeSent(start, runId);
    if (start.prestart) this.#prestarted.set(key, { id, runId, cwd: sent.cwd, onGivingUp });
    this.#send({ type: 'expect', id, start: sent, max });
  }

  /** Lets go of all that waits in a directory. */
  drop(directory: string): void {
    const cwd = path.resolve(directory);
    for (const [key, start] of this.#prestarted)
      if (start.cwd === cwd) this.#prestarted.delete(key);
    this.#send({ type: 'drop', cwd });
  }

  /** With an absolute directory, as the spawner has another working directory. */
  #toBeSent<T extends StartOptions>({ env, ...start }: T, runId: string) {
    const write = () => Buffer.from(JSON.stringify({ ...env, [RUN_ID]: this.runId }));
    const shared = this.#share(env, 'environment', write);
    return { ...start, cwd: path.resolve(start.cwd), runId, env: shared };
  }

  /** Has it end these when this process has gone, and no others. */
  watch(groups: readonly WatchedGroup[]): void {
    this.#send({ type: 'watch', groups: groups.map(({ id, mark }) => ({ id, mark })) });
  }

  /** Tells it to end, with all that it holds, once no answer is pending. */
  endWhenIdle(): void {
    if (!this.#isLeaving) this.watch([]);
    this.#isLeaving = true;
    if (this.#pending.size > 0) return;
    this.#subprocess.stdin.end();
    // One that somebody has stopped would never notice that.
    this.#subprocess.kill('SIGCONT');
  }

  #settlePending(): void {
    clearInterval(this.#pings);
    this.#pings = undefined;
    for (const what of this.#shared.keys()) if (what instanceof Uint8Array) this.#forget(what);
    if (this.#isLeaving) this.endWhenIdle();
  }

  async #ping(): Promise<void> {
    // Counted, and not measured: a host that was busy itself has heard nothing meanwhile.
    this.#silences += 1;
    if (this.#findFault() !== undefined) await letPendingEventsThrough();
    const fault = this.#findFault();
    if (fault === undefined) this.#send({ type: 'ping' });
    else this.#failAll(fault);
  }

  #findFault(): string | undefined {
    const owed = [...this.#pending.values()];
    const max = owed.every(({ isTaken }) => isTaken) ? MAX_SILENCES : MAX_SILENCES_BEFORE_TAKEN;
    if (this.#silences > max) return 'does not answer any more';
    const isOverdue = owed.some(({ answerBy }) => performance.now() > answerBy);
    return isOverdue ? 'did not tell of its end' : undefined;
  }

  readonly #receive = (message: FromSpawner, bytes: Buffer): void => {
    this.isUp = true;
    this.#silences = 0;
    if (message.type === 'alive') return;
    if (message.type === 'gave-up') return this.#noteGivenUp(message.id);
    const owed = this.#pending.get(message.id);
    if (!owed) return;
    owed.isTaken = true;
    if (message.type === 'taken') return void (owed.runId = message.runId ?? owed.runId);
    // Stays pending where the outcome cannot be read, so that it fails with the helper.
    const outcome = readOutcome(message.outcome, bytes);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#settlePending();
    owed.settle(outcome);
  };

  #noteGivenUp(given: number): void {
    for (const [key, { id, onGivingUp }] of this.#prestarted) {
      if (id === given && this.#prestarted.delete(key)) onGivingUp();
    }
  }

  /** Kills it, so that nothing is started any more of what it has not taken. */
  #failAll(why: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    const owed = [...this.#pending.values()];
    this.#pending.clear();
    // A helper that was told to end has ended its commands itself.
    if (!this.#isLeaving || owed.length > 0) this.#kill(owed);
    this.#isLeaving = true;
    if (this.#pings) this.#settlePending();
    this.onLost(this);
    for (const { settle, isTaken, startedAt } of owed) {
      settle(isTaken ? lostOutcome(why, performance.now() - startedAt) : undefined);
    }
  }

  /** With what runs, and not with the background jobs that earlier hooks have left. */
  #kill(owed: readonly Pending[]): void {
    const { pid: id } = this;
    if (id === undefined) return;
    const runs = [...owed, ...this.#prestarted.values()].map(({ runId }) => runId);
    if (runs.length === 0) runs.push(newRunId(this.runId));
    const known = { id, pipes: [], startedAt: this.#startedAt };
    killGroups(runs.map((runId) => ({ ...known, mark: `${RUN_ID}=${runId}` })));
  }

  /** Sends what is used more than once, unless it is known there. Then that was used last, and is forgotten last. */
  #share(what: object, type: SharedType, write: () => Uint8Array): SharedId {
    const id = this.#shared.get(what) ?? this.#shareFirst(type, write());
    this.#shared.delete(what);
    this.#shared.set(what, id);
    return id;
  }

  #shareFirst(what: SharedType, bytes: Uint8Array): SharedId {
    const id = ++this.#sent;
    this.#send({ type: 'share', id, what }, bytes);
    const [oldest] = this.#shared.keys();
    if (oldest && this.#shared.size === MAX_SHARED) this.#forget(oldest);
    return id;
  }

  /** What was sent before still knows it. */
  #forget(what: object): void {
    const id = this.#shared.get(what);
    if (this.#shared.delete(what) && id !== undefined) this.#send({ type: 'forget', id });
  }
}

function readOutcome({ stdoutBytes, error, ...rest }: SentOutcome, bytes: Buffer): CommandOutcome {
  return {
    ...rest,
    stdout: bytes.toString('utf8', 0, stdoutBytes),
    stderr: bytes.toString('utf8', stdoutBytes),
    ...(error && { error: Object.assign(new Error(error.message), { code: error.code }) }),
  };
}

function lostOutcome(why: string, durationMs: number): CommandOutcome {
  const error = new Error(`was ended, because the process that had started it ${why}`);
  return { ...NOT_RUN, ending: 'broken', durationMs: Math.round(durationMs), error };
}

function ignore(): void {}
