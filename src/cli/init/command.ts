import { Option } from 'commander';
import { DIALECT_NAMES, HookEventName } from '../../protocol/types.js';
import type { CommandSpec } from '../shared/addCommand.js';
import { cwdOption, jsonOption } from '../shared/options.js';

export const initCommand: CommandSpec = {
  name: 'init',
  description: 'Write a first working hook for a project, with an event to test it',
  options: [
    new Option('--language <language>', 'what the hook is written in, and all that it needs')
      .choices(['bash', 'node', 'python', 'typescript'])
      .default('node'),
    new Option('--event <event>', 'what the hook waits for')
      .choices(Object.values(HookEventName))
      .default(HookEventName.BeforeTool),
    new Option('--name <name>', 'what the hook and its files are called; for a second one'),
    new Option(
      '--matcher <expression>',
      'for which tools a hook of BeforeTool or AfterTool runs, such as ^run_shell_command$',
    ),
    new Option('--dialect <agent>', 'write it for another agent as well, with its names').choices(
      DIALECT_NAMES,
    ),
    cwdOption,
    jsonOption,
  ],
  notes: 'Adds to .llxprt/settings.json, and changes no file or hook that is there already.',
  exitCodes: `0 written; 1 a file could not be written; 2 wrong usage, the hook is there already, or a link leads
out of the project`,
  example: 'hookstack init --language python',
  load: async () => (await import('./init.js')).init,
};
