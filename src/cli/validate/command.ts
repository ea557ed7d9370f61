import type { Command } from 'commander';
import { jsonOption } from '../shared/options.js';
import type { ValidateCommandOptions } from './validate.js';

export function addValidate(program: Command): void {
  program
    .command('validate')
    .description('Check settings files, and tell where what is wrong; starts nothing')
    .argument('[file...]', 'what to check; default the settings of project, user and system')
    .option('--cwd <dir>', 'the project; default the current directory, or where a file belongs')
    .option('--trust', 'take the project as trusted: all keys of its settings count')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Exit codes: 0 nothing, or warnings only; 1 errors; 2 wrong usage

Example:
  $ hookstack validate .llxprt/settings.json`,
    )
    .action(async (files: readonly string[], options: ValidateCommandOptions) => {
      const { validate } = await import('./validate.js');
      process.exitCode = await validate(files, options);
    });
}
