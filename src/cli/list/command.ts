import { Option, type Command } from 'commander';
import type { ListOptions } from '../list.js';
import { withWorkspaceOptions } from './options.js';

export function addList(program: Command): void {
  withWorkspaceOptions(program.command('list'))
    .description('List the configured hooks, and why some of them do not run')
    .addOption(
      new Option('--trace <file>', 'tell how often each hook has run, by this trace').env(
        'HOOKSTACK_TRACE',
      ),
    )
    .option('--json', 'write one JSON object')
    .addHelpText(
      'after',
      `
Exit codes: 0 listed; 2 wrong usage or settings

Example:
  $ hookstack list --trust`,
    )
    .action(async (options: ListOptions) => {
      const { list } = await import('../list.js');
      await list(options);
    });
}
