import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { HookContext } from '../../context.js';
import type { LateAnswer } from '../../protocol/lateAnswer.js';
import { readTextSync } from '../../util/guardedRead.js';
import { makePrivate, ownFolder, removeOld } from '../shared/privateFolder.js';
import type { HookOptions } from './hookArguments.js';

// The async hooks of one session of an agent, of which each event has a process of its own: what runs, and what it has said.
// A file `run` is there while its hooks may run; who removes it ends them. A file `late` is an answer that nobody has read.

/** Within `.llxprt` of the home directory. */
const FOLDER = 'async';

const OWN_FILE = /^[\da-f]{32}-[\da-f]+-[\da-f]+\.(?:run|job|late)$/u;

/** Whoever has not said for so many ms that it is there is gone. */
const GONE_MS = 60_000;

/** An event whose async hooks are to run, and where its settings are. */
export interface AsyncJob {
  readonly options: Pick<HookOptions, 'cwd' | 'settings' | 'trust' | 'trace'>;
  readonly fired: Pick<HookContext, 'event' | 'payload' | 'session'>;
}

/** What was said late. */
export interface LateFile {
  readonly agent?: string | undefined;
  readonly answers: readonly LateAnswer[];
  /** For the user of the agent. */
  readonly warnings: readonly string[];
}

interface FoundLate {
  readonly late: LateFile;
  /** @returns whether nobody else has taken it */
  readonly claim: () => boolean;
}

/** Of the texts of one event's hooks, each of which has a limit. */
const MAX_LATE_BYTES = 16 * 1024 * 1024;

/** What is there of one session. */
export class AsyncFiles {
  readonly #folder: string;
  readonly #session: string;

  /** @throws where the folder cannot be this user's alone */
  constructor(sessionId: string) {
    this.#folder = ownFolder(FOLDER);
    makePrivate(this.#folder);
    this.#session = createHash('sha256').update(sessionId).digest('hex').slice(0, 32);
  }

  /** How many events have hooks that run. */
  countRunning(): number {
    return this.#find('run').filter((file) => !isGone(file)).length;
  }

  /** Writes what is to run. @returns the path of the job */
  add(job: AsyncJob): string {
    removeOld(this.#folder, OWN_FILE);
    const file = this.#newName('job');
    writeFileSync(file, JSON.stringify(job), { mode: 0o600, flag: 'wx' });
    writeFileSync(runFileOf(file), '', { mode: 0o600, flag: 'wx' });
    return file;
  }

  /** Keeps what hooks have said. Nobody sees half of it. */
  keep(late: LateFile): void {
    const draft = this.#newName('job');
    writeFileSync(draft, JSON.stringify(late), { mode: 0o600, flag: 'wx' });
    renameSync(draft, draft.replace(/job$/u, 'late'));
  }

  /** What was said to an agent of the session, and what takes it: whoever comes second gets nothing. */
  find(agent: string | undefined): FoundLate[] {
    return this.#find('late').flatMap((file) => {
      try {
        const late = JSON.parse(readTextSync(file, { maxBytes: MAX_LATE_BYTES })) as LateFile;
        return late.agent === agent ? [{ late, claim: () => remove(file) }] : [];
      } catch {
        // Somebody else has taken it.
        return [];
      }
    });
  }

  /** Has all that runs ended, and forgets what was said. What is about to run sees that. */
  end(): void {
    for (const kind of ['run', 'late']) {
      for (const file of this.#find(kind)) rmSync(file, { force: true });
    }
  }

  #newName(kind: string): string {
    const name = [this.#session, Date.now().toString(16), randomBytes(6).toString('hex')].join('-');
    return path.join(this.#folder, `${name}.${kind}`);
  }

  /** The oldest first. */
  #find(kind: string): string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.startsWith(this.#session) && name.endsWith(`.${kind}`))
      .toSorted()
      .map((name) => path.join(this.#folder, name));
  }
}

/** The file that is there while the hooks of a job may run. */
export function runFileOf(job: string): string {
  return job.replace(/\.job$/u, '.run');
}

/** Removes what a job has left. */
export function dropJob(job: string): void {
  for (const file of [job, runFileOf(job)]) rmSync(file, { force: true });
}

/** Says that somebody is there. @returns whether its hooks may run on */
export function sayStillHere(run: string): boolean {
  try {
    const now = new Date();
    utimesSync(run, now, now);
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

function isGone(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats || Date.now() - stats.mtimeMs <= GONE_MS) return !stats;
  rmSync(file, { force: true });
  return true;
}
