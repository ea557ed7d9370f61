import type { Command } from 'commander';
import { jsonOption, withWorkspaceOptions } from '../shared/options.js';
import type { ExplainOptions } from './explain.js';

export function addExplain(program: Command): void {
  withWorkspaceOptions(program.command('explain'))
    .description('Say which hooks an event would run, and why not the others; starts nothing')
    .argument('<event>', 'such as BeforeTool')
    .option('--tool <name>', 'the tool of BeforeTool and AfterTool')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Exit codes: 0 explained; 2 wrong usage or settings

Example:
  $ hookstack explain BeforeTool --tool write_file`,
    )
    .action(async (event: string, options: ExplainOptions) => {
      const { explain } = await import('./explain.js');
      await explain(event, options);
    });
}
