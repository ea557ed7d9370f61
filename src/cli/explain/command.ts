import { Option } from 'commander';
import { HookEventName } from '../../protocol/types.js';
import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption, workspaceOptions } from '../shared/options.js';

export const explainCommand: CommandSpec = {
  name: 'explain',
  description: 'Say which hooks an event would run, and why not the others; starts nothing',
  arguments: { '<event>': 'what happens' },
  choices: Object.values(HookEventName),
  options: [
    ...workspaceOptions,
    new Option('--tool <name>', 'the tool of BeforeTool and AfterTool'),
    jsonOption,
  ],
  exitCodes: '0 explained; 2 wrong usage, or settings that count and cannot be read',
  example: 'hookstack explain BeforeTool --tool write_file',
  load: async () => (await import('./explain.js')).explain,
};
