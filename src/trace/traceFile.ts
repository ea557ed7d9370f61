import { closeSync, lstatSync, writeFileSync } from 'node:fs';
import { DebugLogger } from '../util/debugLogger.js';
import { errorMessage } from '../util/errorMessage.js';
import { readStart } from '../util/guardedRead.js';
import type { HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import { notify } from '../util/notify.js';
import { openPrivately } from './privateFile.js';
import { toSpanRecord } from './record.js';
import { listenToSpans, type Span } from './span.js';

/** How a trace is written. */
export interface TraceFileOptions {
  /** Whose values are masked; see {@link toSpanRecord}. */
  readonly environment?: HookEnvironmentPolicy;
  /** Called once when the file cannot be written. The work goes on, without a trace. */
  readonly onProblem?: (message: string) => void;
}

/** A trace that is being written. */
export interface TraceFile {
  /** Writes what is left, and listens no more. Idempotent. */
  close(): void;
}

/**
 * Listens to the spans of this process, and appends each to a file when it ends: one JSON object a line. The file is
 * made where it is missing, and readable for the user alone. What was not written yet is written when the process ends.
 *
 * @param file path, and no link; one that cannot be written is reported to `onProblem`, and nothing is thrown
 */
export function traceToFile(file: string, options: TraceFileOptions = {}): TraceFile {
  return new TraceWriter(file, options);
}

class TraceWriter implements TraceFile {
  readonly #close = () => this.close();
  #descriptor: number | undefined;
  #lines: string[] = [];
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Immediate | undefined;

  constructor(
    private readonly file: string,
    private readonly options: TraceFileOptions,
  ) {
    try {
      requireTrace(file);
      this.#descriptor = openPrivately(file, 'append');
    } catch (error) {
      this.#giveUp(error);
      return;
    }
    this.#unsubscribe = listenToSpans((span) => this.#append(span));
    process.once('exit', this.#close);
  }

  close(): void {
    this.#flush();
    this.#stopListening();
  }

  /** A listener that throws would end the process. */
  #append(span: Span): void {
    try {
      this.#lines.push(`${JSON.stringify(toSpanRecord(span, this.options.environment))}\n`);
      this.#timer ??= setImmediate(() => this.#flush());
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** Synchronous, so that lines stay in order and none is lost when the process ends right after. */
  #flush(): void {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    if (this.#descriptor === undefined || this.#lines.length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    try {
      writeFileSync(this.#descriptor, text);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#lines = [];
    this.#stopListening();
    notify(
      new DebugLogger('llxprt:core:hooks'),
      this.options.onProblem,
      `The trace ${this.file} cannot be written (${errorMessage(error)}); the work goes on without it. Name a file that can be written`,
    );
  }

  #stopListening(): void {
    if (this.#descriptor === undefined) return;
    this.#unsubscribe?.();
    process.off('exit', this.#close);
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** What every line of a trace begins with. */
const BEGIN = '{"id":"';

/**
 * Refuses to append to a file of another kind. A project may set the environment from which the file's name comes, and a
 * trace holds text of models: appended to `~/.bashrc`, it would be run.
 */
function requireTrace(file: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size === 0) return;
  if (readStart(file, BEGIN.length).toString() !== BEGIN) {
    throw new Error('it holds something else than a trace');
  }
}
