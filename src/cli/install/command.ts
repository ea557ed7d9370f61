import { Option } from 'commander';
import { DIALECT_NAMES } from '../../protocol/types.js';
import type { CommandSpec } from '../shared/addCommand.js';
import { cwdOption, jsonOption } from '../shared/options.js';

export const installCommand: CommandSpec = {
  name: 'install',
  description: 'Have another agent run all hooks of the project',
  options: [
    new Option('--into <agent>', 'whose settings to write').choices([...DIALECT_NAMES]),
    new Option('--strict', 'have the agent blocked where hookstack cannot be started'),
    new Option('--undo', 'take it out of the settings again'),
    new Option('--scope <scope>', 'whose settings: those of the project, yours in it, or your own')
      .choices(['project', 'local', 'user'])
      .default('project'),
    new Option('--dry-run', 'show what would change as a diff, and write nothing'),
    cwdOption,
    jsonOption,
  ],
  notes: `Writes the command "hookstack-hook", with the agent's name, into .claude/settings.json or .gemini/settings.json, for
each event of that agent that is an event here. Everything else in the file stays.`,
  exitCodes: `0 done, also where there was nothing to do; 1 the file could not be written;
2 wrong usage, settings that cannot be read, or a link leads out of the project`,
  example: 'hookstack install --into claude --dry-run',
  load: async () => (await import('./install.js')).install,
};
