import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { HOOK_SCOPES } from '../../protocol/types.js';
import { cwdOption, jsonOption } from '../shared/options.js';

const common = {
  arguments: { '[name]': 'the name of the hook, or its command where it has none' },
  options: [
    new Option('--all', 'all hooks, in place of a name'),
    new Option('--scope <scope>', 'whose hook, where several have the name').choices([
      ...HOOK_SCOPES,
    ]),
    new Option('--project', "change the project's settings").conflicts('user'),
    new Option('--user', "change the user's settings"),
    cwdOption,
    jsonOption,
  ],
};

export const enableCommand: CommandSpec = {
  ...common,
  name: 'enable',
  description: 'Take a hook, or all, out of disabledHooks of the project and the user',
  exitCodes:
    '0 not disabled any more; 1 still disabled elsewhere, or a file cannot be changed; 2 wrong usage, or no such hook',
  example: 'hookstack enable protect-env',
  load: async () => (await import('./switchHook.js')).enable,
};

export const disableCommand: CommandSpec = {
  ...common,
  name: 'disable',
  description: 'Add a hook, or all, to disabledHooks',
  notes:
    "Without --project or --user: the project's settings for a hook of the project, else the user's. Where hooks of several scopes have the name, it asks whose is meant; without a terminal, say it with --scope.",
  exitCodes:
    '0 disabled; 1 the file cannot be changed, or does not count before hookstack trust; 2 wrong usage, or no such hook',
  example: 'hookstack disable protect-env --user',
  load: async () => (await import('./switchHook.js')).disable,
};
