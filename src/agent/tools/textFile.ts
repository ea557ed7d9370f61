import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import { readBytes } from '../../util/guardedRead.js';
import { failed } from './toolFailure.js';
import { requireKind, type WorkspacePath } from './workspace.js';

const MAX_BYTES = 10 * 1024 * 1024;

/** Keeps a byte order mark. Throws ToolFailure for what is no such file, or has over 10 MiB. */
export async function readTextFile(target: WorkspacePath): Promise<string> {
  await requireKind(target, 'file');
  const text = decodeText(await readSized(target));
  if (text !== undefined) return text;
  throw failed(
    `${target.shown} is not UTF-8 text.`,
    'Examine it with run_shell_command, such as with file, xxd or iconv.',
  );
}

async function readSized({ real, shown }: WorkspacePath): Promise<Buffer> {
  const objectTo = ({ size }: Stats) => {
    if (size <= MAX_BYTES) return undefined;
    throw failed(
      `${shown} is too large: ${size} bytes, and at most ${MAX_BYTES} are read.`,
      'Look at a part of it with run_shell_command, such as with head, tail, sed or grep.',
    );
  };
  return readBytes(real, { maxBytes: MAX_BYTES, objectTo });
}

/** `undefined` when the bytes are not UTF-8 or contain a NUL. */
export function decodeText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined;
}
