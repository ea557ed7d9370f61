import path from 'node:path';
import type { Config } from '../../config/config.js';
import { failsClosed } from '../../protocol/events.js';
import { readTextSync } from '../../util/guardedRead.js';
import { writeAtomically } from '../../util/writeAtomically.js';

/** Stands for all projects. */
const EVERYWHERE = '/';

/**
 * Notes beside the socket in which projects a guard is configured, for a client that can start nothing which could ask
 * it: a folder on each line.
 */
export function noteGuards(folder: string, config: Config): Promise<void> {
  // One after the other, as each reads what the one before has written.
  noting = noting.then(() => note(folder, config)).catch(() => undefined);
  return noting;
}

let noting = Promise.resolve();

async function note(folder: string, config: Config): Promise<void> {
  const system = config.getHookSystem();
  await system?.initialize();
  const guards = (system?.getAllHooks() ?? []).filter(
    ({ enabled, config: hook, eventName }) => enabled && failsClosed(hook, eventName),
  );
  const project = config.getWorkingDir();
  const wanted = new Map([[project, guards.some(({ config: hook }) => hook.scope === 'project')]]);
  // Where hooks are off for one project, nothing is known of the others.
  if (system)
    wanted.set(
      EVERYWHERE,
      guards.some(({ config: hook }) => hook.scope !== 'project'),
    );
  const file = path.join(folder, 'guards');
  const text = readNotes(file);
  const lines = new Set(text.split('\n').filter((line) => line !== ''));
  for (const [place, hasGuards] of wanted) {
    if (place.includes('\n')) continue;
    if (hasGuards) lines.add(place);
    else lines.delete(place);
  }
  const updated = [...lines].map((line) => `${line}\n`).join('');
  if (updated !== text) await writeAtomically(file, updated, 0o600);
}

/** In a folder of the resident's own: no drive that is gone is waited for. */
function readNotes(file: string): string {
  try {
    return readTextSync(file);
  } catch {
    return '';
  }
}
