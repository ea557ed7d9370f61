import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption, workspaceOptions } from '../shared/options.js';

export const testCommand: CommandSpec = {
  name: 'test',
  description: 'Fire recorded events, and compare what the hooks say with what is expected',
  arguments: {
    '[path...]': '*.hooktest.json files, or directories with some; default the project',
  },
  options: [
    ...workspaceOptions,
    new Option('-u, --update', 'write what the hooks say into the expectations that differ'),
    new Option('--watch', 'run again when a test, a script or settings change; ^C ends').conflicts([
      'json',
      'update',
    ]),
    new Option('--junit <file>', 'write the results as JUnit XML as well'),
    jsonOption,
  ],
  exitCodes:
    '0 all as expected, or made so with -u; 1 not all; 2 wrong usage or settings, or no file found',
  example: 'hookstack test .llxprt/hooks --trust',
  load: async () => (await import('./test.js')).test,
};
