import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { readSender, type Sender } from '../../protocol/names.js';

/** What a client says. One connection carries one of them, and its answer. */
export interface ResidentRequest {
  /** Whose event `input` is; or what the user wants of the resident; or that a mod of this process wants to ask. */
  readonly wants: Sender | 'status' | 'stop' | 'mod';
  /** The client's process, by its number in its namespace. */
  readonly pid: number;
  /** That namespace, in the system's words. */
  readonly space: string;
  readonly input: Buffer;
}

const MAX_LINE = 200;

/**
 * Reads what a client has written: a line with what it wants, its process and its namespace, and then the event.
 *
 * @returns `undefined` for anything else
 */
export function readRequest(bytes: Buffer): ResidentRequest | undefined {
  const end = bytes.subarray(0, MAX_LINE).indexOf('\n');
  const line = /^(\w+) ([1-9]\d*) (pid:\[\d+\])$/u.exec(bytes.toString('latin1', 0, end));
  if (end < 0 || !line) return undefined;
  const [, text = '', pid, space = ''] = line;
  const isControl = text === 'status' || text === 'stop' || text === 'mod';
  const wants = isControl ? text : readSender(text);
  if (!wants) return undefined;
  return { wants, pid: Number(pid), space, input: bytes.subarray(end + 1) };
}

/** Says that the event was heard, or that it is still being answered. */
export const STILL_HERE = '.';

/** What the client is to print, and its exit code. */
export function formatReply(exitCode: number, out: string, err: string): Buffer {
  const [said, aside] = [Buffer.from(out), Buffer.from(err)];
  const line = Buffer.from(`=${exitCode} ${said.length} ${aside.length}\n`);
  return Buffer.concat([line, said, aside]);
}

/** What a process has from whoever started it, as the system says: nobody can forge that for a process of another kind. */
export interface Inheritance {
  readonly uid: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** All else that a process that it starts would have, too. */
  readonly state: string;
}

const SPACES = ['mnt', 'net', 'pid', 'user', 'ipc', 'uts', 'cgroup', 'time'] as const;

/** Lines of `status`: the mask of new files, ids, rights, filters of system calls, and processors. */
const STATUS =
  /^(?:Umask|Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp|Cpus_allowed|Mems_allowed):.*$/gmu;

/** Of `stat`, from its third field on: niceness, real-time priority, and the way in which it is scheduled. */
const PRIORITY = [16, 37, 38] as const;

/** Node raises the soft one to the hard one, also for what it starts. */
const OPEN_FILES = /^(Max open files)\s+\S+\s+/mu;

/** @throws the system's error, where there is no such process of this user */
export function inheritanceOf(pid: number | 'self'): Inheritance {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8');
  const limits = read('limits').replace(OPEN_FILES, '$1');
  const status = read('status').match(STATUS) ?? [];
  // What stands before may hold anything.
  const fields = read('stat')
    .replace(/^.*\) /su, '')
    .split(' ');
  const priority = PRIORITY.map((at) => fields[at]);
  const spaces = SPACES.map((name) => readlinkSync(`/proc/${pid}/ns/${name}`));
  const root = readlinkSync(`/proc/${pid}/root`);
  const others = ['oom_score_adj', 'attr/current', 'personality'].map((name) =>
    ifThere(read, name),
  );
  const state = [limits, ...status, ...priority, ...others, root, ...spaces];
  return {
    uid: statSync(`/proc/${pid}`).uid,
    cwd: readlinkSync(`/proc/${pid}/cwd`),
    env: readVariables(read('environ')),
    state: state.join('\n'),
  };
}

/** Not every system has each of them. */
function ifThere(read: (name: string) => string, name: string): string {
  try {
    return read(name);
  } catch {
    return '';
  }
}

/** The client adds one, so that Perl does not complain of a locale. */
const OF_CLIENT = 'PERL_BADLANG';

function readVariables(text: string): Record<string, string> {
  const pairs = text.split('\0').flatMap((variable): [string, string][] => {
    const at = variable.indexOf('=', 1);
    return at < 0 ? [] : [[variable.slice(0, at), variable.slice(at + 1)]];
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== OF_CLIENT));
}
