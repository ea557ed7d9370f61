import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** A line that a persistent hook writes. */
export interface AnswerLine {
  readonly id?: unknown;
  readonly output?: object;
  readonly stdout?: string;
  readonly exitCode?: number;
  readonly stderr?: string;
  readonly last?: boolean;
}

/** A script that is spoken to as a host speaks to a persistent hook, by nothing but pipes. */
export class KeptProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly stderr: Promise<string>;
  readonly #lines: AsyncIterator<string>;
  readonly #closed: Promise<unknown[]>;
  #id = 0;

  constructor(command: string, args: readonly string[], cwd: string) {
    const env = { ...process.env, HOOKSTACK_PERSISTENT: '1' };
    this.child = spawn(command, args, { cwd, env });
    this.child.stdin.on('error', () => undefined);
    this.stderr = text(this.child.stderr);
    this.#closed = once(this.child, 'close');
    this.#lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /** The next line of its stdout; `undefined` at the end. */
  async line(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next();
    return done ? undefined : value;
  }

  async answer(): Promise<AnswerLine | undefined> {
    const line = await this.line();
    return line === undefined ? undefined : (JSON.parse(line) as AnswerLine);
  }

  write(line: string): void {
    this.child.stdin.write(line);
  }

  /** Sends an event, and reads its answer. */
  async ask(input: unknown): Promise<AnswerLine | undefined> {
    this.#id += 1;
    this.write(`${JSON.stringify({ id: this.#id, input })}\n`);
    return this.answer();
  }

  /** Ends its stdin; resolves to its exit code, or `null` where a signal ended it. */
  async end(): Promise<unknown> {
    this.child.stdin.end();
    return this.ended();
  }

  async ended(): Promise<unknown> {
    const [exitCode] = await this.#closed;
    return exitCode;
  }
}
