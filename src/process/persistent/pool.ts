import { errorMessage } from '../../util/errorMessage.js';
import type { StartOptions } from '../command/execution.js';
import type { CommandOptions, CommandOutcome } from '../command/outcome.js';
import { waitUntil } from '../command/runCommand.js';
import {
  inheritedState,
  isShortOfRoom,
  leaveRoom,
  type RunningCommand,
} from '../command/runningCommand.js';
import { startCommand, startWithRoom } from '../command/startCommand.js';
import { residentMemory } from '../command/processTable.js';
import { AskedEvent, type KeptHook } from './askedEvent.js';
import { Faults } from './faults.js';
import { Freshness } from './freshness.js';
import { KeptProcess } from './keptProcess.js';
import type { PersistentLimits } from '../command/limits.js';
import { PERSISTENT_VARIABLE } from './lines.js';

/** The processes that are kept for one command, and the events that wait for them. */
export class Pool {
  /** Hooks that were last served by it. */
  users = 0;
  readonly #start: StartOptions;
  readonly #inherited = inheritedState();
  readonly #faults: Faults;
  readonly #freshness: Freshness;
  readonly #waiting: AskedEvent[] = [];
  /** Those that have nothing to do. The latest is asked first, so that others become idle. */
  #free: KeptProcess[] = [];
  /** Those that were started of the files as they are now. */
  readonly #current = new Set<KeptProcess>();
  /** Those that run, or are being started. */
  #processes = 0;
  #pause: NodeJS.Timeout | undefined;
  #isRetired = false;

  constructor(
    options: StartOptions,
    private readonly limits: PersistentLimits,
  ) {
    const { command, args, cwd, env, extraEnv } = options;
    const own = { ...extraEnv, [PERSISTENT_VARIABLE]: '1' };
    this.#start = { command, ...(args && { args }), cwd, env, extraEnv: own };
    this.#faults = new Faults(limits);
    this.#freshness = new Freshness(options);
  }

  /** Whether what its processes have inherited is what a new one would inherit. */
  isFor(options: StartOptions): boolean {
    // To compare takes longer than all else here, and so does reading the environment.
    if (this.#freshness.isKnown) return true;
    const { env } = options;
    const known = this.#start.env;
    const isSame = known === env || JSON.stringify(known) === JSON.stringify(env);
    return isSame && this.#inherited === inheritedState();
  }

  run(hook: KeptHook, options: CommandOptions): Promise<CommandOutcome> {
    // One that has to wait looks when its turn comes.
    if (this.#hasRoomFor(hook)) this.#lookAtFiles();
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
    if (this.#isRetired || isShortOfRoom() || this.#processes > 0 || this.#faults.count > 0) return;
    this.#processes += 1;
    try {
      const objection = await hook.findObjection?.();
      const command = objection === undefined ? await startCommand(this.#start) : undefined;
      this.#release(command && this.#keep(command, hook), hook);
    } catch {
      // The next event starts it again, and tells what is wrong.
      this.#release(undefined, hook);
    }
    this.#serveNext();
  }

  /** Serves what waits already; then its processes end. */
  retire(): void {
    this.#isRetired = true;
    this.#dismissOld();
  }

  #serveNext(): void {
    for (
      let [event] = this.#waiting;
      event && this.#hasRoomFor(event.hook);
      [event] = this.#waiting
    ) {
      const free = this.#free.pop();
      const { pauseMs } = this.#faults;
      if (!free && pauseMs > 0) return this.#serveLater(pauseMs);
      this.#waiting.shift();
      this.#serve(event, free).catch((error: Error) => event.fail('broken', error));
    }
  }

  #hasRoomFor(hook: KeptHook): boolean {
    return this.#free.length > 0 || this.#processes < hook.processes;
  }

  #serveLater(ms: number): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#serveNext(), ms);
  }

  #giveUp(event: AskedEvent): void {
    const index = this.#waiting.indexOf(event);
    if (index < 0 || !event.interruption) return;
    this.#waiting.splice(index, 1);
    event.fail(event.interruption);
  }

  /** @param free absent where there is room for one more process */
  async #serve(event: AskedEvent, free: KeptProcess | undefined): Promise<void> {
    if (!free) this.#processes += 1;
    event.take();
    const isRefused = (event.hasWaited || !free) && (await this.#refuse(event, !free));
    const kept = free ?? (isRefused ? undefined : await this.#startFor(event));
    if (kept && !isRefused) await this.#ask(kept, event);
    this.#release(kept, event.hook);
    this.#serveNext();
    if (event.options.prestart) setImmediate(() => void this.prestart(event.hook));
  }

  /** Ends an event whose hook has changed while it waited, or whose time is over. Says whether it has. */
  async #refuse(event: AskedEvent, needsStart: boolean): Promise<boolean> {
    const objection = event.hasWaited ? await this.#findObjection(event) : undefined;
    if (objection !== undefined) this.#dismissOld();
    const reason = objection ?? (needsStart ? this.#faults.end : undefined);
    if (event.interruption) event.fail(event.interruption);
    else if (reason !== undefined) event.fail('broken', new Error(reason));
    return event.interruption !== undefined || reason !== undefined;
  }

  #findObjection({ hook, cameAt }: AskedEvent): ReturnType<NonNullable<KeptHook['findObjection']>> {
    this.#lookAtFiles(cameAt);
    try {
      const objection = hook.findObjection?.();
      return objection instanceof Promise ? objection.catch(errorMessage) : objection;
    } catch (error) {
      return errorMessage(error);
    }
  }

  async #startFor(event: AskedEvent): Promise<KeptProcess | undefined> {
    const patience = waitUntil(event.deadline, event.options.signal);
    try {
      const command = await startWithRoom(() => startCommand(this.#start), patience);
      // Nobody is to wait for its end.
      leaveRoom();
      return this.#keep(command, event.hook);
    } catch (error) {
      if (event.interruption === 'aborted') event.fail('aborted');
      else event.fail('spawn-failed', error as Error);
      return undefined;
    }
  }

  #keep(command: RunningCommand, hook: KeptHook): KeptProcess {
    const kept: KeptProcess = new KeptProcess(command, this.limits, {
      onAnswer: () => this.#faults.noteGoodAnswer(),
      onEnd: (fault, isTold) => this.#noteEndOf(kept, fault, isTold ? undefined : hook),
    });
    this.#current.add(kept);
    return kept;
  }

  /** An event of which its process has seen nothing, as that is gone or old, is the next one again. */
  async #ask(kept: KeptProcess, event: AskedEvent): Promise<void> {
    kept.setReferenced(true);
    if (this.#current.has(kept) && (await kept.ask(event))) return;
    this.#waiting.unshift(event);
    event.whenInterrupted(() => this.#giveUp(event));
  }

  /** @param kept absent where there is none after all */
  #release(kept: KeptProcess | undefined, hook: KeptHook): void {
    if (!kept) this.#processes -= 1;
    if (!kept || kept.isGone) return;
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

  /** @param hook of a fault that no outcome tells */
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

  /** After a change of its files a hook begins without faults. */
  #lookAtFiles(since?: number): void {
    if (!this.#freshness.hasChanged(since)) return;
    this.#faults.forget();
    this.#dismissOld();
  }

  #dismissOld(): void {
    this.#current.clear();
    for (const kept of this.#free) void kept.dismiss();
  }
}

/** What a warning of a fault ends with. */
export const STARTED_ANEW = 'it is started anew for the next event';
