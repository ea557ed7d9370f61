import { Option, type Command } from 'commander';
import { cwdOption, jsonOption } from '../shared/options.js';
import type { SwitchOptions } from './switchHook.js';

export function addEnable(program: Command): void {
  withSwitchOptions(program.command('enable'))
    .description('Take a hook out of disabledHooks of the project and the user')
    .addHelpText(
      'after',
      `
Exit codes: 0 not disabled any more; 1 still disabled elsewhere, or a file cannot be changed; 2 no such hook

Example:
  $ hookstack enable protect-env`,
    )
    .action(async (name: string, options: SwitchOptions) => {
      const { enable } = await import('./switchHook.js');
      process.exitCode = await enable(name, options);
    });
}

export function addDisable(program: Command): void {
  withSwitchOptions(program.command('disable'))
    .description('Add a hook to disabledHooks')
    .addHelpText(
      'after',
      `
Without --project or --user: the project's settings for a hook of the project, else the user's.

Exit codes: 0 disabled; 1 the file cannot be changed; 2 no such hook

Example:
  $ hookstack disable protect-env --user`,
    )
    .action(async (name: string, options: SwitchOptions) => {
      const { disable } = await import('./switchHook.js');
      process.exitCode = await disable(name, options);
    });
}

function withSwitchOptions(command: Command): Command {
  return command
    .argument('<name>', 'the name of the hook, or its command where it has none')
    .addOption(new Option('--project', "change the project's settings").conflicts('user'))
    .option('--user', "change the user's settings")
    .addOption(cwdOption())
    .addOption(jsonOption());
}
