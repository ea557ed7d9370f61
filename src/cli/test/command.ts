import type { Command } from 'commander';
import type { TestOptions } from '../test.js';
import { withWorkspaceOptions } from './options.js';

export function addTest(program: Command): void {
  withWorkspaceOptions(program.command('test'))
    .description('Fire recorded events, and compare what the hooks say with what is expected')
    .argument('[path...]', '*.hooktest.json files, or directories with some; default the project')
    .option('--json', 'write one JSON object')
    .addHelpText(
      'after',
      `
Exit codes: 0 all as expected; 1 not all; 2 wrong usage or settings, or no file found

Example:
  $ hookstack test .llxprt/hooks --trust`,
    )
    .action(async (paths: string[], options: TestOptions) => {
      const { test } = await import('../test.js');
      process.exitCode = await test(paths, options);
    });
}
