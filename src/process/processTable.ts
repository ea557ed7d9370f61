import { readdirSync, readFileSync } from 'node:fs';

/**
 * Whether a process group has a member that still runs. Zombies do not count: where the first process of
 * a container does not reap, they stay for ever.
 *
 * @returns `undefined` where there is no process table to read (not Linux, or `/proc` not mounted)
 */
export function hasRunningMember(groupId: number): boolean | undefined {
  return listProcesses()?.some((pid) => {
    const status = readStatus(pid);
    return status?.groupId === groupId && !ENDED_STATES.has(status.state);
  });
}

/**
 * Finds the processes that were started with one of these strings in their environment.
 *
 * @param marks entries such as `NAME=value`
 * @returns their pids; empty where there is no process table to read
 */
export function findByEnvironment(marks: readonly string[]): number[] {
  const inEnvironment = (pid: number) => {
    const environment = readProcessFile(pid, 'environ');
    return marks.some((mark) => environment?.includes(mark));
  };
  return listProcesses()?.filter(inEnvironment) ?? [];
}

/** Zombie, and dead. */
const ENDED_STATES = new Set(['Z', 'X']);

function listProcesses(): number[] | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return undefined;
  }
}

/** From `/proc/[pid]/stat`: `pid (name) state parent group …`, where the name may hold anything. */
function readStatus(pid: number): { state: string; groupId: number } | undefined {
  const line = readProcessFile(pid, 'stat')?.toString('latin1');
  const [state, , groupId] = line?.slice(line.lastIndexOf(')') + 2).split(' ') ?? [];
  return state === undefined ? undefined : { state, groupId: Number(groupId) };
}

/** `undefined` for a process that has ended meanwhile, or belongs to somebody else. */
function readProcessFile(pid: number, file: 'stat' | 'environ'): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
