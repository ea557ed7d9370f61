import { lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/config.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isInside, realPathOf } from '../../util/paths.js';
import { makePrivate, ownFolder } from '../shared/privateFolder.js';
import { printNotice, toVisible } from '../shared/terminal.js';

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const NAME = 'transcript.jsonl';

/** Also removes old ones. Default: one in the home directory, while there are hooks to read it; `false` for none. */
export function placeTranscript(config: Config, transcript: string | false | undefined): void {
  if (transcript === false) return;
  if (transcript !== undefined) return config.setTranscriptPath(path.resolve(transcript));
  const system = config.getHookSystem();
  const hasHooks = system?.isInitialized() && system.getAllHooks().some(({ enabled }) => enabled);
  if (!hasHooks) return;
  try {
    const sessions = openSessions(config.getWorkingDir());
    removeOld(sessions, Date.now() - KEPT_MS);
    const folder = path.join(sessions, config.getSessionId());
    makePrivate(folder);
    config.setTranscriptPath(path.join(folder, NAME));
  } catch (error) {
    const problem = `No transcript is written, and hooks get no path of one: ${errorMessage(error)}`;
    const advice = 'name a file with --transcript FILE, or say --no-transcript';
    printNotice('warning', toVisible(`${problem}; ${advice}`));
  }
}

/** It must be out of reach of what is done in the project. */
function openSessions(project: string): string {
  const sessions = ownFolder('sessions');
  if (isInside(sessions, realPathOf(project) ?? project)) {
    throw new Error(`${sessions} is a part of the project`);
  }
  makePrivate(sessions);
  return sessions;
}

/** Removes only what was made here. The transcript of a running session is younger. */
function removeOld(sessions: string, before: number): void {
  for (const session of readdirSync(sessions)) {
    const folder = path.join(sessions, session);
    try {
      const file = path.join(folder, NAME);
      if (!lstatSync(folder).isDirectory() || lstatSync(file).mtimeMs >= before) continue;
      unlinkSync(file);
      rmdirSync(folder);
    } catch {
      // Another session has removed it, or it holds other files.
    }
  }
}
