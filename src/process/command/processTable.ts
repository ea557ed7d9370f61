import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { orUndefined } from '../../util/paths.js';

/** A command's shell, and what it starts: what tells its processes from others. */
export interface ProcessGroup {
  /** The pid of the shell, and the id of their group, as long as they have not left it. */
  readonly id: number;
  /** `NAME=value`, in the environment that they were started with, unless somebody emptied it. */
  readonly mark: string;
  /** What they write to, unless they let go of it; see `readPipes` beside the starts. */
  readonly pipes: readonly string[];
  /** When the first of them was started, by `process.uptime()`. */
  readonly startedAt: number;
}

/** A process that was found, and must not be taken for another that has got its pid since. */
export interface FoundProcess {
  readonly pid: number;
  readonly identity: string;
}

interface ProcessEntry extends FoundProcess {
  readonly parentId: number;
  readonly groupId: number;
  readonly hasEnded: boolean;
  /** In clock ticks since the system was started; unknown to `ps`. */
  readonly startedAt?: number;
  /** What it was started with, among other words. */
  readonly environment: () => string;
  /** What it holds, in the system's words. */
  readonly descriptors: () => readonly string[];
}

/**
 * Whether a process group has a member that still runs. Zombies do not count: where the first process of
 * a container does not reap, they stay for ever.
 *
 * @returns `undefined` where there is no process table to read
 */
export function hasRunningMember(groupId: number): boolean | undefined {
  return readProcessTable()?.some((entry) => entry.groupId === groupId && !entry.hasEnded);
}

/**
 * Finds the processes of commands by what they were started with, and what they hold, in their groups and out of them.
 * Nothing that was there before the commands is taken for theirs, whatever it was handed.
 *
 * @returns none where there is no process table to read
 */
export function findByTraces(commands: readonly ProcessGroup[]): FoundProcess[] {
  if (commands.length === 0) return [];
  const marks = commands.map(({ mark }) => mark);
  const pipes = commands.flatMap((command) => command.pipes);
  const since = ticksAt(Math.min(...commands.map(({ startedAt }) => startedAt)));
  const isTheirs = ({ environment, descriptors }: ProcessEntry) =>
    isOneIn(marks, environment()) || (pipes.length > 0 && isOneIn(pipes, descriptors()));
  return (readProcessTable() ?? []).filter(
    (entry) =>
      entry.pid !== process.pid && (entry.startedAt ?? Infinity) >= since && isTheirs(entry),
  );
}

function isOneIn(wanted: readonly string[], found: string | readonly string[]): boolean {
  return wanted.some((each) => found.includes(each));
}

/** Finds what members of groups have started, and what that has started, as long as their parents run. */
export function findDescendants(groups: readonly Pick<ProcessGroup, 'id'>[]): FoundProcess[] {
  if (groups.length === 0) return [];
  const table = readProcessTable() ?? [];
  const ids = new Set(groups.map(({ id }) => id));
  const family = new Set(table.filter(({ groupId }) => ids.has(groupId)).map(({ pid }) => pid));
  for (let known = -1; known < family.size;) {
    known = family.size;
    for (const { pid, parentId } of table) if (family.has(parentId)) family.add(pid);
  }
  return table.filter(({ pid }) => family.has(pid));
}

/** Of processes that were found a while ago, those that are still the same. */
export function stillThere(found: readonly FoundProcess[]): FoundProcess[] {
  if (found.length === 0) return [];
  const now = new Map(readProcessTable()?.map(({ pid, identity }) => [pid, identity]));
  return found.filter(({ pid, identity }) => now.get(pid) === identity);
}

/**
 * Reads the table of all processes: `/proc`, or what `ps` prints where there is none.
 *
 * @param proc where `/proc` is; for tests
 * @param psFlags what makes `ps` print the environment after the command; for tests
 * @returns `undefined` where there is neither, nor one that has this process in it
 */
export function readProcessTable(
  proc = '/proc',
  psFlags = ENVIRONMENT_FLAGS,
): ProcessEntry[] | undefined {
  if (process.platform === 'win32') return undefined;
  return withOurselves(readProc(proc)) ?? withOurselves(askPs(psFlags));
}

/** `/proc` may be an empty directory, or hide what it has. */
function withOurselves(table: ProcessEntry[] | undefined): ProcessEntry[] | undefined {
  return table?.some(({ pid }) => pid === process.pid) ? table : undefined;
}

