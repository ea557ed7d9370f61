import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption, workspaceOptions } from '../shared/options.js';

export const testCommand: CommandSpec = {
  name: 'test',
  description: 'Fire recorded events, and compare what the hooks say with what is expected',
  arguments: {
    '[path...]': '*.hooktest.json files, or directories with some; default the project',
  },
  options: [...workspaceOptions, jsonOption],
  exitCodes: '0 all as expected; 1 not all; 2 wrong usage or settings, or no file found',
  example: 'hookstack test .llxprt/hooks --trust',
  load: async () => (await import('./test.js')).test,
};
