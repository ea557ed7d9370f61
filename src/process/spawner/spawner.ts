import path from 'node:path';
import { isPrestarted } from '../prestarted.js';
import type { CommandOptions, CommandOutcome } from '../runCommand.js';
import type { ProcessGroup } from '../processGroup.js';
import type { StartOptions } from '../execution.js';
import { inheritedState, newRunId, RUN_ID } from '../startCommand.js';
import { Helper } from './helper.js';

/** Ms without a command after which the process is let go. */
const IDLE_MS = 60_000;
/** After so many that ended before they were up, no more of them are started. */
const MAX_FAILED_STARTS = 2;

/** A larger input takes longer to send than a command to start, and its bytes have been made in this process. */
const MAX_SENT_BYTES = 2 * 1024 * 1024;

interface Spawner {
  readonly helper: Helper;
  /** What it inherited, which must not have changed when it is used. */
  readonly state: string;
  idle?: NodeJS.Timeout;
}

/** The one of this process. */
let current: Spawner | undefined;
let failedStarts = 0;
/** Those for whom it is there, and how many. One that does not leave is not kept for that; then it ends when idle. */
const users = new WeakSet<object>();
let userCount = 0;
/** What was started without it, and is to end with this process, however that ends. */
const watched = new Set<ProcessGroup>();

/**
 * Has a command run by the spawner.
 *
 * @returns `undefined`, or what resolves to it, where nothing was started: there is no spawner, or none that could run
 *   it as this process would, or it was lost before
 */
export function runInSpawner(
  options: CommandOptions,
): Promise<CommandOutcome | undefined> | undefined {
  if (!current?.helper.isUp || options.signal?.aborted) return undefined;
  if (current.state !== stateOfHost() || (options.prestart && isPrestarted(options)))
    return undefined;
  // It is in another directory itself.
  if (!path.isAbsolute(options.cwd)) return undefined;
  if (options.input.byteLength > MAX_SENT_BYTES) return undefined;
  clearTimeout(current.idle);
  return current.helper.run(options);
}

/** Whether there is a spawner, or one may be started. */
export function canSpawn(): boolean {
  return failedStarts < MAX_FAILED_STARTS && IS_NODE;
}

/**
 * Starts a spawner, unless there is one.
 *
 * @param user for whom, until `leaveSpawner`
 * @param commands what has run without it, and will come again
 * @param max how many of them it may hold
 */
export function prepareSpawner(
  user: object,
  commands: () => readonly StartOptions[],
  max: number,
): void {
  if (!users.has(user)) userCount += 1;
  users.add(user);
  if (current?.state !== stateOfHost()) letGo();
  if (current) return;
  current = startSpawner();
  if (max > 0) current?.helper.prepare(commands(), max);
}

/** Has a command started ahead of its input. Says whether there is a spawner that does so. */
export function prestartInSpawner(options: StartOptions, onGivingUp: () => void): boolean {
  if (!current?.helper.isUp || current.state !== stateOfHost()) return false;
  if (!path.isAbsolute(options.cwd)) return false;
  current.helper.prestart(options, onGivingUp);
  return true;
}

/** Ends what waits in a directory, of one kind. */
export function dropInSpawner(what: 'held' | 'prestarted', cwd: string): void {
  current?.helper.drop(what, cwd);
}

/** Ends what waits in a directory, and the spawner itself where nobody else uses it. */
export function leaveSpawner(user: object, cwd: string): void {
  if (!users.delete(user)) return;
  dropInSpawner('prestarted', cwd);
  dropInSpawner('held', cwd);
  userCount -= 1;
  letGoUnlessUsed();
}

/** Has a group ended where this process is killed. Not before there is a spawner. */
export function watchGroup(group: ProcessGroup): void {
  watched.add(group);
  current?.helper.watch([...watched]);
}

/** Forgets a group that has ended, or that somebody else looks after. */
export function unwatchGroup(group: ProcessGroup): void {
  if (!watched.delete(group)) return;
  current?.helper.watch([...watched]);
  letGoUnlessUsed();
}

/** The spawner's process, and how many commands are held in it; `undefined` where none is up. */
export async function lookAtSpawner() {
  const helper = current?.helper;
  if (!helper?.isUp) return undefined;
  const { pid, runId } = helper;
  return { pid, runId, held: await helper.countHeld() };
}

function startSpawner(): Spawner | undefined {
  if (!canSpawn()) return undefined;
  try {
    const spawner: Spawner = {
      helper: new Helper(
        newRunId(process.env[RUN_ID]),
        () => rest(spawner),
        () => lose(spawner),
      ),
      state: stateOfHost(),
    };
    rest(spawner);
    if (watched.size > 0) spawner.helper.watch([...watched]);
    return spawner;
  } catch {
    failedStarts += 1;
    return undefined;
  }
}

function rest(spawner: Spawner): void {
  spawner.idle = setTimeout(() => {
    if (current !== spawner) return;
    if (watched.size > 0 || spawner.helper.hasStartedAhead) rest(spawner);
    else letGo();
  }, IDLE_MS).unref();
}

function letGoUnlessUsed(): void {
  if (userCount === 0 && watched.size === 0) letGo();
}

function letGo(): void {
  clearTimeout(current?.idle);
  current?.helper.letGo();
  current = undefined;
}

function lose(spawner: Spawner): void {
  if (!spawner.helper.isUp) failedStarts += 1;
  clearTimeout(spawner.idle);
  if (current === spawner) current = undefined;
}

/** Besides what any process inherits, where programs are looked up, and which run this is. */
function stateOfHost(): string {
  return [inheritedState(), process.env['PATH'], process.env[RUN_ID]].join(':');
}

/** A program of its own, such as Electron or a single executable, would be started a second time. */
const IS_NODE = /^node(?:js)?(?:\.exe)?$/i.test(path.basename(process.execPath));
