import { DIALECT_NAMES, type DialectName } from '../../protocol/types.js';

/** What a client says. One connection carries one of them, and its answer. */
export interface ResidentRequest {
  /** The agent, whose event `input` is; or what the user wants of the resident. */
  readonly wants: DialectName | 'status' | 'stop';
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
  const [, wants = '', pid, space = ''] = line;
  if (!isWanted(wants)) return undefined;
  return { wants, pid: Number(pid), space, input: bytes.subarray(end + 1) };
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
  const line = Buffer.from(`=${exitCode} ${said.length} ${aside.length}\n`);
  return Buffer.concat([line, said, aside]);
}
