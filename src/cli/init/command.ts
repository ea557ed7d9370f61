import { Option, type Command } from 'commander';
import { cwdOption, jsonOption } from '../shared/options.js';
import { HookEventName } from '../../protocol/types.js';
import type { InitOptions } from './init.js';

export function addInit(program: Command): void {
  program
    .command('init')
    .description('Write a first working hook for a project, with an event to test it')
    .addOption(
      new Option('--language <language>', 'what the hook is written in')
        .choices(['bash', 'node', 'python'])
        .default('node'),
    )
    .addOption(
      new Option('--event <event>', 'what the hook waits for')
        .choices(Object.values(HookEventName))
        .default(HookEventName.BeforeTool),
    )
    .addOption(cwdOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Adds to .llxprt/settings.json, and changes no file or hook that is there already.

Exit codes: 0 written; 1 a file could not be written; 2 wrong usage, or the hook is there already

Example:
  $ hookstack init --language python`,
    )
    .action(async (options: InitOptions) => {
      const { init } = await import('./init.js');
      await init(options);
    });
}
