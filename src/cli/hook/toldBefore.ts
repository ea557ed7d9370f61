import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { errorCode } from '../../util/errorMessage.js';
import { makePrivate, ownFolder } from '../shared/privateFolder.js';

/** At most this many notes are remembered, of all sessions; then the older half is forgotten. */
const MAX_NOTES = 1000;

/**
 * Whether a note has not been asked about before in a session, of which each event has a process of its own. What cannot
 * be remembered counts as new: it is told again rather than never.
 *
 * @param sessionId as the agent says; without one, all is new
 */
export function isNewInSession(sessionId: string | undefined, note: string): boolean {
  if (sessionId === undefined) return true;
  const name = createHash('sha256').update(`${sessionId}\n${note}`).digest('hex');
  try {
    return makeFile(path.join(openFolder(), name));
  } catch {
    return true;
  }
}

function openFolder(): string {
  const folder = ownFolder('told');
  makePrivate(folder);
  forgetOld(folder);
  return folder;
}

/** An empty file is enough. It is made, or there already; a link is not followed. */
function makeFile(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    return errorCode(error) !== 'EEXIST';
  }
}

function forgetOld(folder: string): void {
  const names = readdirSync(folder);
  if (names.length < MAX_NOTES) return;
  const files = names.map((name) => path.join(folder, name));
  const byAge = files.map((file) => ({ file, at: lstatSync(file).mtimeMs }));
  const older = byAge.toSorted((a, b) => a.at - b.at).slice(0, names.length - MAX_NOTES / 2);
  for (const { file } of older) rmSync(file, { force: true });
}
