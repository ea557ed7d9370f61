import { createHash } from 'node:crypto';
import { closeSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { openPrivately } from '../trace/privateFile.js';
import { errorMessage } from '../util/errorMessage.js';
import { readTextSync } from '../util/guardedRead.js';
import { unlessMissing } from '../util/missing.js';
import { orUndefined } from '../util/paths.js';
import { ownFolder, sessionFolder, SESSIONS } from '../util/privateFolder.js';
import { isRecord } from '../util/records.js';
import { addTo, newUse, type PromptUse, type SessionUse, type UseEntry } from './promptUse.js';

/** Bytes of a file beyond which no more answers are remembered; and beyond which it is not read. */
const MAX_WITH_ANSWERS = 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * In a file for each session, as each of its events may have a process of its own. An entry is a line that is appended as
 * a whole, so that none is lost where several processes write.
 */
export class UseInFiles implements PromptUse {
  read(session: string): SessionUse {
    const use = newUse();
    for (const line of this.#text(session).split('\n')) {
      const entry = readEntry(line);
      if (entry) addTo(use, entry);
    }
    return use;
  }

  note(session: string, entry: UseEntry): void {
    if ('said' in entry && this.#text(session).length > MAX_WITH_ANSWERS) return;
    usable(() => {
      const file = openPrivately(path.join(sessionFolder(), nameOf(session)), 'append');
      try {
        // Also behind a line that was not written to its end.
        writeSync(file, `\n${JSON.stringify(entry)}\n`);
      } finally {
        closeSync(file);
      }
    });
  }

  forget(session: string): void {
    orUndefined(() => rmSync(path.join(ownFolder(SESSIONS), nameOf(session)), { force: true }));
  }

  #text(session: string): string {
    return usable(() => {
      const file = path.join(sessionFolder(), nameOf(session));
      return unlessMissing(() => readTextSync(file, { maxBytes: MAX_BYTES })) ?? '';
    });
  }
}

function nameOf(session: string): string {
  return `${createHash('sha256').update(session).digest('hex')}.prompts`;
}

function readEntry(line: string): UseEntry | undefined {
  const value: unknown = line === '' ? undefined : orUndefined(() => JSON.parse(line) as unknown);
  if (!isRecord(value)) return undefined;
  const { tokens, key, said } = value;
  if (typeof tokens === 'number') return { tokens };
  return typeof key === 'string' && typeof said === 'string' ? { key, said } : undefined;
}

function usable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const why = `it was not asked, as what it uses in a session cannot be kept: ${errorMessage(error)}`;
    throw new Error(why, { cause: error });
  }
}
