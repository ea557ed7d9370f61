import { MAX_KEPT_BYTES } from '../command/limits.js';
import { NOT_RUN, type CommandOutcome } from '../command/outcome.js';
import { releaseMemory } from '../command/reading.js';
import type { Interruption } from '../command/runCommand.js';
import { decode, isBlank, LINE_FEED, startOfText, type Answer } from './lines.js';

/** The first line of a stdout that is not empty. */
export interface FoundLine {
  /** Without its end; of one that is too long, the beginning. */
  readonly line: string;
  readonly isTooLong: boolean;
  /** Whether nothing that says anything came behind it. */
  readonly isAll: boolean;
}

/** Why a process has to end: as the end of "The hook …", or because its event is over. */
export interface Failure {
  readonly broken?: string;
  readonly signal?: NodeJS.Signals | null;
  /** How it failed to start. */
  readonly exitCode?: number | null;
  readonly interruption?: Interruption;
}

/** What a process writes from its start to its hello, or from an event to its answer. */
export class Exchange {
  #stdout: Buffer[] = [];
  #stdoutBytes = 0;
  #stderr: Buffer[] = [];
  #stderrBytes = 0;

  /**
   * @param maxBytes of the line that is to come
   * @param kept the process, where it was asked
   */
  constructor(
    readonly maxBytes: number,
    private readonly kept?: CommandOutcome['kept'],
  ) {}

  /** @returns `undefined` as long as there is no end of a line */
  readStdout(chunk: Buffer): FoundLine | undefined {
    this.#stdoutBytes += chunk.length;
    this.#stdout.push(chunk);
    const hasEnd = chunk.includes(LINE_FEED);
    if (!hasEnd && this.#stdoutBytes <= this.maxBytes) return undefined;
    const all = this.#stdout.length === 1 ? chunk : Buffer.concat(this.#stdout);
    const text = all.subarray(startOfText(all));
    this.#stdout = [text];
    const end = text.indexOf(LINE_FEED);
    if (end < 0 && text.length <= this.maxBytes) return undefined;
    const isTooLong = end < 0 || end > this.maxBytes;
    const line = decode(text.subarray(0, isTooLong ? this.maxBytes : end));
    return { line, isTooLong, isAll: !isTooLong && isBlank(text.subarray(end)) };
  }

  readStderr(chunk: Buffer): void {
    const room = Math.max(0, MAX_KEPT_BYTES - this.#stderrBytes);
    this.#stderrBytes += chunk.length;
    if (room > 0) this.#stderr.push(chunk.subarray(0, room));
    else releaseMemory(chunk);
  }

  answered({ exitCode, stdout, stderr }: Answer): CommandOutcome {
    const all = `${this.written}${stderr}`.slice(0, MAX_KEPT_BYTES);
    return Object.assign(this.#facts, { ending: 'exit', exitCode, stdout, stderr: all } as const);
  }

  failed({ broken, signal, exitCode = null, interruption }: Failure): CommandOutcome {
    const facts = { ...this.#facts, stderr: this.written };
    if (interruption) return { ...facts, ending: interruption };
    if (signal) return { ...facts, ending: 'signal', signal };
    return { ...facts, ending: 'broken', exitCode, error: new Error(broken) };
  }

  get #facts(): CommandOutcome {
    const bytesRead = this.#stdoutBytes + this.#stderrBytes;
    const facts = { ...NOT_RUN, bytesRead };
    const { kept } = this;
    return kept ? { kept, ...facts, inputTaken: true } : facts;
  }

  /** On stderr. */
  get written(): string {
    return this.#stderrBytes > 0 ? decode(Buffer.concat(this.#stderr)) : '';
  }
}
