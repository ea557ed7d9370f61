import type { Command } from 'commander';
import { type WorkspaceOptions, jsonOption, withWorkspaceOptions } from '../shared/options.js';

export function addStack(program: Command): void {
  withWorkspaceOptions(program.command('stack'))
    .description('Show what each call passes through, from the outside in')
    .argument('[stack]', 'tool, model or hook; default all three')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Imports the middleware of extensions, except for those of a project that is not trusted.

Exit codes: 0 shown; 2 wrong usage or settings

Example:
  $ hookstack stack tool`,
    )
    .action(async (name: string | undefined, options: WorkspaceOptions) => {
      const { stack } = await import('./stack.js');
      await stack(name, options);
    });
}
