import type { StartOptions } from '../process/command/execution.js';
import { endGroup } from '../process/command/processGroup.js';
import { firstOf } from '../process/command/runCommand.js';
import {
  hasExited,
  leaveRoom,
  setReferenced,
  untrackGroup,
  type RunningCommand,
} from '../process/command/runningCommand.js';
import { startCommand, startWithRoom } from '../process/command/startCommand.js';
import { errorMessage } from '../util/errorMessage.js';
import type { Transport } from './sdk.js';

/** Ms that a server has to end once its stdin has ended, and then again after SIGTERM. */
const FAREWELL_MS = 500;
const GRACE_MS = 2_000;

/** Characters of stderr that are kept for a message: its end. */
const KEPT_STDERR = 2_000;

const NEWLINE = 10;

/**
 * The process of an MCP server, in a group of its own, which ends with this process. One message is one line. What is no
 * object, such as a line for people, is left out.
 */
export class ProcessTransport implements Transport {
  onmessage: Transport['onmessage'];
  onclose: Transport['onclose'];
  onerror: Transport['onerror'];
  #command: RunningCommand | undefined;
  #pieces: Buffer[] = [];
  #length = 0;
  #stderr = '';
  #isReferenced = false;
  #closing: Promise<void> | undefined;

  /** @param maxBytes of one message; a server that writes more is ended */
  constructor(
    private readonly options: StartOptions,
    private readonly maxBytes: number,
  ) {}

  /** What the server last wrote to stderr. */
  get stderr(): string {
    return this.#stderr.trim();
  }

  /** @throws Error that says why the program cannot be started */
  async start(): Promise<void> {
    const command = await startWithRoom(
      () => startCommand(this.options),
      () => Promise.resolve('no time to wait'),
    );
    this.#command = command;
    const { stdin, stdout, stderr } = command.subprocess;
    for (const pipe of [stdin, stdout, stderr]) pipe.on('error', () => undefined);
    stdout.on('data', (chunk: Buffer) => this.#hear(chunk));
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_STDERR);
    });
    setReferenced(command.subprocess, this.#isReferenced);
    void command.exited.then(() => this.close());
    // Ended while it was started.
    if (this.#closing) await this.#endProcess(command);
  }

  async send(message: unknown): Promise<void> {
    const { stdin } = this.#command?.subprocess ?? {};
    if (!stdin?.writable) throw new Error('it takes no messages any more');
    const isTaken = stdin.write(`${JSON.stringify(message)}\n`);
    if (isTaken) return;
    await new Promise<void>((resolve) => {
      stdin.once('drain', resolve).once('close', resolve);
    });
  }

  /** Says whether this process stays alive for the server. */
  setReferenced(isReferenced: boolean): void {
    this.#isReferenced = isReferenced;
    if (this.#command) setReferenced(this.#command.subprocess, isReferenced);
  }

  /** Ends the server with all that it has started. */
  close(): Promise<void> {
    // Whoever hears of the end may close it again.
    return (this.#closing ??= Promise.resolve().then(() => this.#close()));
  }

  async #close(): Promise<void> {
    const command = this.#command;
    this.#pieces = [];
    this.onclose?.();
    if (command) await this.#endProcess(command);
  }

  async #endProcess({ subprocess, group, exited }: RunningCommand): Promise<void> {
    subprocess.stdin.end();
    if (!hasExited(subprocess)) await firstOf(exited, { timeoutMs: FAREWELL_MS });
    await endGroup(group, GRACE_MS);
    for (const pipe of subprocess.stdio) pipe?.destroy();
    untrackGroup(group);
    leaveRoom();
  }

  #hear(chunk: Buffer): void {
    let rest = chunk;
    while (!this.#closing) {
      const end = rest.indexOf(NEWLINE);
      const piece = end < 0 ? rest : rest.subarray(0, end);
      this.#pieces.push(piece);
      this.#length += piece.length;
      if (this.#length > this.maxBytes) {
        this.#fail(`it wrote a message of more than ${this.maxBytes} bytes`);
        return;
      }
      if (end < 0) return;
      const line = Buffer.concat(this.#pieces).toString();
      [this.#pieces, this.#length] = [[], 0];
      if (line.startsWith('{')) this.#read(line);
      rest = rest.subarray(end + 1);
    }
  }

  #read(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch (error) {
      this.#fail(`it wrote a message that is no JSON: ${errorMessage(error)}`);
      return;
    }
    this.onmessage?.(message as never);
  }

  #fail(why: string): void {
    this.onerror?.(new Error(why));
    void this.close();
  }
}
