import { hash, randomUUID } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { openPrivately } from '../trace/privateFile.js';
import { errorCode } from '../util/errorMessage.js';
import { readTextSync } from '../util/guardedRead.js';
import { requireHome } from '../util/homeDirectory.js';
import { unlessMissing } from '../util/missing.js';
import { makePrivate } from '../util/privateFolder.js';

/** Where spans of all agents of a user wait: beside what else is kept of him. */
export function spoolsOf(home: string): string {
  return path.join(home, '.llxprt', 'fleet');
}

/** Where spans of an agent wait by default. */
export function spoolOf(team: string, agent: string): string {
  return path.join(spoolsOf(requireHome()), `${team}.${agent}`);
}

export interface SpoolOptions {
  /** Of all files of the directory together. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Of one file, after which the next one begins. Default 1 MiB. */
  readonly segmentBytes?: number;
}

/** What came of writing. */
export interface Appended {
  /** Older lines that had to go, and new ones that could not be written. */
  readonly lost: number;
  /** The file system's error, where lines could not be written. */
  readonly problem?: unknown;
}

/** Lines that were taken from the spool, to be sent. */
export interface Segment {
  readonly lines: readonly string[];
  /** Removes them: they have arrived. Where something has been added meanwhile, they stay, to be sent again. */
  done(): void;
  /** Puts them back, as they could not be sent. */
  putBack(): void;
}

/** Ms after which what another machine has written last counts as left. */
const STALE_MS = 3_600_000;
/** A larger file was not written here. In bytes. */
const MAX_SEGMENT_BYTES = 16 * 1024 * 1024;
const WAITING = '.jsonl';
const TAKEN = '.sending';

/**
 * Lines that wait on disk until they can be sent, in files that only their owner may read. Several processes share the
 * directory: each writes files of its own, whose names say when they were begun and by whom; what a process leaves, others
 * take over. Taking is renaming, so that one of many succeeds.
 */
export class Spool {
  readonly #me = `${HOST}-${process.pid}-${randomUUID().slice(0, 8)}`;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  #begun = 0;
  #current: string | undefined;
  #currentBytes = 0;

  /** @param directory is made at the first line, for its owner alone */
  constructor(
    private readonly directory: string,
    { maxBytes = 64 * 1024 * 1024, segmentBytes = 1024 * 1024 }: SpoolOptions = {},
  ) {
    this.#maxBytes = maxBytes;
    this.#segmentBytes = Math.min(segmentBytes, maxBytes);
  }

