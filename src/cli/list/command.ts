import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption, traceOption, workspaceOptions } from '../shared/options.js';

export const listCommand: CommandSpec = {
  name: 'list',
  description: 'List the configured hooks, and why some of them do not run',
  options: [
    ...workspaceOptions,
    traceOption('tell how often each hook has run, by this trace'),
    jsonOption,
  ],
  exitCodes: '0 listed; 2 wrong usage, or settings that count and cannot be read',
  example: 'hookstack list --trust',
  load: async () => (await import('./list.js')).list,
};
