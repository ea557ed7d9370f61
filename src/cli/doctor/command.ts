import type { Command } from 'commander';
import { type WorkspaceOptions, jsonOption, withWorkspaceOptions } from '../shared/options.js';

export function addDoctor(program: Command): void {
  withWorkspaceOptions(program.command('doctor'))
    .description('Run each hook once, in a scratch directory, and say what is wrong with it')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Exit codes: 0 nothing is wrong, though there may be warnings; 1 something is; 2 wrong usage or settings

Example:
  $ hookstack doctor --trust`,
    )
    .action(async (options: WorkspaceOptions) => {
      const { doctor } = await import('./doctor.js');
      process.exitCode = await doctor(options);
    });
}
