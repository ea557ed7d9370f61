import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption } from '../shared/options.js';

export const validateCommand: CommandSpec = {
  name: 'validate',
  description: 'Check settings files, and tell where what is wrong; starts nothing',
  arguments: { '[file...]': 'what to check; default the settings of project, user and system' },
  options: [
    new Option(
      '--cwd <dir>',
      'where to look for the project; default the current directory, or where a file belongs',
    ),
    new Option('--trust', 'take the project as trusted: all keys of its settings count'),
    jsonOption,
  ],
  exitCodes: '0 nothing, or warnings only; 1 errors; 2 wrong usage',
  example: 'hookstack validate .llxprt/settings.json',
  load: async () => (await import('./validate.js')).validate,
};
