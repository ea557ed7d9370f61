import path from 'node:path';
import type { StartOptions } from '../command/execution.js';
import type { ProcessGroup } from '../command/processTable.js';
import type { CommandOptions, CommandOutcome } from '../command/outcome.js';
import { inheritedState, RUN_ID } from '../command/runningCommand.js';
import { SpawnerProcess } from './spawnerProcess.js';

/** Ms without a command after which the process is ended. */
const IDLE_MS = 60_000;
/** After so many that ended before they were up, no more of them are started. */
const MAX_FAILED_STARTS = 2;

/** A larger input takes longer to send than a command to start, and its bytes have been made in this process. */
const MAX_SENT_BYTES = 2 * 1024 * 1024;

/** The one of this process. */
let current: SpawnerProcess | undefined;
let idle: NodeJS.Timeout | undefined;
let failedStarts = 0;
/**
 * The users of the spawner. A weak set and a count: a user that is collected without leaving does not keep it alive; it
 * ends when idle.
 */
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
  const spawner = readySpawner();
  const isLarge = options.input.byteLength > MAX_SENT_BYTES;
  if (!spawner || isLarge || options.signal?.aborted) return undefined;
  idle?.refresh();
  return spawner.run(options);
}

/** The spawner, once it is up and as long as it starts commands as this process would. */
export function readySpawner(): SpawnerProcess | undefined {
  return current?.isUp && current.state === stateOfHost() ? current : undefined;
}

/**
 * Starts a spawner, unless there is one.
 *
 * @param user for whom, until `leaveSpawner`
 * @returns whether it was started now, and knows of no command yet
 */
export function prepareSpawner(user: object): boolean {
  return !(users.has(user) && readySpawner()) && useSpawner(user);
}

function useSpawner(user: object): boolean {
  if (failedStarts >= MAX_FAILED_STARTS || !IS_NODE) return false;
  if (!users.has(user)) userCount += 1;
  users.add(user);
  if (current?.state !== stateOfHost()) endWhenIdle();
  if (current) return false;
  current = startSpawner();
  return current !== undefined;
}

/**
 * Tells the spawner of a command that will come, so that it can start it ahead.
 *
 * @param max how many of those that do not say `prestart` may be held
 * @param onGivingUp called where one that does ends too early too often
 * @returns whether there is a spawner for it
 */
export function expectInSpawner(
  options: StartOptions,
  max: number,
  onGivingUp: () => void,
): boolean {
  if (current?.state !== stateOfHost()) return false;
  current.expect(options, max, onGivingUp);
  return true;
}

/** Ends what waits in a directory. */
export function dropInSpawner(cwd: string): void {
  current?.drop(cwd);
}

/** Ends what waits in a directory, and the spawner itself where nobody else uses it. */
export function releaseSpawner(user: object, cwd: string): void {
  if (!users.delete(user)) return;
  dropInSpawner(cwd);
  userCount -= 1;
  endUnlessUsed();
}

/** Has a group ended where this process is killed. Not before there is a spawner. */
export function watchGroup(group: ProcessGroup): void {
  watched.add(group);
  current?.watch([...watched]);
}

/** Forgets a group that has ended, or that somebody else looks after. */
export function unwatchGroup(group: ProcessGroup): void {
  if (!watched.delete(group)) return;
  current?.watch([...watched]);
  endUnlessUsed();
}

function startSpawner(): SpawnerProcess | undefined {
  try {
    const spawner = new SpawnerProcess(stateOfHost(), forgetLost);
    clearTimeout(idle);
    idle = setTimeout(endWhereIdle, IDLE_MS).unref();
    if (watched.size > 0) spawner.watch([...watched]);
    return spawner;
  } catch {
    failedStarts += 1;
    return undefined;
  }
}

function endWhereIdle(): void {
  if (watched.size > 0 || current?.isUsed) idle?.refresh();
  else endWhenIdle();
}

function endUnlessUsed(): void {
  if (userCount === 0 && watched.size === 0) endWhenIdle();
}

function endWhenIdle(): void {
  clearTimeout(idle);
  current?.endWhenIdle();
  current = undefined;
}

function forgetLost(spawner: SpawnerProcess): void {
  if (!spawner.isUp) failedStarts += 1;
  if (current !== spawner) return;
  clearTimeout(idle);
  current = undefined;
}

/** Besides what any process inherits, where programs are looked up, and which run this is. */
function stateOfHost(): string {
  return [inheritedState(), process.env['PATH'], process.env[RUN_ID]].join(':');
}

/** A program of its own, such as Electron or a single executable, would be started a second time. */
const IS_NODE = /^node(?:js)?(?:\.exe)?$/i.test(path.basename(process.execPath));
