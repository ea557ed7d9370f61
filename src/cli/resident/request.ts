import type { DialectName } from '../../protocol/types.js';
import { DIALECT_NAMES } from '../../protocol/types.js';

/** What a client says. One connection carries one of them, and its answer. */
export interface ResidentRequest {
  /** The agent, whose event `input` is; or what the user wants of the resident. */
  readonly wants: DialectName | 'status' | 'stop';
  /** The directory of the agent. */
  readonly cwd: string;
  /** All else that a process inherits, as the client sees it. */
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: Buffer;
}

const SEPARATOR = '\0';
const END_OF_HEAD = Buffer.from('\0\0');

/**
 * Reads what a client has written: what it wants, its directory and its state, and then its variables as `NAME=value`,
 * each ended by a NUL; one more NUL, and the event.
 *
 * @returns `undefined` for anything else
 */
export function readRequest(bytes: Buffer): ResidentRequest | undefined {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end < 0) return undefined;
  const [wants = '', cwd = '', state = '', ...variables] = bytes
    .subarray(0, end)
    .toString()
    .split(SEPARATOR);
  if (!isWanted(wants) || !cwd.startsWith('/')) return undefined;
  const env: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const variable of variables) {
    const at = variable.indexOf('=', 1);
    if (at < 0) return undefined;
    env[variable.slice(0, at)] = variable.slice(at + 1);
  }
  const input = bytes.subarray(end + END_OF_HEAD.length);
  return { wants, cwd, state, env: { ...env }, input };
}

function isWanted(text: string): text is ResidentRequest['wants'] {
  return (
    text === 'status' || text === 'stop' || (DIALECT_NAMES as readonly string[]).includes(text)
  );
}

/** Says that the event was heard, or that it is still being answered. */
export const STILL_HERE = '.';

/** What the client is to print, and its exit code. */
export function formatReply(exitCode: number, out: string, err: string): Buffer {
  const [said, aside] = [Buffer.from(out), Buffer.from(err)];
  return Buffer.concat([Buffer.from(`=${exitCode} ${said.length} ${aside.length}\n`), said, aside]);
}
