import type { Command } from 'commander';
import type { DoctorOptions } from '../doctor.js';
import { withWorkspaceOptions } from './options.js';

export function addDoctor(program: Command): void {
  withWorkspaceOptions(program.command('doctor'))
    .description('Run each hook once, in a scratch directory, and say what is wrong with it')
    .option('--json', 'write one JSON object')
    .addHelpText(
      'after',
      `
Exit codes: 0 nothing is wrong, though there may be warnings; 1 something is; 2 wrong usage or settings

Example:
  $ hookstack doctor --trust`,
    )
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('../doctor.js');
      process.exitCode = await doctor(options);
    });
}
