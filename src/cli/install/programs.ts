import path from 'node:path';
import { readGuardedFile } from '../../util/guardedFile.js';
import { CLIENT, ownCommandOf } from '../shared/ownHook.js';
import { UsageError } from '../shared/usageError.js';
import type { FileChange } from './changes.js';
import type { Dialect } from '../../dialects/dialect.js';
import type { OwnEntry } from './entries.js';
import plugin from './opencodePlugin.mjs?raw';

interface Planned {
  readonly changes: readonly FileChange[];
  readonly notes: readonly string[];
}

interface Whose extends Pick<Dialect, 'agent' | 'refusal'> {
  readonly undo: boolean;
}

/**
 * For an agent whose hooks are programs in a folder, each with the name of its event. A program of somebody else stays,
 * and is told.
 *
 * @throws UsageError where one cannot be read, or somebody else may write it
 */
export async function planPrograms(
  folder: string,
  events: readonly string[],
  entryOf: (event: string) => OwnEntry,
  { agent, refusal, undo }: Whose,
): Promise<Planned> {
  const notes: string[] = [];
  const changes: FileChange[] = [];
  for (const event of events) {
    const file = path.join(folder, event);
    const { command } = entryOf(event);
    const before = await readProgram(file);
    const isOther = before !== undefined && ownCommandOf(before) === undefined;
    if (isOther && !undo) {
      notes.push(
        `${file} is left as it is: ${agent} has one program for an event; call "${command}" in it`,
      );
    }
    if (isOther) continue;
    const after = undo ? undefined : programOf(command, refusal);
    changes.push({ file, before, after, mode: 0o755 });
  }
  return { changes, notes };
}

/**
 * The same for an agent that runs no commands, but modules.
 *
 * @param command where the program is in the project, it begins with that folder
 */
export async function planPlugin(
  file: string,
  command: string,
  { agent, undo }: Whose,
): Promise<Planned> {
  const before = await readProgram(file);
  const isOther = before !== undefined && !before.startsWith(FIRST_LINE);
  const note = `${file} is left as it is, as it is no module of hookstack: ${agent} runs each file there, so move it`;
  if (isOther) return { changes: [], notes: undo ? [] : [note] };
  const [folder = ''] = /^.*\//.exec(command) ?? [];
  const after = undo ? undefined : plugin.replace("FOLDER = ''", `FOLDER = '${folder}'`);
  return { changes: [{ file, before, after, mode: 0o644 }], notes: [] };
}

const [FIRST_LINE = ''] = plugin.split('\n');

/** What a program or a module of ours starts; `undefined` for those of somebody else. */
export function commandIn(text: string): string | undefined {
  if (!text.startsWith(FIRST_LINE)) return ownCommandOf(text);
  const [, folder = ''] = /^const FOLDER = '(.*)';$/mu.exec(text) ?? [];
  return `${folder}${CLIENT}`;
}

/** An agent for which no exit code refuses anything is told in its own words that hookstack is missing. */
function programOf(command: string, refusal: Whose['refusal']): string {
  const [start, isStrict] = command.split(' || ');
  const missing = JSON.stringify(refusal?.('Blocked, as hookstack cannot be started'));
  const text = isStrict === undefined ? `exec ${start}` : `${start} || echo '${missing}'`;
  return `#!/bin/sh\n${text}\n`;
}

async function readProgram(file: string): Promise<string | undefined> {
  const reading = await readGuardedFile(file, { groupMayWrite: true });
  if (reading.status === 'refused') throw new UsageError(`${file}: ${reading.reason}`);
  return reading.status === 'read' ? reading.text : undefined;
}
