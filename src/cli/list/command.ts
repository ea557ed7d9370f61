import type { Command } from 'commander';
import { jsonOption, traceOption, withWorkspaceOptions } from '../shared/options.js';
import type { ListOptions } from './list.js';

export function addList(program: Command): void {
  withWorkspaceOptions(program.command('list'))
    .description('List the configured hooks, and why some of them do not run')
    .addOption(traceOption('tell how often each hook has run, by this trace'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Exit codes: 0 listed; 2 wrong usage or settings

Example:
  $ hookstack list --trust`,
    )
    .action(async (options: ListOptions) => {
      const { list } = await import('./list.js');
      await list(options);
    });
}
