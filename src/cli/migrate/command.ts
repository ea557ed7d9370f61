import { Option, type Command } from 'commander';
import { cwdOption, jsonOption } from '../shared/options.js';
import { DIALECT_NAMES } from '../../protocol/types.js';
import type { MigrateOptions } from './migrate.js';

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('Take over the hooks of another agent, of this project and of the user')
    .addOption(
      new Option('--from <agent>', 'whose settings to read')
        .choices([...DIALECT_NAMES])
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'show what would change, and write nothing')
    .addOption(cwdOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Reads .claude/settings.json and .claude/settings.local.json, or .gemini/settings.json, of the project
and the user, and adds their hooks to .llxprt/settings.json. The scripts stay as they are. What is there
already is never changed; what cannot be carried over is listed with its line.

Exit codes: 0 done, also where there was nothing to do; 1 a file could not be written;
2 wrong usage, or settings that cannot be read

Example:
  $ hookstack migrate --from claude --dry-run`,
    )
    .action(async (options: MigrateOptions) => {
      const { migrate } = await import('./migrate.js');
      await migrate(options);
    });
}
