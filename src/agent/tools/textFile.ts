import { isUtf8 } from 'node:buffer';
import fs from 'node:fs/promises';
import { fail, type Outcome } from './outcome.js';
import { ToolErrorType } from '../../tools/tools.js';
import { failUnlessFile, type WorkspacePath } from './workspace.js';

const MAX_BYTES = 10 * 1024 * 1024;

/** Reads a whole file of at most 10 MiB as UTF-8, a byte order mark included. */
export async function readTextFile(target: WorkspacePath): Promise<Outcome<string>> {
  const failure = await failUnlessFile(target);
  if (failure) return { failure };

  const { size } = await fs.stat(target.real);
  if (size > MAX_BYTES) {
    return {
      failure: fail(
        ToolErrorType.Failed,
        `${target.shown} is too large: ${size} bytes, and at most ${MAX_BYTES} are read.`,
        'Look at a part of it with run_shell_command, such as with head, tail, sed or grep.',
      ),
    };
  }
  const value = decodeText(await fs.readFile(target.real));
  if (value !== undefined) return { value };
  return {
    failure: fail(
      ToolErrorType.Failed,
      `${target.shown} is not UTF-8 text.`,
      'Examine it with run_shell_command, such as with file, xxd or iconv.',
    ),
  };
}

/** The text that the bytes hold, or `undefined` when they are not UTF-8 or contain a NUL byte. */
export function decodeText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined;
}
