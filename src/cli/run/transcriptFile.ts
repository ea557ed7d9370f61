import { lstatSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/config.js';
import { errorMessage } from '../../util/errorMessage.js';
import { requireHome } from '../../util/home.js';
import { isInside, realPathOf } from '../../util/paths.js';
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
  const own = path.join(requireHome(), '.llxprt');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const sessions = path.join(realPathOf(own) ?? own, 'sessions');
  if (isInside(sessions, realPathOf(project) ?? project)) {
    throw new Error(`${sessions} is a part of the project`);
  }
  makePrivate(sessions);
  return sessions;
}

function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stats = lstatSync(folder);
  const isOwn = stats.uid === (process.getuid?.() ?? stats.uid);
  if (!stats.isDirectory() || !isOwn || (stats.mode & 0o022) !== 0) {
    throw new Error(`${folder} must be a folder of yours that nobody else can write, and no link`);
  }
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