  /**
   * Writes lines, synchronously. Never throws.
   *
   * @param lines without their line breaks
   */
  append(lines: readonly string[]): Appended {
    let lost = 0;
    let problem: unknown;
    let part: string[] = [];
    let bytes = 0;
    const attempt = (work: () => void) => {
      try {
        work();
      } catch (error) {
        problem ??= error;
        lost += weigh(part);
      }
      [part, bytes] = [[], 0];
    };
    for (const line of lines) {
      const size = Buffer.byteLength(line) + 1;
      if (this.#currentBytes + bytes + size > this.#segmentBytes) {
        attempt(() => this.#write(part));
        this.#current = undefined;
      }
      if (this.#current === undefined) attempt(() => (lost += this.#begin()));
      part.push(line);
      bytes += size;
    }
    attempt(() => this.#write(part));
    return problem === undefined ? { lost } : { lost, problem };
  }

  /** Takes the oldest file that nobody else has, or `undefined` where there is none. */
  take(): Segment | undefined {
    for (const name of this.#list()) {
      if (!this.#mayTake(name)) continue;
      const file = this.#at(name);
      if (file === this.#current) this.#current = undefined;
      const taken = this.#at(`${stampOf(name)}.${this.#me}${TAKEN}`);
      // It is missing where another process was faster.
      const segment = unlessMissing(() => {
        if (lstatSync(file).size > MAX_SEGMENT_BYTES || !lstatSync(file).isFile()) return undefined;
        renameSync(file, taken);
        return this.#open(taken);
      });
      if (segment) return segment;
    }
    return undefined;
  }

  /** Leaves what it has written to whoever comes next, of this process too. */
  release(): void {
    this.#current = undefined;
    for (const name of this.#list()) {
      if (name.split('.')[1] !== this.#me) continue;
      const left = `${stampOf(name)}.${HOST}-0-${randomUUID().slice(0, 8)}${WAITING}`;
      unlessMissing(() => renameSync(this.#at(name), this.#at(left)));
    }
  }

  #open(file: string): Segment {
    const text = readTextSync(file);
    const read = Buffer.byteLength(text);
    const putBack = () =>
      unlessMissing(() => renameSync(file, file.slice(0, -TAKEN.length) + WAITING));
    return {
      lines: text.split('\n').filter((line) => line !== ''),
      putBack,
      done: () =>
        unlessMissing(() => {
          // Its writer may have had it open.
          if (statSync(file).size > read) putBack();
          else rmSync(file);
        }),
    };
  }

  /** Begins a file, once there is room for it. */
  #begin(): number {
    const stamp = `${String(Date.now()).padStart(15, '0')}-${String(this.#begun).padStart(6, '0')}`;
    this.#begun += 1;
    makePrivate(this.directory);
    const dropped = this.#makeRoom();
    this.#current = this.#at(`${stamp}.${this.#me}${WAITING}`);
    this.#currentBytes = 0;
    return dropped;
  }

  #write(lines: readonly string[]): void {
    if (lines.length === 0) return;
    if (this.#current === undefined) throw new Error('there is no file to write to');
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const descriptor = openPrivately(this.#current, 'append');
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
      this.#currentBytes += bytes.length;
    } catch (error) {
      // What comes next must not stand behind half of a line, and what is lost must not come later.
      ftruncateSync(descriptor, this.#currentBytes);
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }

  /** Removes the oldest files until another one fits, and says how many lines they had. */
  #makeRoom(): number {
    const files = this.#list().map((name) => ({ name, bytes: sizeOf(this.#at(name)) }));
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    let lines = 0;
    for (const { name, bytes } of files) {
      if (total + this.#segmentBytes <= this.#maxBytes) break;
      if (name.endsWith(TAKEN)) continue;
      total -= bytes;
      unlessMissing(() => {
        const gone = this.#at(`${stampOf(name)}.${this.#me}${TAKEN}`);
        renameSync(this.#at(name), gone);
        lines += weigh(readTextSync(gone).split('\n').slice(0, -1));
        rmSync(gone);
      });
    }
    return lines;
  }

  #mayTake(name: string): boolean {
    const owner = name.split('.')[1] ?? '';
    if (owner === this.#me) return name.endsWith(WAITING);
    const [host, pid] = owner.split('-');
    if (host === HOST) return !isRunning(Number(pid));
    const stats = statSync(this.#at(name), { throwIfNoEntry: false });
    return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) > STALE_MS;
  }

  /** Oldest first. */
  #list(): string[] {
    const names = unlessMissing(() => readdirSync(this.directory)) ?? [];
    return names.filter((name) => NAME.test(name)).toSorted();
  }

  #at(name: string): string {
    return path.join(this.directory, name);
  }
}

/** How many spans lines stand for: what says how many are missing stands for them. */
function weigh(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Number(MISSING.exec(line)?.[1] ?? 1), 0);
}

/** In the text of another field, quotes are escaped. */
const MISSING = /"sizes":\{"missing":(\d{1,15})\}/u;

/** Process ids mean something on one machine only, and in one container. */
const HOST = hash('sha256', hostname()).slice(0, 8);
const NAME = /^\d{15}-\d{6}\.[0-9a-f]{8}-\d+-[0-9a-f]{8}\.(?:jsonl|sending)$/u;

function stampOf(name: string): string {
  return name.split('.')[0] ?? '';
}

/** Whether there is such a process on this machine. None has the number 0: what bears it was left. */
export function isRunning(pid: number): boolean {
  try {
    if (pid === 0) return false;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
