import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, errorMessage } from '../../util/errorMessage.js';
import { removeControls } from '../../protocol/sanitizeText.js';

/** Exit codes: the answer is on stdout, or the event is blocked for the reason on stderr. */
export const ANSWERED = 0;
export const BLOCKED = 2;

/**
 * What code of extensions prints goes to stderr: agents that find anything but one JSON object in stdout take it for a
 * text, and a text for a yes.
 */
export function keepStdout(): void {
  Object.defineProperty(process, 'stdout', { get: () => process.stderr, configurable: true });
}

/**
 * Without this, an output that is full or closed would end the process with a code that agents take for a yes. The stream
 * takes two milliseconds to open, and is opened when somebody wants it.
 */
export function surviveOutputs(): void {
  const open = Object.getOwnPropertyDescriptor(process, 'stderr')?.get?.bind(process);
  let stderr: typeof process.stderr | undefined;
  const openOnce = (): typeof process.stderr => {
    const opened: typeof process.stderr = (open as () => typeof process.stderr)();
    opened.removeAllListeners('error');
    return opened.on('error', () => undefined);
  };
  Object.defineProperty(process, 'stderr', {
    get: () => (stderr ??= openOnce()),
    configurable: true,
  });
}

interface Said {
  readonly out: string;
  readonly isSaid: boolean;
  /** Why hooks block. */
  readonly reason?: string | undefined;
}

/**
 * Writes the answer of the hooks. Where that fails, the event is blocked, unless they had nothing to say.
 *
 * @param beforeLong called before a text is written that does not fit into every pipe: that waits for who reads it
 * @returns the exit code
 */
export async function writeAnswer(
  { out, isSaid, reason }: Said,
  beforeLong: () => void,
): Promise<number> {
  const bytes = Buffer.from(out);
  if (bytes.length > MIN_PIPE_BYTES) beforeLong();
  const error = await writeOut(bytes);
  if (!error || !isSaid) return ANSWERED;
  const problem = `the answer of the hooks could not be written (${errorMessage(error)})`;
  return block([`Blocked, as ${problem}`, reason].filter(Boolean).join(': '));
}

/** Streams take a while to load, and this is the only text. @returns what went wrong */
async function writeOut(bytes: Buffer): Promise<unknown> {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') return error;
      // Whoever reads shares a pipe that does not wait.
      await sleep(FULL_MS);
    }
  }
  return undefined;
}

/** The system gives each pipe at least so much room. */
const MIN_PIPE_BYTES = 4096;

/** Ms until a pipe that was full is tried again. */
const FULL_MS = 5;

/** Says on stderr why an event is blocked, where agents look for it. */
export function block(text: string): number {
  process.stderr.write(`${removeControls(text)}\n`);
  return BLOCKED;
}
