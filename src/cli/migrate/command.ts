import { Option } from 'commander';
import { DIALECT_NAMES } from '../../protocol/types.js';
import type { CommandSpec } from '../shared/addCommand.js';
import { cwdOption, jsonOption } from '../shared/options.js';

export const migrateCommand: CommandSpec = {
  name: 'migrate',
  description: 'Take over the hooks of another agent',
  options: [
    new Option('--from <agent>', 'whose settings to read').choices([...DIALECT_NAMES]),
    new Option('--scope <scope>', 'whose hooks to take over')
      .choices(['project', 'local', 'user', 'all'])
      .default('project'),
    new Option('--dry-run', 'show what would change as a diff, and write nothing'),
    cwdOption,
    jsonOption,
  ],
  notes: `Reads .claude/settings.json or .gemini/settings.json, and adds their hooks to .llxprt/settings.json: those of
the project (project), those of .claude/settings.local.json into the file of the project (local), those in
your home directory (user), or of the project and the home directory (all). The scripts stay as they are.
What is there already is never changed; what cannot be carried over is listed with its line.`,
  exitCodes: `0 done, also where there was nothing to do; 1 a file could not be written, or only
plugins in the project have hooks, which are not taken over;
2 wrong usage, settings that cannot be read, or a link leads out of the project`,
  example: 'hookstack migrate --from claude --dry-run',
  load: async () => (await import('./migrate.js')).migrate,
};
