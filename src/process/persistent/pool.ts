import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../util/errorMessage.js';
import { MAX_KEPT_BYTES } from '../command/limits.js';
import { letPendingEventsThrough, settlesWithin } from '../command/outputCollector.js';
import { dropHeld } from '../command/heldCommands.js';
import { isShortOfRoom, leaveRoom, startWithRoom } from '../command/room.js';
import type { CommandOptions, CommandOutcome } from '../command/runCommand.js';
import type { StartOptions } from '../command/execution.js';
import { inheritedState, startCommand, type RunningCommand } from '../command/startCommand.js';
import { AskedEvent, type KeptHook } from './askedEvent.js';
import { Faults } from './faults.js';
import { findNamedFiles, residentMemory, stampFiles } from './freshness.js';
import { KeptProcess } from './keptProcess.js';
import type { PersistentLimits } from './limits.js';
import { PERSISTENT_VARIABLE } from './lines.js';
import { describeGreeting, NOT_SPOKEN, runAlone, takeOver } from './ordinary.js';
import { toOutcome } from './reply.js';

/** The processes that are kept for one command, and the events that wait for them. */
export class Pool {
  /** Hooks that were last served by it. */
  users = 0;
  readonly #start: StartOptions;
  readonly #inherited = inheritedState();
  readonly #waiting: AskedEvent[] = [];
  /** Those that have nothing to do. The latest is asked first, so that others become idle. */
  #free: KeptProcess[] = [];
  /** Those that were started of the files as they are now. */
  readonly #current = new Set<KeptProcess>();
  /** Those that run, are being started, or will be after a pause. */
  #processes = 0;
  readonly #faults: Faults;
  readonly #files: readonly string[];
  #stamp: string;
  /** For as long as nothing but events at once can have happened. */
  #isUpToDate = false;
  #hasSpoken = false;
  #isOrdinary = false;
  #endsUnasked = false;
  #isRetired = false;

  constructor(
    options: StartOptions,
    private readonly limits: PersistentLimits,
  ) {
    const { command, args, cwd, env, extraEnv } = options;
    const own = { ...extraEnv, [PERSISTENT_VARIABLE]: '1' };
    this.#start = { command, ...(args && { args }), cwd, env, extraEnv: own };
    this.#faults = new Faults(limits);
    this.#files = findNamedFiles(options);
    this.#stamp = stampFiles(this.#files, cwd);
  }

