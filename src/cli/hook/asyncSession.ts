import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { DetachHooks } from '../../../middleware/runner.js';
import type { LateAnswer } from '../../protocol/lateAnswer.js';
import type { CallSession } from '../../protocol/types.js';
import { sessionKeysOf } from '../../run/asyncSession.js';
import { whileLocked } from '../../util/fileLock.js';
import { readTextSync } from '../../util/guardedRead.js';
import { findHome } from '../../util/homeDirectory.js';
import { makePrivate, ownFolder, removeOld } from '../shared/privateFolder.js';
import type { HookOptions } from './hookArguments.js';

// The async hooks of one session of an agent, of which each event has a process of its own: what runs, and what it has said.
// A file `run` is there while hooks may run, with a byte for each; who removes it ends them. A file `late` is an answer that
// nobody has read.

/** Within `.llxprt` of the home directory. */
const FOLDER = 'async';

const OWN_FILE = /^[\da-f]{32}(?:-[\da-f]+){3}\.(?:run|job|late)$|^[\da-f]{32}\.lock/u;

/** For another process that has the lock: an agent waits. */
const PATIENCE_MS = 1000;

/** Whoever has not said for so many ms that it is there is gone. */
const GONE_MS = 60_000;

/** An event whose async hooks are to run, and where its settings are. */
export interface AsyncJob {
  readonly options: Pick<HookOptions, 'cwd' | 'settings' | 'trust' | 'trace'>;
  readonly fired: Parameters<DetachHooks>[0];
  /** How many of its hooks may run at a time. */
  readonly room: number;
}

/** What was said late. */
export interface LateFile {
  readonly answers: readonly LateAnswer[];
  /** For the user of the agent. */
  readonly warnings: readonly string[];
}

/** Of the texts of one event's hooks, each of which has a limit. */
const MAX_LATE_BYTES = 16 * 1024 * 1024;

/** What is there of one session. @returns nothing where no async hook was ever started */
export function findAsyncFiles(owner: CallSession): AsyncFiles | undefined {
  const home = findHome();
  const isThere = home !== undefined && existsSync(path.join(home, '.llxprt', FOLDER));
  return isThere ? new AsyncFiles(owner) : undefined;
}

/** What is there of one session. */
export class AsyncFiles {
  readonly #folder: string;
  readonly #session: string;
  readonly #agent: string;
  /** The agents that are read. */
  readonly #read: readonly string[];

  /** @throws where the folder cannot be this user's alone */
  constructor(owner: CallSession) {
    this.#folder = ownFolder(FOLDER);
    makePrivate(this.#folder);
    const keys = sessionKeysOf(owner);
    this.#session = hashOf(keys.session, 32);
    const nameOf = (agent: string) => `${this.#session}-${hashOf(agent, 16)}`;
    this.#agent = nameOf(keys.agent);
    this.#read = keys.read.map(nameOf);
  }

  /**
   * Writes what is to run, unless so many hooks of the session run already.
   *
   * @returns the path of the job
   */
  async add(job: Omit<AsyncJob, 'room'>, max: number): Promise<string | undefined> {
    const add = async () => {
      this.#sweep();
      const running = this.#find(this.#session, 'run');
      const room = Math.min(max - sum(running.map(sizeOf)), job.fired.hooks);
      if (room <= 0) return undefined;
      const file = this.#newName('job');
      writeFileSync(file, JSON.stringify({ ...job, room }), { mode: 0o600, flag: 'wx' });
      writeFileSync(runFileOf(file), '.'.repeat(room), { mode: 0o600, flag: 'wx' });
      return file;
    };
    return whileLocked(path.join(this.#folder, this.#session), add, PATIENCE_MS);
  }

  /** Keeps what hooks have said. Nobody sees half of it. @returns its path */
  keep(late: LateFile): string {
    const draft = this.#newName('job');
    const file = draft.replace(/job$/u, 'late');
    writeFileSync(draft, JSON.stringify(late), { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
    return file;
  }

  /**
   * Takes what was said to the agent: whoever comes second gets nothing.
   *
   * @param ifWakes only where some of it sends the agent back to work
   */
  take(ifWakes: boolean): LateFile[] {
    const said = this.#read.flatMap((agent) => this.#find(agent, 'late'));
    const found = said.flatMap((file) => {
      try {
        const text = readTextSync(file, { maxBytes: MAX_LATE_BYTES });
        return [{ file, late: JSON.parse(text) as LateFile }];
      } catch {
        // Somebody else has taken it.
        return [];
      }
    });
    const waking = found.filter(
      ({ file, late }) => ifWakes && late.answers.some(({ wakes }) => wakes) && remove(file),
    );
    if (ifWakes && waking.length === 0) return [];
    return found
      .filter((each) => waking.includes(each) || remove(each.file))
      .map(({ late }) => late);
  }

  /**
   * Has what runs ended, and forgets what was said. What is about to run sees that.
   *
   * @param whose all of the session, or of the one agent
   */
  end(whose: 'session' | 'agent'): void {
    const prefix = whose === 'agent' ? this.#agent : this.#session;
    for (const kind of ['run', 'late']) {
      for (const file of this.#find(prefix, kind)) rmSync(file, { force: true });
    }
    this.#sweep();
  }

  /** Removes what processes that were killed have left, of any session. */
  #sweep(): void {
    removeOld(this.#folder, OWN_FILE);
    for (const file of this.#find('', 'run')) {
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats && Date.now() - stats.mtimeMs > GONE_MS) dropJob(jobFileOf(file));
    }
  }

  #newName(kind: string): string {
    const name = [this.#agent, Date.now().toString(16), randomBytes(6).toString('hex')].join('-');
    return path.join(this.#folder, `${name}.${kind}`);
  }

  /** The oldest first, of each agent. */
  #find(prefix: string, kind: string): string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.startsWith(prefix) && name.endsWith(`.${kind}`) && OWN_FILE.test(name))
      .toSorted()
      .map((name) => path.join(this.#folder, name));
  }
}

/** The file that is there while the hooks of a job may run. */
export function runFileOf(job: string): string {
  return job.replace(/\.job$/u, '.run');
}

function jobFileOf(run: string): string {
  return run.replace(/\.run$/u, '.job');
}

/** Removes what a job has left. */
export function dropJob(job: string): void {
  for (const file of [job, runFileOf(job)]) rmSync(file, { force: true });
}

function sizeOf(run: string): number {
  return statSync(run, { throwIfNoEntry: false })?.size ?? 0;
}

/** Says that somebody is there. @param left how many hooks are to run yet. @returns whether they may */
export function sayStillHere(run: string, left: number): boolean {
  try {
    const now = new Date();
    utimesSync(run, now, now);
    if (left < sizeOf(run)) truncateSync(run, left);
    return true;
  } catch {
    return false;
  }
}

/** Of two processes, one removes a file. */
function remove(file: string): boolean {
  try {
    rmSync(file);
    return true;
  } catch {
    return false;
  }
}

function hashOf(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}
