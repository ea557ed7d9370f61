import type { Command } from 'commander';
import { type WorkspaceOptions, jsonOption, withWorkspaceOptions } from '../shared/options.js';

export function addTest(program: Command): void {
  withWorkspaceOptions(program.command('test'))
    .description('Fire recorded events, and compare what the hooks say with what is expected')
    .argument('[path...]', '*.hooktest.json files, or directories with some; default the project')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Exit codes: 0 all as expected; 1 not all; 2 wrong usage or settings, or no file found

Example:
  $ hookstack test .llxprt/hooks --trust`,
    )
    .action(async (paths: string[], options: WorkspaceOptions) => {
      const { test } = await import('./test.js');
      process.exitCode = await test(paths, options);
    });
}