  /** Whether what its processes have inherited is what a new one would inherit; found out once for events at once. */
  isFor(options: StartOptions): boolean {
    if (this.#isUpToDate) return true;
    const known = this.#start.env;
    // To read it takes longer than all else here.
    const { env } = options;
    const isSame = known === env || JSON.stringify(known) === JSON.stringify(env);
    return isSame && this.#inherited === inheritedState();
  }

  /** @returns `undefined` for a command that has turned out to be an ordinary one */
  run(hook: KeptHook, options: CommandOptions): Promise<CommandOutcome> | undefined {
    this.#lookAtFiles();
    if (this.#isOrdinary) return undefined;
    return new Promise((resolve) => {
      const event = new AskedEvent(hook, options, resolve);
      this.#waiting.push(event);
      event.whenInterrupted(() => this.#giveUp(event));
      this.#serveNext();
      event.hasWaited = true;
    });
  }

  /** Starts a process before there is an event for it, unless there is one. */
  async prestart(hook: KeptHook): Promise<void> {
    this.#lookAtFiles();
    const isOff = this.#isOrdinary || this.#isRetired || this.#endsUnasked || isShortOfRoom();
    if (isOff || this.#processes > 0 || this.#faults.count > 0) return;
    this.#processes += 1;
    try {
      const objection = await hook.findObjection?.();
      const command = objection === undefined ? await startCommand(this.#start) : undefined;
      if (command) this.#release(this.#keepAhead(command, hook), hook);
      else this.#processes -= 1;
    } catch {
      // When it is needed it is started again, and what is wrong is told then.
      this.#processes -= 1;
    }
    this.#serveNext();
  }

  /** Serves what waits already; then its processes end. */
  retire(): void {
    this.#isRetired = true;
    this.#dismissOld();
  }

  #serveNext(): void {
    for (;;) {
      const [event] = this.#waiting;
      const isFull = this.#free.length === 0 && this.#processes >= (event?.hook.processes ?? 0);
      if (!event || (isFull && !this.#isOrdinary)) return;
      this.#waiting.shift();
      if (this.#isOrdinary) {
        runAlone(event).catch((error: Error) => event.fail('broken', error));
        continue;
      }
      const free = this.#free.pop();
      if (!free) this.#processes += 1;
      this.#serve(event, free).catch((error: Error) => event.fail('broken', error));
    }
  }

  #giveUp(event: AskedEvent): void {
    const index = this.#waiting.indexOf(event);
    if (index < 0 || !event.interruption) return;
    this.#waiting.splice(index, 1);
    event.fail(event.interruption);
  }

  /** Puts it back to the front of those that wait. */
  #serveAgain(event: AskedEvent): void {
    this.#waiting.unshift(event);
    event.whenInterrupted(() => this.#giveUp(event));
  }

  /** @param free absent where there is room for one more process, which is counted already */
  async #serve(event: AskedEvent, free: KeptProcess | undefined): Promise<void> {
    event.take();
    const objection = event.hasWaited ? await this.#findObjection(event) : undefined;
    if (objection !== undefined) this.#dismissOld();
    const refusal = objection ?? (free ? undefined : this.#faults.end);
    const pauseMs = free ? 0 : this.#faults.pauseMs;
    if (event.interruption || refusal !== undefined) {
      this.#giveBack(free, event.hook);
      if (event.interruption) event.fail(event.interruption);
      else event.fail('broken', new Error(refusal));
    } else if (free && (free.isGone || !this.#current.has(free))) {
      this.#serveAgain(event);
      void free.dismiss();
    } else if (pauseMs > 0) {
      await event.within(sleep(pauseMs));
      this.#giveBack(undefined, event.hook);
      this.#serveAgain(event);
    } else {
      const kept = free ?? (await this.#startFor(event));
      if (kept) await this.#putTo(kept, event);
    }
    this.#serveNext();
    if (event.options.prestart) setImmediate(() => void this.prestart(event.hook));
  }

  /** Its hook may have changed while it waited. */
  async #findObjection({ hook }: AskedEvent): Promise<string | undefined> {
    this.#lookAtFiles();
    try {
      return await hook.findObjection?.();
    } catch (error) {
      return errorMessage(error);
    }
  }

  async #startFor(event: AskedEvent): Promise<KeptProcess | undefined> {
    const { signal } = event.options;
    const patience = { until: event.deadline, ...(signal && { signal }) };
    try {
      const start = () => startCommand(this.#start);
      const command = await startWithRoom(start, dropHeld, patience);
      // Nobody is to wait for its end.
      leaveRoom();
      return this.#keep(command, event.hook);
    } catch (error) {
      this.#processes -= 1;
      if (event.interruption === 'aborted') event.fail('aborted');
      else event.fail('spawn-failed', error as Error);
      return undefined;
    }
  }

  #keep(command: RunningCommand, hook: KeptHook): KeptProcess {
    const kept: KeptProcess = new KeptProcess(command, this.limits, {
      onEnd: (fault, isTold) => this.#noteEndOf(kept, fault, isTold ? undefined : hook),
      onIdle: () => {
        if (this.#free.includes(kept)) void kept.dismiss();
      },
    });
    this.#current.add(kept);
    return kept;
  }

  #keepAhead(command: RunningCommand, hook: KeptHook): KeptProcess {
    const kept = this.#keep(command, hook);
    void this.#noticeEndUnasked(kept);
    return kept;
  }

  async #noticeEndUnasked(kept: KeptProcess): Promise<void> {
    const { kind } = await kept.greeted;
    if (kind !== 'ended' || !this.#free.includes(kept)) return;
    this.#endsUnasked = true;
    await kept.end();
  }

  async #putTo(kept: KeptProcess, event: AskedEvent): Promise<void> {
    const isNew = kept.events === 0;
    kept.setReferenced(true);
    if (kept.greeting?.kind !== 'hello' && !(await this.#greet(kept, event))) return;
    event.whenInterrupted((how) => void kept.interrupt(how));
    this.#hasSpoken = true;
    const { input, keepStdoutBytes = MAX_KEPT_BYTES } = event.options;
    const reply = await kept.ask(input, keepStdoutBytes);
    const outcome = toOutcome(reply);
    if (!outcome) {
      this.#serveAgain(event);
      return;
    }
    if (reply.answer) this.#faults.noteGoodAnswer();
    event.settle(outcome, { pid: kept.pid, isNew });
    this.#release(kept, event.hook);
  }

  /** Waits for the hello of a new process. One that does not say it is taken for an ordinary command. */
  async #greet(kept: KeptProcess, event: AskedEvent): Promise<boolean> {
    const helloBy = kept.startedAt + this.limits.helloMs;
    const patienceMs = (this.#hasSpoken ? event.deadline : helloBy) - performance.now();
    await event.within(settlesWithin(kept.greeted, Math.max(0, patienceMs)));
    await letPendingEventsThrough();
    const { greeting } = kept;
    if (kept.isGone) this.#serveAgain(event);
    else if (greeting?.kind === 'hello') return true;
    else if (event.interruption && (this.#hasSpoken || !kept.hasExited)) {
      await kept.end(event.interruption === 'timeout' ? 'timed out' : undefined);
      event.fail(event.interruption);
    } else if (this.#hasSpoken) {
      const hasEnded = greeting?.kind === 'ended';
      const fault = hasEnded ? 'ended before it said hello' : describeGreeting(greeting);
      await kept.end(fault);
      event.fail('broken', new Error(fault));
    } else await this.#takeOver(kept, event);
    return false;
  }

  /** The very process that is there already serves the event, so that nothing runs twice. */
  async #takeOver(kept: KeptProcess, event: AskedEvent): Promise<void> {
    const { greeting } = kept;
    const command = kept.handOver();
    if (greeting) this.#goOnWithout(event.hook, describeGreeting(greeting));
    const { outcome, saidHello } = await takeOver(command, event, this.limits);
    this.#noteEndOf(kept);
    if (saidHello && !greeting) this.#hasSpoken = true;
    else if (!greeting && outcome.ending !== 'aborted') this.#goOnWithout(event.hook, NOT_SPOKEN);
    event.settle(outcome);
  }

  #goOnWithout(hook: KeptHook, what: string): void {
    if (this.#isOrdinary) return;
    this.#isOrdinary = true;
    hook.warn(`${what}, so it is started for each event: ${ADVICE}`);
    this.#serveNext();
  }

  #giveBack(free: KeptProcess | undefined, hook: KeptHook): void {
    if (free) this.#release(free, hook);
    else this.#processes -= 1;
  }

  #release(kept: KeptProcess, hook: KeptHook): void {
    if (kept.isGone) return;
    const isLast = this.#isRetired && this.#waiting.length === 0;
    const isOld = !this.#current.has(kept) || kept.events >= this.limits.maxEvents;
    if (isLast || isOld || this.#isTooLarge(kept, hook)) {
      void kept.dismiss();
      return;
    }
    this.#free.push(kept);
    if (this.#waiting.length === 0) kept.setReferenced(false);
  }

  #isTooLarge(kept: KeptProcess, { maxMemory }: KeptHook): boolean {
    const now = performance.now();
    if (now - kept.lookedAt < this.limits.memoryMs) return false;
    kept.lookedAt = now;
    return residentMemory(kept.pid) > maxMemory;
  }

  /** @param hook of a fault that no result tells */
  #noteEndOf(kept: KeptProcess, fault?: string, hook?: KeptHook): void {
    this.#processes -= 1;
    this.#free = this.#free.filter((each) => each !== kept);
    const isCurrent = this.#current.delete(kept);
    if (fault !== undefined && isCurrent) {
      this.#faults.note(fault);
      hook?.warn(`${fault}; ${STARTED_ANEW}`);
    }
    this.#serveNext();
  }

  /** What has changed is another hook, with other faults. */
  #lookAtFiles(): void {
    if (this.#isUpToDate) return;
    this.#isUpToDate = true;
    queueMicrotask(() => (this.#isUpToDate = false));
    const stamp = stampFiles(this.#files, this.#start.cwd);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#faults.forget();
    this.#isOrdinary = this.#hasSpoken = this.#endsUnasked = false;
    this.#dismissOld();
  }

  #dismissOld(): void {
    this.#current.clear();
    for (const kept of this.#free) void kept.dismiss();
  }
}

/** What a warning of a fault ends with. */
export const STARTED_ANEW = 'it is started anew for the next event';

/** What a warning of a hook that is not kept ends with. */
export const ADVICE =
  'print {"hookstack":1} first and answer line by line (see docs: Persistent hooks), use defineHook or the Python helper, or remove "persistent"';