/** Zombie, and dead. */
const ENDED_STATES = /^[ZX]/;

function readProc(directory: string): ProcessEntry[] | undefined {
  if (process.platform !== 'linux') return undefined;
  const names = orUndefined(() => readdirSync(directory));
  return names?.map(Number).filter(Number.isInteger).flatMap(readEntry);
}

/** From `/proc/[pid]/stat`: `pid (name) state parent group …`, where the name may hold anything. */
function readEntry(pid: number): ProcessEntry | [] {
  const line = readProcessFile(pid, 'stat');
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state, parentId, groupId] = fields;
  const startedAt = fields[19];
  if (state === undefined || startedAt === undefined) return [];
  return {
    pid,
    parentId: Number(parentId),
    groupId: Number(groupId),
    hasEnded: ENDED_STATES.test(state),
    startedAt: Number(startedAt),
    identity: startedAt,
    environment: () => readProcessFile(pid, 'environ') ?? '',
    descriptors: () => listProcess(pid, 'fd').map((name) => readDescriptor(pid, name)),
  };
}

/** `undefined` for a process that has ended meanwhile, or belongs to somebody else. */
function readProcessFile(pid: number, file: string): string | undefined {
  return orUndefined(() => readFileSync(`/proc/${pid}/${file}`, 'latin1'));
}

/** Empty for one that has ended meanwhile, or belongs to somebody else. */
function listProcess(pid: number, directory: 'fd' | 'task'): string[] {
  return orUndefined(() => readdirSync(`/proc/${pid}/${directory}`)) ?? [];
}

/** What a process holds, in the system's words. Empty for what is closed, or cannot be read. */
function readDescriptor(pid: number, name: string): string {
  return orUndefined(() => readlinkSync(`/proc/${pid}/fd/${name}`)) ?? '';
}

/** Linux counts in hundredths of a second towards programs, whatever it does inside. */
const TICKS_PER_SECOND = 100;

/** A time of `process.uptime()` in clock ticks since the system was started. Rather too early than too late. */
function ticksAt(uptime: number): number {
  const own = readEntry(process.pid);
  const startOfHost = Array.isArray(own) ? undefined : own.startedAt;
  return startOfHost === undefined ? 0 : startOfHost + Math.floor(uptime * TICKS_PER_SECOND) - 1;
}

/** What makes `ps` print the environment after the command, on macOS and the other BSDs. */
const ENVIRONMENT_FLAGS = [process.platform === 'darwin' ? '-E' : '-e'];

const PS_MS = 1_000;
const PS_BYTES = 64 * 1024 * 1024;

function askPs(psFlags: readonly string[]): ProcessEntry[] | undefined {
  const flags = ['-A', ...psFlags, '-ww', '-o', 'pid=,ppid=,pgid=,stat=,command='];
  const printed = orUndefined(() =>
    execFileSync('/bin/ps', flags, {
      // Whatever project is open, this is the machine's own.
      cwd: '/',
      encoding: 'utf8',
      timeout: PS_MS,
      maxBuffer: PS_BYTES,
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  return printed?.split('\n').flatMap(readPsLine);
}

function readPsLine(line: string): ProcessEntry | [] {
  const [, pid, parentId, groupId, state = '', words = ''] =
    /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s*(.*)$/.exec(line) ?? [];
  if (pid === undefined) return [];
  return {
    pid: Number(pid),
    parentId: Number(parentId),
    groupId: Number(groupId),
    hasEnded: ENDED_STATES.test(state),
    identity: words,
    environment: () => words,
    descriptors: () => [],
  };
}

/**
 * The resident memory of a process and of all that it has started and that still hangs on it, in MB. 0 where the system
 * does not say.
 */
export function residentMemory(pid: number): number {
  let kilobytes = 0;
  const family = [pid];
  // Grows while it is walked through; a process that has ended meanwhile has neither memory nor children.
  for (const each of family) {
    const [, resident = 0] =
      /^VmRSS:\s+(\d+) kB/m.exec(readProcessFile(each, 'status') ?? '') ?? [];
    kilobytes += Number(resident);
    family.push(...childrenOf(each));
  }
  return kilobytes / 1024;
}

/** Each thread of a process has its own. */
function childrenOf(pid: number): number[] {
  return listProcess(pid, 'task').flatMap((thread) =>
    (readProcessFile(pid, `task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );
}
