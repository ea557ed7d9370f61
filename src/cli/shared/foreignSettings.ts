import path from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import { readJsonFile } from '../../util/jsonFile.js';
import { isRecord } from '../../util/records.js';
import { printNotice } from './terminal.js';

/** Tells of hooks that stand in the settings of another agent: whoever has no others may wait for these. */
export async function tellForeignHooks(project: string): Promise<void> {
  for (const [name, { agent, settings }] of Object.entries(dialects)) {
    for (const file of [...settings.files, ...(settings.localFiles ?? [])]) {
      if (!(await holdsHooks(path.join(project, file)))) continue;
      printNotice(
        'note',
        `nothing runs the hooks that ${file} has for ${agent}; to take them over: hookstack migrate --from ${name}`,
      );
      break;
    }
  }
}

async function holdsHooks(file: string): Promise<boolean> {
  const reading = await readJsonFile(file, { groupMayWrite: true });
  if (reading.status !== 'read') return false;
  const { hooks } = reading.value;
  return isRecord(hooks) && Object.keys(hooks).length > 0;
}
